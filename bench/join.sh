# Sourced by run: the join, cold (nothing is in memory) and warm (it has run before).

# Restarts the server, so that its memory is empty, and lets the operating system forget the server's
# files.
go_cold() {
    as_server_user pg_ctl -D "$workspace/data" -l "$workspace/server.log" -m fast -w -t 600 -s \
        restart
    as_server_user find "$workspace/data/base" -type f -size +64k -exec sync {} + \
        -exec dd if={} iflag=nocache count=0 status=none \;
}

measure_join() {
    script join.sql
    in_turn 'join cold' 'join warm' -- run_join
}

# Prints how many ms the first run in a session takes, which is cold, and the third, which is warm.
run_join() {
    local query
    query=$(cat)
    go_cold
    sql -At -v query="$query" <<'SQL'
SELECT bench.milliseconds(:'query') AS cold \gset
SELECT bench.milliseconds(:'query') AS warming_up \gset
SELECT bench.milliseconds(:'query') AS warm \gset
\echo :cold :warm
SQL
}
