# Sourced by run: the works in which a commit waits for the disk. All others run with fsync off.

# Under these settings sessions alone flush WAL, and the server counts it: the WAL writer sleeps, and
# the background writer logs no snapshots for standbys. Writes to files opened for that are not counted.
quiet=(-c wal_writer_delay=10s -c wal_level=minimal -c max_wal_senders=0 -c wal_sync_method=fdatasync)

measure_durable() {
    script durable.sql
    restart_durably "${quiet[@]}"
    in_turn connect 'connect flushes' -- run_connections
    rounds=$((rounds < 5 ? 1 : 3)) in_turn pause -- run_with_pauses
    restart_durably
    rounds=$((2 * rounds)) in_turn 'latency 50' 'latency 99' 'latency 99.9' -- run_latency
    start_standby
    in_turn standby -- tps -n -c 8 -j 2 -f -
    stop_standby
    restart_benchmark_server
}

# Restarts the server with fsync on. What was written without it goes to the disk first, so that it
# does not go there meanwhile.
restart_durably() {
    restart_benchmark_server -c fsync=on "$@"
    sync
}

# Prints how many rows a second are inserted, each by a connection of its own, and how many flushes a
# row takes.
run_connections() {
    local before output
    before=$(flushes)
    output=$(report_of_pgbench -n -C -T "$seconds" -f -)
    echo "$(tps_of <<<"$output") $(flushes_a_row "$before" <<<"$output")"
}

# Prints how many flushes a row takes if the session waits for 1.5 s before each.
run_with_pauses() {
    local before
    before=$(flushes)
    { echo '\sleep 1500 ms' && cat; } >"$workspace/pause.sql"
    report_of_pgbench -n -t "$((2 * seconds))" -f "$workspace/pause.sql" | flushes_a_row "$before"
}

# Reads what pgbench reports, and prints how many flushes a transaction took: flushes_a_row BEFORE
flushes_a_row() {
    local rows after
    rows=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p')
    after=$(flushes)
    awk -v flushes="$((after - $1))" -v rows="$rows" 'BEGIN { print flushes / rows }'
}

# Prints how often WAL was flushed so far. A session reports its flushes by its end at the latest, and
# goes on doing so for a moment after its client has gone.
flushes() {
    wait_until 'no other session is left' "SELECT count(*) = 1 FROM pg_stat_activity
                                           WHERE backend_type = 'client backend'"
    if [ "$(major_version)" -ge 18 ]; then
        sql -At -c "SELECT sum(fsyncs) FROM pg_stat_io
                    WHERE object = 'wal' AND backend_type = 'client backend'"
    else
        sql -At -c 'SELECT wal_sync FROM pg_stat_wal'
    fi
}

# Prints of all transactions of 8 clients how many ms half of them, 99 of 100, and 999 of 1000 take at
# most.
run_latency() {
    local log=$workspace/latency
    report_of_pgbench -n -c 8 -j 2 -T "$seconds" -f - -l --log-prefix="$log" >/dev/null
    cut -d ' ' -f 3 "$log".* | sort -n | awk '
        { us[NR] = $1 }
        function within(share) { return us[int(share * NR + 0.999999)] / 1000 }
        END { print within(0.5), within(0.99), within(0.999) }'
    rm "$log".*
}

# Starts a standby for which commits wait.
start_standby() {
    local standby=$workspace/standby
    say "Starting a synchronous standby in $standby"
    as_server_user mkdir "$standby"
    as_server_user pg_basebackup -D "$standby/data" -R -c fast --no-sync
    launch_server_in "$standby" "${benchmark_options[@]}" -c shared_buffers=128MB -c fsync=on
    sync
    sql -c "ALTER SYSTEM SET synchronous_standby_names = '*'" -c 'SELECT pg_reload_conf()' >/dev/null
    wait_until 'the standby is synchronous' "SELECT count(*) = 1 FROM pg_stat_replication
                                             WHERE sync_state = 'sync'"
}

stop_standby() {
    sql -c 'ALTER SYSTEM RESET synchronous_standby_names' -c 'SELECT pg_reload_conf()' >/dev/null
    stop_server "$workspace/standby"
    rm -r "$workspace/standby"
}

# Waits until a query is true: wait_until WHAT QUERY
wait_until() {
    local deadline=$((SECONDS + 600))
    until [ "$(sql -At -c "$2")" = t ]; do
        [ "$SECONDS" -lt "$deadline" ] || die "this did not become true: $1"
        sleep 0.02
    done
}
