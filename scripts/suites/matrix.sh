# The tests of behaviour on every supported version of PostgreSQL that Debian has, each in a chroot of the release that
# has it.

# Each line: a version of PostgreSQL, and the release.
versions_of_matrix() {
    cat <<'END_OF_VERSIONS'
15 bookworm
17 trixie
18 forky
19 experimental
END_OF_VERSIONS
}

# Runs the tests on these versions, or on all: matrix_suite [VERSION...]
matrix_suite() {
    local version release
    while read -r version release <&3; do
        [[ -n "$*" && " $* " != *" $version "* ]] || check "PostgreSQL $version" passes_on "$version" "$release"
    done 3< <(versions_of_matrix)
    show_matrix
}

# Refuses a version that the matrix does not have: check_versions [VERSION...]
check_versions() {
    local version all
    all=$(versions_of_matrix | cut -d ' ' -f 1 | xargs)
    for version; do [[ " $all " = *" $version "* ]] || die "the versions of the matrix are $all"; done
}

# Runs the tests in a chroot: passes_on VERSION RELEASE
# A directory of the caller's, $SNOWFLAKE_CHROOTS, keeps the chroot for the next time, with the packages in it.
passes_on() {
    local version=$1 release=$2 name=postgresql-$1 kept=${SNOWFLAKE_CHROOTS:-} status=0
    if [ -n "$kept" ] && [ -d "$kept/$name" ]; then
        mkdir -p "$workspace/chroots"
        mv "$kept/$name" "$workspace/chroots"
    else
        make_chroot "$name" "$release"
        remove_chroot "of-$release"
        [ "$release" != experimental ] || prefer_experimental "$name" "$version"
        install_in_chroot "$name" "postgresql-$version" || return 1
    fi
    # In place of the trap of make_chroot().
    trap 'end_watched; remove_chroots; remove_workspace' EXIT
    copy_checkout_to "$name" /root/snowflake # which only root can read
    say "Testing with PostgreSQL $version on Debian $release"
    watched "$workspace/matrix-$version.log" in_chroot "$name" env ${SNOWFLAKE_SEED:+"SNOWFLAKE_SEED=$SNOWFLAKE_SEED"} \
        ${SNOWFLAKE_ROUNDS:+"SNOWFLAKE_ROUNDS=$SNOWFLAKE_ROUNDS"} /root/snowflake/scripts/test --behaviour || status=$?
    remove_chroot "$name/root/snowflake"
    [ -z "$kept" ] || { mkdir -p "$kept" && mv "$workspace/chroots/$name" "$kept"; }
    remove_chroot "$name"
    return "$status"
}

# Lets apt take a version of PostgreSQL, and nothing else, from experimental: prefer_experimental CHROOT VERSION
prefer_experimental() {
    printf 'Package: src:postgresql-%s\nPin: release a=experimental\nPin-Priority: 990\n' "$2" \
        >"$workspace/chroots/$1/etc/apt/preferences.d/postgresql"
}

# Runs a command, writes what it prints to a file, and shows it as well: watched FILE COMMAND...
# The command runs in the background, because a shell that waits for one in the foreground notices no signal meanwhile.
watched() {
    local log=$1 status=0
    shift
    : >"$log"
    "$@" >"$log" 2>&1 &
    watched=$!
    tail -n +1 -f --pid="$watched" "$log" &
    wait "$watched" || status=$?
    watched=
    wait # until all is shown
    return "$status"
}

# Kills what watched() runs, if it does.
end_watched() {
    [ -z "${watched:-}" ] || { pkill -KILL -P "$watched"; wait "$watched"; } || true
}

# Prints a line a version.
show_matrix() {
    local version release log server
    say "Versions"
    while read -r version release; do
        log=$workspace/matrix-$version.log
        [ -f "$log" ] || continue
        server=$(sed -n 's/.*Building the extension for \(PostgreSQL [^[:cntrl:]]*\).*/\1/p' "$log" | head -n 1)
        printf '%-45s %-13s %s\n' "${server:-PostgreSQL $version}" "$release" \
            "$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 || echo "ended early")"
    done < <(versions_of_matrix)
}
