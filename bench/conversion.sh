# Sourced by run: a conversion of four tables, without a long lock and with a lock, beside clients that use them.
#
# Eight clients read and write all tables in short transactions, by prepared statements, a function and COPY. One client
# more has transactions that last five seconds (--seconds times 2.5), one after the other. fsync is on.

measure_conversion() {
    local way
    restart_benchmark_server -c fsync=on -c autovacuum=on -c log_line_prefix="'%n %e %a '"
    script fill.sql conversion.sql
    mkdir "$workspace/clients"
    chmod 777 "$workspace/clients"
    write_client_scripts
    : >"$workspace/server.log"
    for way in online lock; do
        script conversion_tables.sql
        start_clients "$way"
        sleep "$((3 * seconds))" # until they are at their usual speed
        run_stage "$way" 0 "SELECT pg_sleep($((5 * seconds)))"
        run_conversion "$way"
        stop_clients
    done
    keep_transactions
    keep_errors
    sql -f "$bench/conversion_report.sql"
    restart_benchmark_server
}

write_client_scripts() {
    printf '1,%s\n' $(seq 20) >"$workspace/clients/rows.csv"
    cat >"$workspace/clients/change.sql" <<SQL
\set id random(2, $rows)
BEGIN;
UPDATE customers SET balance = balance + 1 WHERE id = :id;
INSERT INTO orders (customer_id, amount) VALUES (:id, 1);
INSERT INTO visits (customer_id, page) VALUES (:id, 'front');
UPDATE notes SET body = 'changed' WHERE id = :id;
COMMIT;
\sleep 10 ms
SQL
    cat >"$workspace/clients/read.sql" <<SQL
\set id random(2, $rows)
SELECT c.name, o.amount, v.page, n.body
    FROM customers c JOIN orders o ON o.customer_id = c.id JOIN visits v ON v.customer_id = c.id
    JOIN notes n ON n.customer_id = c.id WHERE c.id = :id;
\sleep 10 ms
SQL
    cat >"$workspace/clients/call.sql" <<SQL
\set id random(2, $rows)
SELECT pay(:id, 5);
\sleep 10 ms
SQL
    cat >"$workspace/clients/copy.sql" <<SQL
COPY notes (customer_id, body) FROM '$workspace/clients/rows.csv' (FORMAT csv);
\sleep 10 ms
SQL
    cat >"$workspace/clients/long.sql" <<SQL
BEGIN;
UPDATE customers SET balance = balance + 1 WHERE id = 1;
SELECT count(*) FROM orders WHERE customer_id = 1;
SELECT count(*) FROM visits WHERE customer_id = 1;
SELECT count(*) FROM notes WHERE customer_id = 1;
SELECT pg_sleep($seconds * 2.5);
COMMIT;
SQL
}

# Starts the clients, for a way to convert. A client that an error has ended starts again.
start_clients() {
    local n directory=$workspace/clients
    rm -f "$directory/stop"
    clients=()
    for n in 1 2 3 4 5 6 7 8; do
        keep_going "short$1$n" -M prepared -f "$directory/change.sql@4" -f "$directory/read.sql@4" \
            -f "$directory/call.sql@2" -f "$directory/copy.sql@1" &
        clients+=($!)
    done
    keep_going "long$1" -f "$directory/long.sql" &
    clients+=($!)
}

# Runs pgbench again and again, as the client of a name: keep_going NAME ARGUMENT...
keep_going() {
    local n=0
    while [ ! -e "$workspace/clients/stop" ]; do
        n=$((n + 1))
        (
            cd "$workspace/clients"
            PGAPPNAME=client exec pgbench -n -T "$((seconds + 1))" --log --log-prefix="$1.$n" "${@:2}"
        ) >/dev/null 2>&1 || true
    done
}

stop_clients() {
    touch "$workspace/clients/stop"
    wait "${clients[@]}"
}

# Runs a command of the conversion, and keeps when and how it ended: run_stage WAY POSITION COMMAND
run_stage() {
    local started ended wal outcome=done
    wal=$(sql -At -c 'SELECT pg_current_wal_insert_lsn()')
    started=$(date +%s.%N)
    PGAPPNAME=conversion sql -o /dev/null -c "$3" 2>"$workspace/outcome" || outcome=$(cat "$workspace/outcome")
    ended=$(date +%s.%N)
    echo "   $3: $(head -c 2000 <<<"$outcome")"
    sql -v way="$1" -v position="$2" -v command="$3" -v started="$started" -v ended="$ended" -v outcome="$outcome" -v wal="$wal" <<'SQL'
INSERT INTO bench.stage
    SELECT :'way', :position, :'command', :started, :ended, :'outcome', :'wal', pg_current_wal_insert_lsn(),
           sum(pg_total_relation_size(t::regclass)) FROM unnest('{customers,orders,visits,notes}'::text[]) t;
SQL
    [ "$outcome" = done ]
}

run_conversion() {
    local command position=0
    case $1 in
    online) sql -At -o "$workspace/plan" \
        -c "SELECT command FROM snowflake.conversion_plan('customers_id_seq', online => true) WHERE command IS NOT NULL" ;;
    lock) echo "SELECT snowflake.convert_sequence_to_snowflake('customers_id_seq')" >"$workspace/plan" ;;
    esac
    while read -r -u 3 command; do
        position=$((position + 1))
        run_stage "$1" "$position" "$command" || return 0
    done 3<"$workspace/plan"
}

# The transactions of the client that has long ones wait for nobody but themselves, and do not count.
keep_transactions() {
    cat "$workspace"/clients/short*.[0-9]* |
        awk '$3 ~ /^[0-9]+$/ { printf "%.6f\t%.3f\n", $5 + $6 / 1e6, $3 / 1000 }' |
        sql -c 'COPY bench.transaction FROM STDIN'
}

# The server's log begins each line with the time, the SQLSTATE and the program.
keep_errors() {
    { grep -E '^[0-9.]+ [0-9A-Z]{5} client (ERROR|FATAL)' "$workspace/server.log" || true; } | awk '{ print $1 "\t" $2 }' |
        sql -c 'COPY bench.error FROM STDIN'
}
