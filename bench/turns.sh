# Sourced by run: how the candidates of works that the shell drives take turns.

# Measures all candidates, one after the other, in each round: in_turn WORK... -- COMMAND...
# The candidates are those of the first work. The command reads the query of one from standard input,
# and prints a figure for each of the works.
in_turn() {
    local works=() round name query figures
    while [ "$1" != -- ]; do
        works+=("$1")
        shift
    done
    shift
    for ((round = 1; round <= rounds; round++)); do
        echo "   ${works[0]}: round $round of $rounds"
        sql -At -F $'\t' -v work="${works[0]}" -v round="$round" >"$workspace/turns" \
            <<<"SELECT name, replace(query, E'\\n', ' ') FROM bench.turns(:'work', :round)"
        while IFS=$'\t' read -r -u 3 name query; do
            figures=$("$@" <<<"$query")
            keep_figures "$name" "$round" "$figures" "${works[@]}"
        done 3<"$workspace/turns"
    done
}

# Keeps what a candidate has reached in a round: keep_figures CANDIDATE ROUND 'FIGURE...' WORK...
keep_figures() {
    sql -v name="$1" -v round="$2" -v figures="$3" -v works="$(printf '%s\n' "${@:4}")" <<'SQL'
INSERT INTO bench.sample
    SELECT work, :'name', :round, figure * coalesce(scale, 1)
    FROM unnest(string_to_array(:'works', E'\n'),
                string_to_array(:'figures', ' ')::double precision[]) AS kept (work, figure)
    LEFT JOIN bench.candidate USING (work) WHERE name IS NULL OR name = :'name';
SQL
}
