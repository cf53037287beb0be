# Sourced by the other scripts, after prerequisites.sh: a private installation of PostgreSQL with
# the extension in it, and throwaway servers that run from it.
#
# All of it lives in one temporary directory. The installation is a tree of links to the system's
# PostgreSQL, with binaries of its own: they find their libraries and extensions relative to
# themselves, so that the extension can be installed there and nothing of the system's changes.
# When the script ends, however it ends, the servers are stopped and the directory removed.

# Creates the directory, $workspace, that everything lives in.
create_workspace() {
    workspace=$(mktemp -d "${TMPDIR:-/tmp}/snowflake.XXXXXX")
    chmod 755 "$workspace"
    [ "$(id -u)" != 0 ] || chown postgres: "$workspace"
    trap remove_workspace EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

remove_workspace() {
    local directory
    for directory in "$workspace" "$workspace"/*/; do stop_server "${directory%/}"; done
    rm -rf "$workspace"
}

# Makes the private installation of the PostgreSQL of a pg_config, without the extension, and prints
# the pg_config of that.
copy_postgresql() {
    local root=$workspace/postgresql system=$1 directory
    for directory in --pkglibdir --sharedir --includedir-server; do
        mkdir -p "$root/$(dirname "$("$system" $directory)")"
        cp -rs "$("$system" $directory)" "$root/$(dirname "$("$system" $directory)")"
    done
    # A link to a snowflake that the system has installed would be written through.
    rm -rf "$root$("$system" --pkglibdir)"/{,bitcode/}snowflake* \
        "$root$("$system" --sharedir)"/extension/snowflake* \
        "$root$("$system" --includedir-server)"/extension/snowflake
    mkdir -p "$root/$("$system" --bindir)"
    cp -L "$("$system" --bindir)"/* "$root/$("$system" --bindir)"
    echo "$root$("$system" --bindir)/pg_config"
}

# Builds the extension and installs it in a private installation. Afterwards PG_CONFIG and PATH are
# those of the private installation.
install_privately() {
    say "Building the extension for $("$PG_CONFIG" --version)"
    as_builder make -s -C "$checkout" PG_CONFIG="$PG_CONFIG" -j "$(nproc)"
    PG_CONFIG=$(copy_postgresql "$PG_CONFIG")
    export PG_CONFIG PATH=${PG_CONFIG%/*}:$PATH
    make -s -C "$checkout" PG_CONFIG="$PG_CONFIG" install >/dev/null
}

# Starts the throwaway server and makes it the one that clients connect to. It listens on a Unix
# socket only. Arguments are options of the server, such as -c snowflake.node=1.
start_server() {
    start_server_in "$workspace" "$@"
    export PGHOST=$workspace PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
    unset PGSERVICE PGSSLMODE PGOPTIONS
}

# The same in a directory of its own: start_server_in DIRECTORY OPTION...
start_server_in() {
    local directory=$1
    shift
    say "Starting a private server in $directory"
    as_server_user initdb -D "$directory/data" -U postgres -A trust --no-locale -E UTF8 \
        --no-sync >/dev/null
    as_server_user pg_ctl -D "$directory/data" -l "$directory/server.log" -w -t 600 -s \
        -o "-c listen_addresses='' -c unix_socket_directories='$directory' -c fsync=off $*" start ||
        { cat "$directory/server.log" >&2; die "the private server does not start"; }
}

# stop_server [DIRECTORY]
stop_server() {
    local directory=${1:-$workspace}
    [ -f "$directory/data/postmaster.pid" ] || return 0
    as_server_user pg_ctl -D "$directory/data" -m immediate -w -t 600 -s stop || true
}
