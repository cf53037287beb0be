# Sourced by scripts/test: how results are counted and shown.

passed=0 failed=0 skipped=0

# Counts one check, which is a command: check NAME COMMAND...
check() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok       $name"
    else
        failed=$((failed + 1))
        echo "FAILED   $name"
    fi
}

# Counts a check that cannot run here: skip NAME REASON
skip() {
    skipped=$((skipped + 1))
    echo "skipped  $1: $2"
}

# Counts the results of a suite in what it printed: the lines that match each of two patterns. A suite
# has also failed if it shows no result, or if it ends with an error although it shows no failure.
# count NAME STATUS OUTPUT PASSES FAILURES
count() {
    local name=$1 status=$2 output=$3 passes=$4 failures=$5 good bad
    good=$(grep -cE "$passes" "$output" || true)
    bad=$(grep -cE "$failures" "$output" || true)
    if [ "$bad" = 0 ] && { [ "$status" != 0 ] || [ "$good" = 0 ]; }; then bad=1; fi
    passed=$((passed + good)) failed=$((failed + bad))
    echo "$name: $good passed, $bad failed"
}

# Runs a command, writes what it prints to a file, and shows those lines that match while it runs.
# Returns the command's status. logged FILE PATTERN COMMAND...
logged() {
    local file=$1 pattern=$2
    shift 2
    { "$@" 2>&1 && echo 0 >"$file.status" || echo $? >"$file.status"; } | tee "$file" |
        grep --line-buffered -E "$pattern" || true
    return "$(cat "$file.status")"
}

# Runs a command whose output goes to a file, and shows the end of that if the command fails.
# show_if_failed FILE COMMAND...
show_if_failed() {
    local file=$1 status=0
    shift
    "$@" >"$file" 2>&1 || status=$?
    [ "$status" = 0 ] || tail -n 50 "$file"
    return "$status"
}

# Starts a suite beside those that follow, in a workspace of its own; end_beside() shows and counts its results. The suite is
# a group of processes, which remove_workspace() ends where this script ends early.
beside() {
    beside_workspace=$workspace/$1
    mkdir "$beside_workspace"
    [ "$(id -u)" != 0 ] || chown postgres: "$beside_workspace"
    set -m
    (
        set +m
        workspace=$beside_workspace passed=0 failed=0 skipped=0
        trap 'echo "$passed $failed $skipped" >"$workspace/counts"' EXIT
        "$@"
    ) >"$beside_workspace/log" 2>&1 </dev/null &
    beside_pid=$!
    set +m
}

# Waits for the suite that runs beside others, shows what it printed, and counts its results.
end_beside() {
    local counts status=0
    wait "$beside_pid" || status=$?
    beside_pid=
    cat "$beside_workspace/log"
    [ "$status" = 0 ] || check "${beside_workspace##*/} comes to its end" false
    read -ra counts <"$beside_workspace/counts" || counts=(0 0 0)
    passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
}

# Prints the closing line. Returns false if anything has failed.
show_result() {
    say "Result"
    echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
    [ "$failed" = 0 ]
}
