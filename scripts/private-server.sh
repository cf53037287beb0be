# Sourced by the other scripts, after prerequisites.sh: a private installation of PostgreSQL with
# the extension in it, and throwaway servers that run from it.
#
# All of it lives in one temporary directory. The installation is a tree of links to the system's
# PostgreSQL, with binaries of its own: they find their libraries and extensions relative to
# themselves, so that the extension can be installed there and nothing of the system's changes.
# When the script ends, however it ends, the server is stopped and the directory removed.

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
    stop_server
    rm -rf "$workspace"
}

# Builds the extension and installs it in a private installation. Afterwards PG_CONFIG and PATH are
# those of the private installation.
install_privately() {
    local root=$workspace/postgresql system=$PG_CONFIG directory

    say "Building the extension for $("$system" --version)"
    as_builder make -s -C "$checkout" PG_CONFIG="$system" -j "$(nproc)"

    for directory in --pkglibdir --sharedir --includedir-server; do
        mkdir -p "$root/$(dirname "$("$system" $directory)")"
        cp -rs "$("$system" $directory)" "$root/$(dirname "$("$system" $directory)")"
    done
    # A link to a snowflake that the system has installed would be written through.
    rm -rf "$root$("$system" --pkglibdir)"/{,bitcode/}snowflake* \
        "$root$("$system" --sharedir)"/extension/snowflake*
    mkdir -p "$root/$("$system" --bindir)"
    cp -L "$("$system" --bindir)"/* "$root/$("$system" --bindir)"
    export PG_CONFIG=$root$("$system" --bindir)/pg_config
    export PATH=$root$("$system" --bindir):$PATH
    make -s -C "$checkout" PG_CONFIG="$PG_CONFIG" install >/dev/null
}

# Starts the throwaway server and makes it the one that clients connect to. It listens on a Unix
# socket only. Arguments are options of the server, such as -c snowflake.node=1.
start_server() {
    say "Starting a private server in $workspace"
    as_server_user initdb -D "$workspace/data" -U postgres -A trust --no-locale -E UTF8 \
        --no-sync >/dev/null
    as_server_user pg_ctl -D "$workspace/data" -l "$workspace/server.log" -w -t 600 -s \
        -o "-c listen_addresses='' -c unix_socket_directories='$workspace' -c fsync=off $*" start ||
        { cat "$workspace/server.log" >&2; die "the private server does not start"; }
    export PGHOST=$workspace PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
    unset PGSERVICE PGSSLMODE PGOPTIONS
}

stop_server() {
    [ -f "$workspace/data/postmaster.pid" ] || return 0
    as_server_user pg_ctl -D "$workspace/data" -m immediate -w -t 600 -s stop || true
}
