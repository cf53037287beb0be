# Sourced by run: tables and charts of the figures. They are made in $reports, and copied from there.

# Writes every figure of every round.
write_csv() {
    sql --csv -c 'SELECT work, candidate, round, value, unit
                  FROM bench.sample JOIN bench.work ON work.name = sample.work
                  ORDER BY work.position, round, candidate' >"$reports/results.csv"
}

# Draws a chart of the works whose names match a pattern, if they were measured: draw NAME PATTERN TITLE
draw() {
    sql -At -F $'\t' -v works="$2" -f "$bench/chart.sql" >"$workspace/$1.tsv"
    [ -s "$workspace/$1.tsv" ] || return 0
    gnuplot -e "data='$workspace/$1.tsv'; title='$3'; picture='$reports/$1.svg'" "$bench/plot.gp"
}

write_charts() {
    draw generate '^generate$' 'One ID in one session: ns, less is better'
    draw sessions '^sessions ' 'Sessions on one sequence: IDs a second, more is better'
    draw insert '^insert$' "INSERT ... SELECT of $rows rows: ms, less is better"
    draw_growth
}

# Draws the chart of growth, if that was measured.
draw_growth() {
    local work
    for work in growth 'growth index'; do
        sql -A -F $'\t' -P footer=off -v work="$work" -v rows="$rows" -f "$bench/growth_chart.sql" \
            >"$workspace/$work.tsv"
    done
    grep -q '^[0-9]' "$workspace/growth.tsv" || return 0
    gnuplot -e "times='$workspace/growth.tsv'; sizes='$workspace/growth index.tsv'" \
        -e "title='INSERT ... SELECT of $rows rows: s'; picture='$reports/growth.svg'" "$bench/growth.gp"
}

write_markdown() {
    {
        describe_machine
        sql -At -v rows="$rows" -f "$bench/report.sql"
    } >"$reports/results.md"
}

describe_machine() {
    cat <<TEXT
# Results of the benchmark

docs/performance.md says what the works are and how they are measured.

| | |
|---|---|
| machine | $(nproc) processors ($(processor)), $(memory) GB of memory, $(uname -sr) |
| server | $(sql -At -c 'SELECT version()') |
| extension | snowflake $(version), $(revision) |
| settings | $(settings_given) |
| rounds | $rounds, of $rows rows, and $seconds s of pgbench; $(date -u +%Y-%m-%d) |

TEXT
}

processor() {
    sed -n '/^model name/ { s/.*: //p; q; }' /proc/cpuinfo
}

memory() {
    awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo
}

version() {
    sql -At -c "SELECT extversion FROM pg_extension WHERE extname = 'snowflake'"
}

settings_given() {
    sql -At <<'SQL'
SELECT string_agg(format('`%s=%s`', name, current_setting(name)), ', ' ORDER BY name)
    FROM pg_settings WHERE source = 'command line' AND name !~ '^(unix_socket|listen|port)';
SQL
}

revision() {
    git -C "$checkout" describe --always --dirty 2>/dev/null || echo "not from a repository"
}

# Copies the reports whose names match a pattern: deliver PATTERN DIRECTORY
# The copies belong to the owner of the checkout.
deliver() {
    as_builder mkdir -p "$2"
    find "$reports" -name "$1" -print0 | as_builder xargs -0 -r cp -t "$2"
}

# Replaces the results and the charts in docs/performance of this version of PostgreSQL.
publish() {
    local directory
    directory=$checkout/docs/performance/postgresql-$(major_version)
    deliver '*.svg' "$directory"
    deliver results.md "$directory"
}
