// Joining, parting and watching servers by means of pglogical's functions.
#include "mesh.hpp"

#include "process.hpp"

namespace integration {

namespace {

// Replication must not be slower than need be, nor a test server safer.
const std::vector<std::string> member_settings = {
    "shared_preload_libraries = 'pglogical'",
    "wal_level = logical",
    "track_commit_timestamp = on",
    "pglogical.conflict_resolution = last_update_wins",
    "pglogical.conflict_log_level = log",
    "max_worker_processes = 32",
    "wal_receiver_status_interval = 1s",
    "wal_retrieve_retry_interval = 100ms",
    "fsync = off"};

// Unique among all servers, because the sender's replication slot is named after it.
std::string subscription(const Member &receiver, const Member &sender) {
    return sender.name + "_to_" + receiver.name;
}

void subscribe(const Member &receiver, const Member &sender, bool copy) {
    Session session(*receiver.server);
    // No origins: a server sends only what was written on it, or changes would go in circles.
    session.run("SELECT pglogical.create_subscription(subscription_name := '" +
                subscription(receiver, sender) + "', provider_dsn := '" +
                sender.server->conninfo() +
                "', replication_sets := '{default}', synchronize_structure := false, "
                "synchronize_data := " +
                (copy ? "true" : "false") + ", forward_origins := '{}')");
    wait_for(*receiver.server,
             "SELECT status FROM pglogical.show_subscription_status('" +
                 subscription(receiver, sender) + "')",
             "replicating");
}

void alter_subscription(const Member &receiver, const Member &sender, const std::string &action) {
    Session(*receiver.server)
        .run("SELECT pglogical.alter_subscription_" + action + "('" +
             subscription(receiver, sender) + "', true)");
}

// Recent minor versions of the server use no output plugin that they are not told of.
void allow_output_plugin(Session &session) {
    if (session.number("SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'") ==
        0)
        return;
    session.run("ALTER SYSTEM SET output_plugin_libraries = pgoutput, pglogical_output");
    session.run("SELECT pg_reload_conf()");
}

} // namespace

std::string Member::cluster() const {
    return Session(*server).text(
        "SELECT coalesce(string_agg(node || ' ' || name || coalesce(' lost to ' || lost_to, ''), "
        "', ' ORDER BY node, name), 'nobody') FROM snowflake.cluster");
}

Id Member::rows() const {
    return Session(*server).number("SELECT count(*) FROM orders");
}

std::string Member::digest() const {
    return Session(*server).text(
        "SELECT coalesce(md5(string_agg(orders::text, ',' ORDER BY id)), '') FROM orders");
}

bool Member::logged_a_conflict() const {
    return read_file(server->file("log")).find("CONFLICT") != std::string::npos;
}

bool Mesh::available() {
    const Server server(1);
    return Session(server).number(
               "SELECT count(*) FROM pg_available_extensions WHERE name = 'pglogical'") == 1;
}

Member &Mesh::add(const std::string &name, const std::vector<std::string> &launcher) {
    std::vector<std::string> settings = member_settings;
    settings.push_back("cluster_name = '" + name + "'");
    members_.push_back(std::make_unique<Member>(
        Member{.name = name, .server = std::make_unique<Server>(0, settings, launcher)}));

    const Server &server = *members_.back()->server;
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE TABLE orders (id bigserial PRIMARY KEY, maker text)");
    session.run("SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq')");
    allow_output_plugin(session);
    session.run("CREATE EXTENSION pglogical");
    session.run("SELECT pglogical.create_node(node_name := '" + name + "', dsn := '" +
                server.conninfo() + "')");
    for (const char *table : {"orders", "snowflake.nodes"})
        session.run(std::string("SELECT pglogical.replication_set_add_table('default', '") + table +
                    "')");
    return *members_.back();
}

void Mesh::join_last() {
    const Member &last = *members_.back();
    for (const auto &member : members_) {
        if (member.get() == &last)
            continue;
        subscribe(last, *member, member == members_.front());
        subscribe(*member, last, false);
    }
}

void cut(const Member &one, const Member &other) {
    alter_subscription(one, other, "disable");
    alter_subscription(other, one, "disable");
}

void heal(const Member &one, const Member &other) {
    alter_subscription(one, other, "enable");
    alter_subscription(other, one, "enable");
}

// Each slot belongs to one receiver.
void Mesh::wait_until_quiet() const {
    for (const auto &member : members_) {
        const std::string written =
            Session(*member->server).text("SELECT pg_current_wal_insert_lsn()");
        wait_for(*member->server,
                 "SELECT count(*) FROM pg_replication_slots WHERE slot_name LIKE 'pgl_%' AND "
                 "confirmed_flush_lsn >= '" +
                     written + "'",
                 std::to_string(members_.size() - 1));
    }
}

} // namespace integration
