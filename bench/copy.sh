# Sourced by run: COPY, with IDs that the table's default makes, and with IDs in the file.

measure_copy() {
    script copy.sql
    seq "$rows" >"$workspace/rows"
    in_turn copy 'copy wal' -- run_copy
    rm "$workspace/rows"
}

# Prints how many rows a second the COPY on standard input loads, and how many MB of WAL it writes.
# The time is what a client sees, and includes making the IDs.
run_copy() {
    local command table before
    command=$(cat)
    table=${command#COPY }
    table=${table% (*}
    sql -c "TRUNCATE $table" -c CHECKPOINT
    before=$(sql -At -c "SELECT pg_current_wal_insert_lsn(), clock_timestamp()")
    rows_for "$command" | sql -c "$command"
    sql -At -F ' ' -v before="$before" -v rows="$rows" <<'SQL'
SELECT :rows / extract(epoch FROM clock_timestamp() - split_part(:'before', '|', 2)::timestamptz),
       (pg_current_wal_insert_lsn() - split_part(:'before', '|', 1)::pg_lsn) / 1e6;
SQL
}

# Prints the rows that a COPY loads: with IDs from the server if it is to load these too.
rows_for() {
    case $1 in
    *'(id, n)'*)
        sql -c "COPY (SELECT * FROM snowflake.nextvals('bench.snowflake_1', $rows)) TO STDOUT" |
            paste - "$workspace/rows"
        ;;
    *) cat "$workspace/rows" ;;
    esac
}
