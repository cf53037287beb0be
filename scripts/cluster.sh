# Sourced by the demo, after private-server.sh: three private servers, each of which replicates to the
# two others by means of pglogical.

cluster_servers=(north south west)

# Runs the SQL on standard input on one server, and shows it together with its results.
# show_on SERVER [ON_ERROR_STOP]
show_on() {
    PAGER='' PGHOST=$workspace/$1 psql -X -e -q -v ON_ERROR_STOP="${2:-1}" 2>&1
}

# Prints the single value of a query on one server: ask SERVER QUERY
ask() {
    PGHOST=$workspace/$1 psql -X -A -t -q -c "$2"
}

# Waits until a query on a server has the expected value, on a slow machine for long:
# wait_for SERVER QUERY VALUE
wait_for() {
    local deadline=$((SECONDS + 1800))
    until [ "$(ask "$1" "$2")" = "$3" ]; do
        [ "$SECONDS" -lt "$deadline" ] || die "on $1 this did not become $3: $2"
        sleep 0.1
    done
}

# Starts the servers.
start_cluster() {
    local server
    export PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
    for server in "${cluster_servers[@]}"; do
        mkdir "$workspace/$server"
        [ "$(id -u)" != 0 ] || chown postgres: "$workspace/$server"
        start_server_in "$workspace/$server" -c wal_level=logical -c track_commit_timestamp=on \
            -c shared_preload_libraries=pglogical -c max_worker_processes=32 \
            -c wal_retrieve_retry_interval=100 -c wal_receiver_status_interval=1 \
            -c "cluster_name=$server"
        # Recent minor versions of the server use only those output plugins that a setting lists.
        if [ "$(ask "$server" "SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'")" = 1 ]; then
            ask "$server" "ALTER SYSTEM SET output_plugin_libraries = pgoutput, pglogical_output"
            ask "$server" "SELECT pg_reload_conf()" >/dev/null
        fi
    done
}

# Subscribes every server to every other. A server sends only the changes that were made on it:
# if it passed on those that it received, they would go in circles. Replicated are snowflake.nodes and
# the tables that are given: join_cluster TABLE...
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
