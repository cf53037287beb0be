# Sourced by the other scripts, after prerequisites.sh: a private installation of PostgreSQL with
# the extension in it, and throwaway servers that run from it.
#
# Everything is in one temporary directory, but for data that tests keep in memory. The installation consists of links to
# the system's PostgreSQL and of copies of its programs. A program looks for libraries and extensions relative to itself,
# so the extension can be installed there, and the system's PostgreSQL does not change.
# When the script ends, however it ends, the servers are stopped and the directories are removed.

# Private servers and their clients ignore every setting of libpq and of the server's programs that
# the caller has exported: PGHOST, PGPORT, PGDATA, PGOPTIONS and the others, which all begin with PG.
# PG_CONFIG names a PostgreSQL for these scripts, and stays.
for variable in "${!PG@}"; do
    [ "$variable" = PG_CONFIG ] || unset "$variable"
done
unset variable

# Creates the temporary directory, $workspace. The server's user must be able to read what root puts
# there, whatever umask root has.
create_workspace() {
    umask 022
    workspace=$(mktemp -d "${TMPDIR:-/tmp}/snowflake.XXXXXX")
    chmod 755 "$workspace"
    [ "$(id -u)" != 0 ] || chown postgres: "$workspace"
    memory=/dev/shm/${workspace##*/}
    trap remove_workspace EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

# Ends the suite that runs beside others, stops the servers, and removes the directory.
remove_workspace() {
    local directory
    [ -z "${beside_pid:-}" ] || { kill -- "-$beside_pid"; wait "$beside_pid"; } 2>/dev/null || true
    for directory in "$workspace" "$workspace"/*/; do stop_server "${directory%/}"; done
    rm -rf "$workspace" "$memory"
}

# Prints a directory for the data of many servers that come and go: one in memory, where there is room, since file systems on
# disks take their time with files that are made and deleted; else the workspace.
directory_for_data() {
    local room
    room=$(df --output=avail -B1G /dev/shm 2>/dev/null | tail -n 1)
    if [ "${room:-0}" -lt 6 ]; then
        echo "$workspace"
        return
    fi
    mkdir -p "$memory"
    [ "$(id -u)" != 0 ] || chown postgres: "$memory"
    echo "$memory"
}

# Copies the PostgreSQL of a pg_config into the private installation, without the extension, and prints
# the pg_config of the copy.
copy_postgresql() {
    local root=$workspace/postgresql system=$1 directory
    for directory in --pkglibdir --sharedir --includedir-server; do
        mkdir -p "$root/$(dirname "$("$system" $directory)")"
        cp -rs "$("$system" $directory)" "$root/$(dirname "$("$system" $directory)")"
    done
    # Remove links to a snowflake that is installed in the system: make install would write through them.
    rm -rf "$root$("$system" --pkglibdir)"/{,bitcode/}snowflake* \
        "$root$("$system" --sharedir)"/extension/snowflake* \
        "$root$("$system" --includedir-server)"/extension/snowflake
    mkdir -p "$root/$("$system" --bindir)"
    cp -L "$("$system" --bindir)"/* "$root/$("$system" --bindir)"
    echo "$root$("$system" --bindir)/pg_config"
}

# Makes the private installation, without the extension. Afterwards PG_CONFIG and PATH are those of it.
use_private_installation() {
    PG_CONFIG=$(copy_postgresql "$PG_CONFIG")
    export PG_CONFIG PATH=${PG_CONFIG%/*}:$PATH
}

# Builds the extension and installs it in the private installation, which is used from then on.
install_privately() {
    say "Building the extension for $("$PG_CONFIG" --version)"
    as_builder make -s -C "$checkout" PG_CONFIG="$PG_CONFIG" -j "$(nproc)"
    use_private_installation
    make -s -C "$checkout" PG_CONFIG="$PG_CONFIG" install >/dev/null
}

# Starts a server and makes it the one that clients connect to. It listens on a Unix socket only.
# Arguments are options of the server, such as -c snowflake.node=1.
start_server() {
    start_server_in "$workspace" "$@"
    export PGHOST=$workspace PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
}

# Starts a server in a directory of its own: start_server_in DIRECTORY OPTION...
start_server_in() {
    local directory=$1
    shift
    say "Starting a private server in $directory"
    as_server_user initdb -D "$directory/data" -U postgres -A trust --no-locale -E UTF8 \
        --no-sync >/dev/null
    launch_server_in "$directory" "$@"
}

# Starts a server whose data is in the directory: launch_server_in DIRECTORY OPTION...
# JIT is off: to compile queries of the catalog would take longer than to run them.
launch_server_in() {
    local directory=$1
    shift
    as_server_user pg_ctl -D "$directory/data" -l "$directory/server.log" -w -t 600 -s \
        -o "-c port=5432 -c listen_addresses='' -c unix_socket_directories='$directory' -c fsync=off -c jit=off $*" \
        start ||
        { cat "$directory/server.log" >&2; die "the private server does not start"; }
}

# Stops the server of a directory, if one runs there: stop_server [DIRECTORY]
stop_server() {
    local directory=${1:-$workspace}
    [ -f "$directory/data/postmaster.pid" ] || return 0
    as_server_user pg_ctl -D "$directory/data" -m immediate -w -t 600 -s stop || true
}
