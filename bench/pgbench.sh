# Sourced by run: the works that pgbench runs.

# Runs pgbench with these arguments for $seconds, and prints how many transactions it made a second.
tps() {
    local output
    output=$(pgbench -T "$seconds" "$@" 2>&1) || die "pgbench: $output"
    sed -n 's/^tps = \([0-9.]*\).*/\1/p' <<<"$output"
}

# Measures all candidates of a work, one after the other, in each round: in_turn WORK COMMAND...
# The command reads the candidate's query from standard input, and prints transactions a second.
in_turn() {
    local work=$1 round name query figure
    shift
    for ((round = 1; round <= rounds; round++)); do
        echo "   $work: round $round of $rounds"
        sql -At -F $'\t' -v work="$work" -v round="$round" >"$workspace/turns" \
            <<<"SELECT name, query FROM bench.turns(:'work', :round)"
        while IFS=$'\t' read -r -u 3 name query; do
            figure=$("$@" <<<"$query")
            sql -v work="$work" -v name="$name" -v round="$round" -v figure="$figure" <<'SQL'
INSERT INTO bench.sample
    SELECT work, name, :round, :figure * scale FROM bench.candidate
    WHERE work = :'work' AND name = :'name';
SQL
        done 3<"$workspace/turns"
    done
}

measure_sessions() {
    local n
    script sessions.sql
    for n in ${sessions//,/ }; do
        in_turn "sessions $n" tps -n -c "$n" -j "$n" -f -
    done
}

measure_transactions() {
    script transaction.sql
    in_turn transaction tps -n -f -
}

measure_tpcb() {
    script tpcb.sql
    pgbench -i -q -s 10 >/dev/null 2>&1
    in_turn tpcb run_tpcb
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
