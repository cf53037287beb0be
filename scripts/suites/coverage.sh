# Which lines of src/ the tests of behaviour reach.

# Runs the unit, regression, isolation and integration tests on instrumented code, and then lists the
# lines that none of them has reached. A server that is killed does not report what it has run, so some
# lines count as missed that were reached.
coverage_suite() {
    build_tests instrumented '-DCMAKE_CXX_FLAGS=--coverage -fprofile-update=atomic' \
        -DCMAKE_BUILD_TYPE=Debug -DINTEGRATION=OFF
    say "Running the unit tests"
    run_unit_tests instrumented "$simulated_ids_sanitized"
    install_privately
    install_variant coverage --coverage -fprofile-update=atomic -O0
    server_suite
    say "Running the integration tests"
    run_integration_tests

    say "Coverage"
    count_lines "$workspace/coverage" server
    count_lines "$checkout" unit
    gcovr --root "$checkout" -a "$workspace/server.json" -a "$workspace/unit.json"
}

# Writes how often each line has run: count_lines DIRECTORY NAME-OF-THE-RESULT
# The directory is the one that the sources were compiled in, since gcov looks for them from there.
# Branches that an error leaves by longjmp get negative counts, which gcovr is told to ignore.
count_lines() {
    (cd "$1" && gcovr --filter src/ --gcov-ignore-parse-errors --json "$workspace/$2.json" .) \
        2>"$workspace/gcovr.log" ||
        { tail -n 20 "$workspace/gcovr.log"; return 1; }
}
