# The tests that need one running server: regression (sql/), isolation (specs/) and the example.
# The extension must be in the private installation.

server_suite() {
    say "Running the regression and isolation tests"
    run_server_tests ""
}

example_suite() {
    say "Running the example"
    check "client_ids makes IDs that do not collide" example_makes_ids
}

# Runs the regression and isolation tests on a fresh server: run_server_tests PREFIX-OF-THEIR-NAMES
run_server_tests() {
    rm -rf "$workspace/data"
    start_server -c snowflake.node=1
    run_installcheck "$1regression" ISOLATION=
    run_installcheck "$1isolation" REGRESS=
    stop_server
}

# Runs one kind of what PGXS calls installcheck: run_installcheck NAME MAKE-ARGUMENT...
run_installcheck() {
    local name=$1 output=$workspace/$1 status=0
    shift
    mkdir -p "$output"
    # The two variables, of which each version of PostgreSQL reads one, say how many seconds a step of an
    # isolation test may take: long, so that none fails on a slow machine.
    # The patterns match lines whose form changed in PostgreSQL 16.
    logged "$workspace/$name.log" '^(test|ok|not ok) ' \
        env PGISOLATIONTIMEOUT=3600 PG_TEST_TIMEOUT_DEFAULT=1800 \
        make -s -C "$checkout" PG_CONFIG="$PG_CONFIG" installcheck \
        REGRESS_OPTS="--load-extension=snowflake --inputdir=$checkout --outputdir=$output" \
        ISOLATION_OPTS="--load-extension=snowflake --inputdir=$checkout --outputdir=$output" \
        "$@" || status=$?
    [ ! -s "$output/regression.diffs" ] || cat "$output/regression.diffs"
    count "$name tests" "$status" "$workspace/$name.log" '^(test .* ok |ok [0-9])' \
        '^(test .* FAILED|not ok [0-9])'
}

# Compiles examples/ with the installed headers, and runs it on a fresh server.
example_makes_ids() {
    local headers status=0
    headers=$("$PG_CONFIG" --includedir-server)/extension/snowflake
    rm -rf "$workspace/data"
    start_server -c snowflake.node=1
    g++ -std=c++20 -Wall -Wextra -Werror -I "$headers" "$checkout/examples/client_ids.cpp" \
        -o "$workspace/client_ids" -lpqxx -lpq -pthread &&
        psql -X -q -c 'CREATE EXTENSION snowflake' -c 'SELECT snowflake.reserve_nodes(900, 909)' \
            >/dev/null &&
        "$workspace/client_ids" || status=$?
    stop_server
    return "$status"
}
