# Sourced by the demo, after private-server.sh: private servers that replicate to each other, each to
# every other, by means of pglogical.

cluster_servers=(north south west)

# Runs the SQL on standard input on one server and shows both it and what comes of it.
# show_on SERVER [ON_ERROR_STOP]
show_on() {
    PAGER='' PGHOST=$workspace/$1 psql -X -e -q -v ON_ERROR_STOP="${2:-1}" 2>&1
}

# One value from one server: ask SERVER QUERY
ask() {
    PGHOST=$workspace/$1 psql -X -A -t -q -c "$2"
}

# Waits until a query's value on a server is as expected: wait_for SERVER QUERY VALUE
wait_for() {
    local tries
    for ((tries = 0; tries < 1200; tries++)); do
        [ "$(ask "$1" "$2")" != "$3" ] || return 0
        sleep 0.1
    done
    die "$1 does not come to $3 with $2"
}

start_cluster() {
    local server
    export PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
    unset PGSERVICE PGSSLMODE PGOPTIONS
    for server in "${cluster_servers[@]}"; do
        mkdir "$workspace/$server"
        [ "$(id -u)" != 0 ] || chown postgres: "$workspace/$server"
        start_server_in "$workspace/$server" -c wal_level=logical -c track_commit_timestamp=on \
            -c shared_preload_libraries=pglogical -c max_worker_processes=32 \
            -c wal_retrieve_retry_interval=100 -c wal_receiver_status_interval=1 \
            -c "cluster_name=$server"
        # Recent minor versions of the server use no output plugin that they are not told of.
        if [ "$(ask "$server" "SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'")" = 1 ]; then
            ask "$server" "ALTER SYSTEM SET output_plugin_libraries = pgoutput, pglogical_output"
            ask "$server" "SELECT pg_reload_conf()" >/dev/null
        fi
    done
}

# Lets every server receive what is written on every other, and nothing that comes from elsewhere:
# or changes would go in circles. The tables snowflake.nodes and those given are replicated.
join_cluster() {
    local sender receiver table
    for sender in "${cluster_servers[@]}"; do
        ask "$sender" "CREATE EXTENSION pglogical"
        ask "$sender" "SELECT pglogical.create_node('$sender', 'host=$workspace/$sender')" >/dev/null
        for table in snowflake.nodes "$@"; do
            ask "$sender" "SELECT pglogical.replication_set_add_table('default', '$table')" >/dev/null
        done
    done
    for receiver in "${cluster_servers[@]}"; do
        for sender in "${cluster_servers[@]}"; do
            [ "$sender" != "$receiver" ] || continue
            ask "$receiver" "SELECT pglogical.create_subscription('${sender}_to_$receiver',
                'host=$workspace/$sender', '{default}', synchronize_structure := false,
                synchronize_data := false, forward_origins := '{}')" >/dev/null
            wait_for "$receiver" "SELECT status FROM
                pglogical.show_subscription_status('${sender}_to_$receiver')" replicating
        done
    done
}
