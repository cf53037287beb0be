# The tests that need one running server: regression (sql/), isolation (specs/) and the examples.
# The extension must be in the private installation.

server_suite() {
    say "Running the regression and isolation tests"
    run_server_tests ""
}

example_suite() {
    say "Running the examples"
    check "client_ids makes IDs that do not collide" example_makes_ids
    check "outbox reads every row once" example_reads_outbox
}

# Runs the regression and isolation tests on a fresh server: run_server_tests PREFIX-OF-THEIR-NAMES [TEST-LEFT-OUT...]
run_server_tests() {
    local file test regression=() isolation=()
    for file in "$checkout"/sql/*.sql "$checkout"/specs/*.spec; do
        test=$(basename "${file%.*}")
        [[ " ${*:2} " != *" $test "* ]] || continue
        case $file in
        *.sql) regression+=("$test") ;;
        *.spec) isolation+=("$test") ;;
        esac
    done
    rm -rf "$workspace/data"
    start_server -c snowflake.node=1
    run_installcheck "$1regression" ISOLATION= REGRESS="${regression[*]}"
    run_installcheck "$1isolation" REGRESS= ISOLATION="${isolation[*]}"
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

# Compile a program of examples/ with the installed headers, and run it on a fresh server.
example_makes_ids() {
    example_runs client_ids -c 'SELECT snowflake.reserve_nodes(900, 909)'
}
example_reads_outbox() {
    example_runs outbox
}

# example_runs NAME PSQL-ARGUMENT...
example_runs() {
    local name=$1 headers status=0
    shift
    headers=$("$PG_CONFIG" --includedir-server)/extension/snowflake
    rm -rf "$workspace/data"
    start_server -c snowflake.node=1
    g++ -std=c++20 -Wall -Wextra -Werror -I "$headers" "$checkout/examples/$name.cpp" \
        -o "$workspace/$name" -lpqxx -lpq -pthread &&
        psql -X -q -c 'CREATE EXTENSION snowflake' "$@" >/dev/null &&
        "$workspace/$name" || status=$?
    stop_server
    return "$status"
}
