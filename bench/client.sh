# Sourced by run: IDs that an application makes itself.

measure_clients() {
    local threads
    g++ -std=c++20 -O2 -Wall -Wextra -I "$("$PG_CONFIG" --includedir-server)/extension/snowflake" \
        -I "$checkout/examples" "$bench/client.cpp" -o "$workspace/client" -lpqxx -lpq -pthread
    sql -c 'SELECT snowflake.reserve_nodes(1000, 1001)' >/dev/null
    script client.sql
    for threads in 1 2; do
        in_turn "client $threads" -- run_client "$threads"
    done
}

# Prints how many IDs a second so many threads make. Standard input says with what.
run_client() {
    "$workspace/client" "$(cat)" "$1" "$seconds"
}
