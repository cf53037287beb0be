# Whether the extension compiles, and what the compiled file needs.

build_suite() {
    say "Building"
    check "builds without a warning" builds_without_warning
    check "needs no C++ run-time library" needs_no_cxx_runtime
}

# Compiles everything from scratch, with every compiler that PGXS uses.
builds_without_warning() {
    as_builder make -s -C "$checkout" PG_CONFIG="$PG_CONFIG" clean
    show_if_failed "$workspace/build.log" \
        as_builder make -C "$checkout" PG_CONFIG="$PG_CONFIG" -j "$(nproc)" || return 1
    ! grep -A 5 'warning:' "$workspace/build.log"
}

needs_no_cxx_runtime() {
    local libraries
    libraries=$(ldd "$checkout/snowflake.so") && ! grep 'libstdc++' <<<"$libraries"
}
