# Sourced by run: pgEdge's extension, of which PEER names a checkout.
#
# It has the name of this one, so it is installed in another copy of PostgreSQL, and measured in a server of its own by
# the same scripts, each beside the server's nextval there. The checkout is copied, built and called, and nothing else.

measure_pgedge() {
    (
        workspace=$workspace/pgedge peers=() preparations=()
        mkdir "$workspace"
        [ "$(id -u)" != 0 ] || chown postgres: "$workspace"
        install_pgedge
        start_benchmark_server
        prepare
        sql -c "DELETE FROM bench.generator WHERE name NOT IN ('nextval', 'snowflake')"
        work generate "Making IDs in one session" script generate.sql sum.sql wal.sql
        work sessions "Making IDs in several sessions" measure_sessions
        work transaction "An ID as a whole transaction" measure_transactions
        work insert "Inserting many rows at once" script insert.sql
        work single "Inserting rows one by one" script single.sql
        work copy "Loading rows by COPY" measure_copy
        work beside "Reading beside inserts" measure_beside
        work tpcb "TPC-B" measure_tpcb
        work durable "Inserting rows that wait for the disk" measure_durable
    )
    PGHOST=$workspace/pgedge sql -c "COPY (
        SELECT work, CASE candidate WHEN 'snowflake' THEN 'pgEdge' ELSE candidate || ', beside pgEdge' END, round, value
            FROM bench.sample) TO STDOUT" >"$workspace/pgedge.samples"
    sql -c 'COPY bench.sample FROM STDIN' <"$workspace/pgedge.samples"
    stop_server "$workspace/pgedge"
}

install_pgedge() {
    say "Building the extension of $PEER"
    PG_CONFIG=$(copy_postgresql "$system_pg_config")
    export PG_CONFIG PATH=${PG_CONFIG%/*}:$PATH
    cp -a "$PEER" "$workspace/checkout"
    quietly make -s -C "$workspace/checkout" USE_PGXS=1 with_llvm=no PG_CONFIG="$PG_CONFIG" install
}
