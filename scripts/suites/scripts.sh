# What the scripts themselves promise.

# Settings of a client and of the server's programs that a caller may have exported. Whatever obeys one
# of them fails: private servers, and clients of them, must not.
hostile_settings=(PGHOST=/nonexistent PGHOSTADDR=192.0.2.1 PGPORT=1 PGDATABASE=nonexistent PGUSER=nobody
    PGPASSWORD=wrong PGPASSFILE=/nonexistent PGSERVICE=nonexistent PGSERVICEFILE=/nonexistent
    PGSYSCONFDIR=/nonexistent PGOPTIONS='-c nonexistent=1' PGSSLMODE=verify-full PGREQUIREPEER=nobody
    PGCHANNELBINDING=require PGCONNECT_TIMEOUT=nonsense PGTARGETSESSIONATTRS=standby
    PGCLIENTENCODING=nonsense PGDATESTYLE=nonsense PGTZ=nonsense PGGEQO=nonsense
    PGDATA=/nonexistent PGCTLTIMEOUT=0 PG_COLOR=always)

scripts_suite() {
    say "Checking the scripts"
    check "demo ignores the caller's PG variables" demo_ignores_client_settings
    check "an unknown option is refused" refuses_unknown_option
    check "no link of the documents is dead" has_no_dead_link
}

has_no_dead_link() (
    cd "$checkout" && "$checkout/scripts/dead-links" "$checkout" ./*.md docs/*.md docs/*/*.md
)

demo_ignores_client_settings() {
    show_if_failed "$workspace/demo.log" env "${hostile_settings[@]}" "$checkout/scripts/demo" --shell \
        <<<'SELECT snowflake.get_node(snowflake.nextval()) AS node_of_the_demo \gset
            \echo node :node_of_the_demo' || return 1
    grep -qx 'node 1' "$workspace/demo.log" || { cat "$workspace/demo.log"; return 1; }
}

refuses_unknown_option() {
    local status=0 message
    message=$("$checkout/scripts/test" --nonexistent 2>&1) || status=$?
    [ "$status" = 2 ] && grep -q '^usage: scripts/test' <<<"$message" || { echo "$status: $message"; return 1; }
}
