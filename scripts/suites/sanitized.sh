# The sanitizers of addresses and undefined behaviour: on the unit tests, and on the extension in a
# server. Whatever they find aborts the process, and so fails a test.

# How many calls the random driver makes on the sanitized server, which is slow.
random_calls_sanitized=4000

# A private installation of its own is the sanitized one, so that other suites can run beside this one.
sanitized_suite() {
    say "Running the unit tests under the sanitizers"
    build_tests sanitized -DSANITIZE=ON -DINTEGRATION=OFF
    run_unit_tests sanitized "$simulated_ids_sanitized" ${slow_units_when_sanitized:+-E "$slow_units_when_sanitized"}
    say "Running server tests under the sanitizers"
    run_sanitized_server_tests
}

# Runs server tests with the extension sanitized, but not the server.
run_sanitized_server_tests() {
    use_private_installation
    install_variant sanitized-server -fsanitize=address,undefined -fno-sanitize-recover=all
    sanitize_server
    # shellcheck disable=SC2086 # a list of tests
    run_server_tests sanitized- ${slow_when_sanitized:-}
    grep -E -A 20 'ERROR: AddressSanitizer|runtime error:' "$workspace/server.log" || true
    SNOWFLAKE_CALLS=$random_calls_sanitized run_integration_tests 'BadInput.*'
}

# Options of the sanitizer of addresses. It reports no leaks, since the server's processes leave memory to their end. It
# does not note where memory was allocated, and keeps little of it back once it is freed: both take most of its time.
address_options=abort_on_error=1:detect_leaks=0:malloc_context_size=0:max_malloc_fill_size=0:quarantine_size_mb=16

# Makes the server of the private installation load the sanitizer's run-time library before all others,
# because the extension must find it loaded. The library must also be the first to be initialised. Else
# libgpg-error initialises it, by calling bindtextdomain, and holds the lock that the sanitizer's dlerror
# then waits for.
sanitize_server() {
    local bindir
    bindir=$("$PG_CONFIG" --bindir)
    echo 'static __attribute__((constructor)) void initialise() { delete new int; }' >"$workspace/first.cpp"
    g++ -O0 -shared -fPIC -Wl,-z,initfirst "$workspace/first.cpp" -o "$workspace/first.so"
    mv "$bindir/postgres" "$bindir/postgres.plain"
    cat >"$bindir/postgres" <<END
#!/bin/sh
export LD_PRELOAD="$(readlink -f "$(g++ -print-file-name=libasan.so)") $workspace/first.so"
export ASAN_OPTIONS=$address_options UBSAN_OPTIONS=abort_on_error=1
exec "$bindir/postgres.plain" "\$@"
END
    chmod 755 "$bindir/postgres"
}
