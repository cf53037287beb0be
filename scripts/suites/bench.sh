# Whether the benchmark, bench/run, still works. How fast anything is does not matter here.

bench_suite() {
    say "Running the benchmark in small"
    check "benchmark runs" benchmark_runs
}

benchmark_runs() {
    local results=$checkout/build/bench file
    show_if_failed "$workspace/bench.log" env "${hostile_settings[@]}" PEER="$checkout" "$checkout/bench/run" --rounds 1 \
        --works "$(works_to_run)" --rows 1000 --seconds 1 --sessions 2 --growth 1,2 --peer 'peer=random()' "$results" || return 1
    for file in results.csv results.md generate.svg sessions.svg insert.svg growth.svg; do
        [ -s "$results/$file" ] || { echo "no $file"; return 1; }
    done
    grep -q '^insert,peer,1,' "$results/results.csv" && grep -q '^insert,pgEdge,1,' "$results/results.csv" &&
        grep -q '^connect flushes,nextval,1,' "$results/results.csv"
}

# Prints all works of the benchmark but $slow_works.
works_to_run() {
    local bench=$checkout/bench work
    (
        . "$bench/options.sh"
        for work in ${all_works//,/ }; do [[ " $slow_works " = *" $work "* ]] || echo "$work"; done | paste -sd,
    )
}
