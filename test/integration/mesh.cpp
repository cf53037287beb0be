// Joins servers, parts them and watches what they send, by means of pglogical's functions.
#include "mesh.hpp"

#include "process.hpp"

namespace integration {

namespace {

// Replication is as fast as it can be. A test's server does without fsync.
const std::vector<std::string> member_settings = {
    "shared_preload_libraries = 'pglogical'",
    "wal_level = logical",
    "track_commit_timestamp = on",
    "pglogical.conflict_resolution = last_update_wins",
    "pglogical.conflict_log_level = log",
    "max_worker_processes = 48",
    "max_logical_replication_workers = 24",
    "max_replication_slots = 20",
    "max_wal_senders = 20",
    "wal_receiver_status_interval = 1s",
    "wal_retrieve_retry_interval = 100ms",
    "fsync = off"};

// Names a subscription. The name is unique among all servers, because the sender names its
// replication slot after it.
std::string subscription(const Member &receiver, const Member &sender) {
    return sender.name + "_to_" + receiver.name;
}

void subscribe(const Member &receiver, const Member &sender, bool copy) {
    Session session(*receiver.server);
    // forward_origins is empty: a server sends only changes that were made on it. If it passed on
    // those that it received, they would go in circles.
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

// Names the subscription by which a server receives the registry of another: by the server's own
// replication, whatever replicates the data.
std::string registry_subscription(const Member &receiver, const Member &sender) {
    return "nodes_" + receiver.name + "_from_" + sender.name;
}

// Lets the registry of a new server hear that of another, and the other way round. The first makes
// the new server's publication, which the second needs.
void link_registries(const Member &last, const Member &other) {
    for (const auto &[receiver, sender] : {std::pair{&last, &other}, std::pair{&other, &last}})
        Session(*receiver->server)
            .run("CREATE SUBSCRIPTION " + registry_subscription(*receiver, *sender) +
                 " CONNECTION '" + sender->server->conninfo() + "' PUBLICATION snowflake_nodes");
}

void switch_registry(const Member &receiver, const Member &sender, bool on) {
    const std::string name = registry_subscription(receiver, sender);
    Session(*receiver.server).run("ALTER SUBSCRIPTION " + name + (on ? " ENABLE" : " DISABLE"));
    wait_for(*sender.server,
             "SELECT active FROM pg_replication_slots WHERE slot_name = '" + name + "'",
             on ? "t" : "f");
}

// Makes a query for one column of a subscription's replication slot, to be run on the sender.
std::string slot(const std::string &column, const Member &receiver, const Member &sender) {
    return "SELECT " + column + " FROM pg_replication_slots WHERE slot_name LIKE '%" +
           subscription(receiver, sender) + "'";
}

void switch_subscription(const Member &receiver, const Member &sender, bool on) {
    Session(*receiver.server)
        .run(std::string("SELECT pglogical.alter_subscription_") + (on ? "enable" : "disable") +
             "('" + subscription(receiver, sender) + "', true)");
    // A receiver that is told to stop may still apply what has come.
    wait_for(*sender.server, slot("active", receiver, sender), on ? "t" : "f");
}

// Waits until one receiver has received all that the other has received from the sender.
void catch_up(const Member &receiver, const Member &other, const Member &sender) {
    const std::string enough =
        Session(*sender.server).text(slot("confirmed_flush_lsn", other, sender));
    wait_for(*sender.server, slot("confirmed_flush_lsn >= '" + enough + "'", receiver, sender),
             "t");
}

// Makes one receiver go on where the other has stopped.
void go_on_from(const Member &receiver, const Member &other, const Member &sender) {
    const auto origin = [&sender](const Member &member) {
        return "external_id LIKE '%" + subscription(member, sender) + "'";
    };
    const std::string position =
        Session(*other.server)
            .text("SELECT remote_lsn FROM pg_replication_origin_status WHERE " + origin(other));
    Session(*receiver.server)
        .run("SELECT pg_replication_origin_advance(external_id, '" + position +
             "') FROM pg_replication_origin_status WHERE " + origin(receiver));
}

} // namespace

void allow_output_plugin(Session &session) {
    if (session.number("SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'") ==
        0)
        return;
    session.run("ALTER SYSTEM SET output_plugin_libraries = pgoutput, pglogical_output");
    session.run("SELECT pg_reload_conf()");
}

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
    members_.push_back(std::make_unique<Member>(
        Member{.name = name, .server = std::make_unique<Server>(0, member_settings, launcher)}));

    const Server &server = *members_.back()->server;
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE TABLE orders (id bigserial PRIMARY KEY, maker text)");
    session.run("SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq', waive => 'node')");
    allow_output_plugin(session);
    session.run("CREATE EXTENSION pglogical");
    session.run("SELECT pglogical.create_node(node_name := '" + name + "', dsn := '" +
                server.conninfo() + "')");
    session.run("SELECT pglogical.replication_set_add_table('default', 'orders')");
    return *members_.back();
}

// The new server copies the rows of the first, which include what the first has received from the
// others. The new one must then get the others' next rows, none missing and none twice. Therefore
// the first server receives nothing during the copy, and the new one goes on where the first
// stopped, in slots that were made before.
void Mesh::join_last() const {
    const Member &last = *members_.back();
    const Member &first = *members_.front();
    if (&last == &first)
        return;
    for (const auto &member : members_)
        if (member.get() != &last)
            link_registries(last, *member);
    std::vector<const Member *> others;
    for (std::size_t i = 1; i + 1 < members_.size(); ++i)
        others.push_back(members_.at(i).get());

    for (const Member *other : others) {
        subscribe(last, *other, false);
        switch_subscription(last, *other, false);
        catch_up(first, last, *other);
        switch_subscription(first, *other, false);
    }
    Session(*last.server).run("TRUNCATE orders");
    subscribe(last, first, true);
    for (const Member *other : others) {
        go_on_from(last, first, *other);
        switch_subscription(last, *other, true);
        switch_subscription(first, *other, true);
    }
    for (const auto &member : members_)
        if (member.get() != &last)
            subscribe(*member, last, false);
}

void cut(const Member &one, const Member &other) {
    for (const auto &[receiver, sender] : {std::pair{&one, &other}, std::pair{&other, &one}}) {
        switch_subscription(*receiver, *sender, false);
        switch_registry(*receiver, *sender, false);
    }
}

void heal(const Member &one, const Member &other) {
    for (const auto &[receiver, sender] : {std::pair{&one, &other}, std::pair{&other, &one}}) {
        switch_subscription(*receiver, *sender, true);
        switch_registry(*receiver, *sender, true);
    }
}

void receive_again(const Member &receiver, const Member &sender) {
    switch_subscription(receiver, sender, false);
    switch_subscription(receiver, sender, true);
}

// Waits until every receiver has confirmed all that was written. Each slot belongs to one receiver.
void Mesh::wait_until_quiet() const {
    for (const auto &member : members_) {
        const std::string written =
            Session(*member->server).text("SELECT pg_current_wal_insert_lsn()");
        wait_for(*member->server,
                 "SELECT count(*) FROM pg_replication_slots WHERE NOT temporary AND "
                 "confirmed_flush_lsn >= '" +
                     written + "'",
                 std::to_string(2 * (members_.size() - 1)));
    }
}

} // namespace integration
