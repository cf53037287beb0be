# Sourced by run: the join, cold (nothing is in memory) and warm (it has run before).

# Restarts the server, so that its memory is empty, and lets the operating system forget the server's
# files.
go_cold() {
    as_server_user pg_ctl -D "$workspace/data" -l "$workspace/server.log" -m fast -w -t 600 -s \
        restart
    as_server_user find "$workspace/data/base" -type f -size +64k -exec sync {} + \
        -exec dd if={} iflag=nocache count=0 status=none \;
}

# Measures the first run in a session, which is cold, and the third, which is warm.
measure_join() {
    local round name
    script join.sql
    for ((round = 1; round <= rounds; round++)); do
        echo "   join: round $round of $rounds"
        sql -At -v round="$round" >"$workspace/turns" \
            <<<"SELECT name FROM bench.turns('join cold', :round)"
        while read -r -u 3 name; do
            go_cold
            sql -v name="$name" -v round="$round" >/dev/null <<'SQL'
SELECT query FROM bench.candidate WHERE work = 'join cold' AND name = :'name' \gset
SELECT bench.milliseconds(:'query') AS cold \gset
SELECT bench.milliseconds(:'query') \g
SELECT bench.milliseconds(:'query') AS warm \gset
INSERT INTO bench.sample VALUES
    ('join cold', :'name', :round, :cold), ('join warm', :'name', :round, :warm);
SQL
        done 3<"$workspace/turns"
    done
}
