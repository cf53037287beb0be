# Sourced by run: the works that pgbench runs and that no disk holds up.

# Runs pgbench with these arguments, and prints what it reports.
report_of_pgbench() {
    local output
    output=$(pgbench "$@" 2>&1) || die "pgbench: $output"
    echo "$output"
}

# Runs pgbench with these arguments for $seconds, and prints how many transactions it made a second.
tps() {
    report_of_pgbench -T "$seconds" "$@" | tps_of
}

# Reads what pgbench reports, and prints the transactions a second.
tps_of() {
    sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}

measure_sessions() {
    local n
    script sessions.sql
    for n in ${sessions//,/ }; do
        in_turn "sessions $n" -- tps -n -c "$n" -j "$n" -f -
    done
}

measure_transactions() {
    script transaction.sql
    in_turn transaction -- tps -n -f -
}

measure_beside() {
    script beside.sql
    in_turn 'inserts beside' 'queries beside' -- run_beside
}

# Prints how many rows a second are inserted, and how many queries a second read meanwhile. Standard
# input is the name of the candidate, whose tables both use.
run_beside() {
    local name inserts queries
    name=$(cat)
    cat >"$workspace/insert" <<SQL
INSERT INTO bench."beside $name" (n) VALUES (0);
SQL
    cat >"$workspace/read" <<SQL
\set place random(1, least(1000, $rows))
SELECT n FROM bench."beside $name"
    WHERE id >= (SELECT id FROM bench."known $name" WHERE place = :place) ORDER BY id LIMIT 10;
SQL
    tps -n -M prepared -c 2 -f "$workspace/insert" >"$workspace/inserts" &
    inserts=$!
    queries=$(tps -n -M prepared -c 2 -f "$workspace/read")
    wait $inserts
    echo "$(cat "$workspace/inserts") $queries"
}

measure_tpcb() {
    script tpcb.sql
    pgbench -i -q -s 10 >/dev/null 2>&1
    in_turn tpcb -- run_tpcb
}

# Measures TPC-B. Standard input defines the key column of pgbench_history, which is made anew for
# each candidate; pgbench itself vacuums the other tables.
run_tpcb() {
    sql <<SQL
DROP TABLE pgbench_history;
CREATE TABLE pgbench_history (
    tid integer, bid integer, aid integer, delta integer, mtime timestamp, filler char(22), $(cat)
);
SQL
    tps -c 4 -j 2
}
