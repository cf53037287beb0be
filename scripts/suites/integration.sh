# The tests in test/integration, which start, kill, copy and join servers themselves.
# The extension must be in the private installation.

install_integration_packages() {
    install_packages libpqxx-dev libfaketime gdb
    # The package of libpq 19rc1 lacks this dependency.
    ! on_debian || pkg-config --exists libpqxx || install_packages libcurl4-openssl-dev
    install_pgbouncer
    install_partitioning_packages
    install_pglogical ||
        echo "There is no package of pglogical for PostgreSQL $(major_version) here: its tests will be skipped."
}

# Installs the extensions that docs/partitions.md uses.
install_partitioning_packages() {
    local name
    for name in partman cron; do
        if is_packaged "postgresql-$(major_version)-$name"; then
            install_packages "postgresql-$(major_version)-$name"
        else
            echo "There is no package of $name for PostgreSQL $(major_version) here: a test will be skipped."
        fi
    done
}

# Installs pgbouncer. Its package would start a pooler, now and whenever the system starts, so services
# are kept from starting while it is installed; a subshell, so that this ends however the installation
# ends.
install_pgbouncer() {
    on_debian && [ ! -x /usr/sbin/pgbouncer ] || return 0
    update_package_lists
    (
        policy=/usr/sbin/policy-rc.d
        if [ ! -e "$policy" ]; then
            trap 'as_root rm -f "$policy"' EXIT
            printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
            as_root chmod 755 "$policy"
        fi
        install_packages pgbouncer
    )
    ! command -v systemctl >/dev/null || as_root systemctl disable -q pgbouncer || true
}

integration_suite() {
    install_older_postgresql
    say "Running the integration tests"
    if [ "$(id -u)" = 0 ] && as_server_user test -r "$checkout/Makefile"; then
        skip "tests from a checkout that only root can read" "others can read it, and root can mount nothing over it"
    fi
    run_integration_tests
}

# Runs the integration tests, or some of them: run_integration_tests [FILTER]
# Each test has servers of its own, so each processor runs one at a time, and one more while others wait. Some take a minute, so
# there are more shares of them than processors.
# The program is copied to where the server's user can read it, with the files that it looks for beside
# itself. It runs with settings of a client that make every connection fail which obeys them.
run_integration_tests() {
    local status=0 name reason shares program=$workspace/integration data
    data=$(directory_for_data)
    shares=$((8 * $(nproc)))
    mkdir -p "$program"
    cp -rL "$checkout"/build/test/integration/{integration_tests,liblate_caller.so,docs} "$program"
    chmod -R a+rX "$program"
    seq 0 $((shares - 1)) |
        logged "$workspace/integration.log" '^\[  (     OK|FAILED)|Failure|SEED| IDs$' \
        as_server_user env "${hostile_settings[@]}" TMPDIR="$data" PG_CONFIG="$PG_CONFIG" \
        SNOWFLAKE_ROUNDS="${SNOWFLAKE_ROUNDS:-$rounds}" SNOWFLAKE_HOSTILE_ROUNDS="${SNOWFLAKE_HOSTILE_ROUNDS:-$hostile_rounds}" \
        SNOWFLAKE_CALLS="${SNOWFLAKE_CALLS:-$random_calls}" GTEST_TOTAL_SHARDS="$shares" \
        xargs -P "$(($(nproc) + 1))" -I '{}' env GTEST_SHARD_INDEX='{}' \
        "$program/integration_tests" ${1:+"--gtest_filter=$1"} || status=$?
    while IFS=$'\t' read -r name reason; do
        skip "$name" "$reason"
    done < <(awk '/: Skipped$/ { getline reason }
        /^\[  SKIPPED \] .* ms\)$/ { print $4 "\t" reason }' "$workspace/integration.log")
    [ "$status" = 0 ] || tail -n 200 "$workspace/integration.log"
    count "integration tests" "$status" "$workspace/integration.log" '^\[       OK \]' \
        '^\[  FAILED  \] .* ms\)$'
}
