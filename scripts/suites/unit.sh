# The tests in test/unit: src/pure/, on simulated clusters too, without PostgreSQL.

unit_suite() {
    say "Running the unit tests"
    run_unit_tests test "$simulated_ids"
}

# Runs the unit tests of one build: run_unit_tests DIRECTORY-IN-BUILD SIMULATED-IDS [OPTION-OF-CTEST...]
run_unit_tests() {
    local status=0
    logged "$workspace/$1.log" 'Passed|\*\*\*|Failure|SEED' \
        as_builder env SNOWFLAKE_SIMULATED_IDS="$2" ctest --test-dir "$checkout/build/$1/unit" \
        --output-on-failure -j "$(nproc)" "${@:3}" || status=$?
    count "unit tests ($1)" "$status" "$workspace/$1.log" ' Passed +[0-9.]+ sec' \
        '\*\*\*(Failed|Timeout|Exception|Not Run)'
}
