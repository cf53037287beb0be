# Sourced by scripts/test: what the suites build, apart from the extension as it is.

# Configures and compiles the C++ tests: build_tests DIRECTORY-IN-BUILD CMAKE-OPTION...
build_tests() {
    local directory=$checkout/build/$1
    shift
    show_if_failed "$workspace/cmake.log" as_builder cmake -S "$checkout/test" -B "$directory" "$@"
    show_if_failed "$workspace/cmake.log" as_builder cmake --build "$directory" -j "$(nproc)"
}

# The options say both times what is wanted, because CMake remembers those of the last time.
build_unit_tests() {
    build_tests test -DINTEGRATION=OFF -DBENCH=OFF
}
build_all_tests() {
    build_tests test -DINTEGRATION=ON -DBENCH=ON
}

# Builds the extension with other flags of the compiler, in a directory of its own that the server's
# user can write to, and installs it in the private installation. install_variant NAME FLAG...
install_variant() {
    local directory=$workspace/$1
    local arguments=(-s -C "$directory" "PG_CONFIG=$PG_CONFIG" with_llvm=no "CXX=g++ ${*:2}" "CC=gcc ${*:2}")
    mkdir -p "$directory"
    cp -r "$checkout"/{Makefile,META.json,snowflake.control,src} "$directory"
    make "${arguments[@]}" clean
    make "${arguments[@]}" -j "$(nproc)"
    make "${arguments[@]}" install >/dev/null
    chmod -R a+rwX "$directory"
}

# Puts an older PostgreSQL with the extension beside the private installation, for pg_upgrade to start
# from. Does nothing if the system has none with its headers.
install_older_postgresql() {
    local version pg_config
    for ((version = $(major_version) - 1; version >= 15; version--)); do
        pg_config=/usr/lib/postgresql/$version/bin/pg_config
        [ ! -x "${pg_config%/*}/postgres" ] || [ ! -x "$pg_config" ] ||
            [ ! -f "$("$pg_config" --includedir-server)/postgres.h" ] || break
    done
    [ "$version" -ge 15 ] || return 0
    say "Building the extension for $("$pg_config" --version) as well"
    pg_config=$(copy_postgresql "$pg_config")
    PG_CONFIG=$pg_config install_variant older
    export SNOWFLAKE_OLD_PG_CONFIG=$pg_config
}
