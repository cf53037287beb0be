# Sourced by run: COPY of rows without IDs.

measure_copy() {
    script copy.sql
    seq "$rows" >"$workspace/rows"
    in_turn copy 'copy wal' -- run_copy
    in_turn 'copy unindexed' 'copy unindexed wal' -- run_copy
    rm "$workspace/rows"
}

# Prints how many rows a second the COPY on standard input loads, and how many MB of WAL it writes.
# The time is what a client sees.
run_copy() {
    local command table before
    command=$(cat)
    table=${command#COPY }
    table=${table% (*}
    sql -c "TRUNCATE $table" -c CHECKPOINT
    before=$(sql -At -c "SELECT pg_current_wal_insert_lsn(), clock_timestamp()")
    sql -c "$command" <"$workspace/rows"
    sql -At -F ' ' -v before="$before" -v rows="$rows" <<'SQL'
SELECT :rows / extract(epoch FROM clock_timestamp() - split_part(:'before', '|', 2)::timestamptz),
       (pg_current_wal_insert_lsn() - split_part(:'before', '|', 1)::pg_lsn) / 1e6;
SQL
}
