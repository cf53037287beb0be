// The steps by which docs/cluster.md links servers, in other orders, with one left out, with blind
// choices of numbers and links that copy nothing, and with a failover in between. Three servers
// make IDs throughout. Once all are connected, no two servers have one number for longer than
// replication takes, each number that was in use still is, and no row has halted replication. Rows
// replicate natively, or before PostgreSQL 16 by pglogical.
//
// A sample has databases of its own on the three servers. What it does follows from the seed and
// from its number alone.
#include "fake_clock.hpp"
#include "ids.hpp"
#include "mesh.hpp"
#include "process.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace integration::checklist_orders_test {
namespace {

constexpr std::size_t count_of_servers = 3;
constexpr std::array<const char *, count_of_servers> names = {"north", "south", "west"};

// How long replication may take to bring a claim and its answer to all servers.
constexpr std::chrono::seconds longest_replication{60};

// From this version on a subscription can leave out the changes that the sender has received.
constexpr Id first_with_origins = 160000;

const std::vector<std::string> settings = {"wal_level = logical",
                                           "max_worker_processes = 40",
                                           "max_logical_replication_workers = 24",
                                           "max_replication_slots = 40",
                                           "max_wal_senders = 40",
                                           "wal_receiver_status_interval = 1s",
                                           "wal_retrieve_retry_interval = 100ms",
                                           "fsync = off"};

// A client that makes IDs whenever its server lets it.
class Maker {
  public:
    Maker(const Server &server, const std::string &database, const std::string &name)
        : thread_([this, conninfo = server.conninfo(database), name] {
              while (!stop_)
                  work(conninfo, name);
          }) {}
    Maker(const Maker &) = delete;
    Maker &operator=(const Maker &) = delete;
    Maker(Maker &&) = delete;
    Maker &operator=(Maker &&) = delete;
    ~Maker() {
        stop_ = true;
        thread_.join();
    }

  private:
    // Works until an error. The next session has the settings of its time.
    void work(const std::string &conninfo, const std::string &name) {
        try {
            Session session(conninfo + " options='-c client_min_messages=error'");
            while (!stop_) {
                session.run("INSERT INTO orders (maker) SELECT '" + name +
                            "' FROM generate_series(1, 5)");
                pause_between_looks();
            }
        } catch (const pqxx::failure &) {
            pause_between_looks();
        }
    }

    std::atomic<bool> stop_{false};
    std::thread thread_;
};

enum class What : std::uint8_t {
    extension,
    number,
    node,     // of pglogical
    registry, // subscribes to the registry of another server
    data,     // subscribes to the rows of another server
    failover,
};

struct Step {
    What what;
    std::size_t on;
    std::size_t from = 0; // the sender of a subscription
    bool copies = true;   // whether a subscription copies what is there
    std::string number = {};
};

using Numbers = std::array<Id, count_of_servers>; // 0: the server makes no IDs

class ChecklistOrders : public testing::Test {
  protected:
    ChecklistOrders() {
        servers_[0] = std::make_unique<Server>(0, settings);
        has_origins_ =
            Session(*servers_[0]).number("SHOW server_version_num") >= first_with_origins;
        by_pglogical_ = !has_origins_ && Mesh::available();
        std::vector<std::string> all_settings = settings;
        if (by_pglogical_)
            all_settings.emplace_back("shared_preload_libraries = 'pglogical'");
        for (auto &server : servers_) {
            server = std::make_unique<Server>(0, all_settings);
            Session session(*server);
            allow_output_plugin(session);
        }
    }

    // Runs a sample. Returns what it did, for the message of a failure.
    void run_sample(unsigned number) {
        Random random = make_random(number);
        database_ = "shop_" + std::to_string(number);
        log_.str("");
        links_ = {};
        // pglogical looks into the other template from time to time.
        for (const auto &server : servers_)
            Session(*server).run("CREATE DATABASE " + database_ + " TEMPLATE template0");
        for (std::size_t i = 0; i < count_of_servers; ++i) {
            logged_before_.at(i) = log_of(i).size();
            start_maker(i);
        }
        const bool fails_over = one_in(random, 4);
        fails_over_later_ = fails_over;
        std::vector<Step> steps = shuffled_steps(random, fails_over);
        std::optional<Step> left_out;
        if (!one_in(random, 4)) {
            const auto which =
                steps.begin() + between(random, 0, static_cast<int>(steps.size()) - 1);
            if (which->what != What::failover) {
                left_out = *which;
                log_ << "left out: " << text_of(*which) << '\n';
                steps.erase(which);
            }
        }
        steps = type(steps, random, left_out ? 0 : seconds_to_arrive);
        if (left_out && (!steps.empty() || !is_connected())) {
            steps.insert(steps.begin(), *left_out);
            steps = type(steps, random, seconds_to_arrive);
        }
        EXPECT_TRUE(steps.empty() && is_connected());
        const Numbers before = numbers_in_registry();
        expect_one_server_a_number(before, fails_over);
        expect_no_equal_ids();
        expect_no_failure_of_replication();
        expect_rows_to_arrive();
        clean_up();
    }

    [[nodiscard]] std::string log() const { return log_.str(); }

    // The databases of samples stay where pglogical is used, and each has a worker of its own: a
    // server has 40.
    [[nodiscard]] int most_samples() const { return by_pglogical_ ? 30 : 1000; }

  private:
    static bool one_in(Random &random, int n) { return between(random, 1, n) == 1; }

    Session on(std::size_t i) const { return Session(*servers_.at(i), database_); }

    void start_maker(std::size_t i) {
        makers_.at(i) = std::make_unique<Maker>(*servers_.at(i), database_, names.at(i));
    }

    static std::string text_of(const Step &step) {
        const std::string copying = step.copies ? "" : " without copying";
        const std::string where = std::string(" on ") + names.at(step.on);
        switch (step.what) {
        case What::extension:
            return "extension" + where;
        case What::number:
            return step.number + where;
        case What::node:
            return "node of pglogical" + where;
        case What::registry:
            return std::string("registry of ") + names.at(step.from) + where + copying;
        case What::data:
            return std::string("rows of ") + names.at(step.from) + where;
        case What::failover:
            break;
        }
        return "failover" + where;
    }

    // Chooses how servers are numbered and linked: as the document says or otherwise.
    std::vector<Step> shuffled_steps(Random &random, bool fails_over) {
        std::vector<Step> steps;
        const int way = between(random, 0, 2);
        for (std::size_t i = 0; i < count_of_servers; ++i) {
            steps.push_back({.what = What::extension, .on = i});
            std::string number = "SELECT snowflake.claim_node(";
            const std::string chosen = std::to_string(between(random, 1, 2));
            if (way == 1)
                number += chosen + ", ";
            number += std::string("name => '") + names.at(i) + "')";
            if (way == 2)
                number = "ALTER DATABASE " + database_ + " SET snowflake.node = " + chosen;
            steps.push_back({.what = What::number, .on = i, .number = number});
            if (by_pglogical_)
                steps.push_back({.what = What::node, .on = i});
        }
        const bool sometimes_copies_nothing = one_in(random, 2);
        const auto hub = static_cast<std::size_t>(between(random, 0, 3));
        for (std::size_t i = 0; i < count_of_servers; ++i)
            for (std::size_t j = 0; j < count_of_servers; ++j) {
                if (i == j || (hub < count_of_servers && i != hub && j != hub))
                    continue; // hub 3: there is none, and each is linked with each
                const bool copies = !sometimes_copies_nothing || one_in(random, 2);
                steps.push_back({.what = What::registry, .on = i, .from = j, .copies = copies});
            }
        if (has_origins_ || by_pglogical_)
            for (std::size_t i = 0; i < count_of_servers; ++i)
                steps.push_back({.what = What::data, .on = i, .from = (i + 1) % count_of_servers});
        if (fails_over)
            steps.push_back({.what = What::failover, .on = south});
        std::shuffle(steps.begin(), steps.end(), random);
        steps_of_south_.clear();
        std::ranges::copy_if(steps, std::back_inserter(steps_of_south_), [](const Step &step) {
            return step.on == south && (step.what == What::extension || step.what == What::number);
        });
        return steps;
    }

    // What a step needs may still be on its way from another server.
    static constexpr int seconds_to_arrive = 30;

    // Types the commands. What is refused is typed again after the others, until nothing has
    // changed for so long. Returns what is left.
    std::vector<Step> type(std::vector<Step> steps, Random &random, int seconds) {
        for (int waited = 0; waited <= seconds && !steps.empty(); ++waited) {
            if (waited > 0)
                std::this_thread::sleep_for(std::chrono::seconds(1));
            bool has_changed = false;
            std::vector<Step> refused;
            for (const Step &step : steps) {
                if (fails_over_later_ && standby_ == nullptr && one_in(random, 3))
                    make_standby_that_lags();
                const bool is_done = take(step, random);
                log_ << text_of(step) << (is_done ? "" : ": refused") << '\n';
                has_changed = has_changed || is_done;
                if (!is_done)
                    refused.push_back(step);
                if (step.what == What::failover)
                    std::ranges::move(lost_, std::back_inserter(refused));
            }
            steps = refused;
            if (has_changed)
                waited = -1;
        }
        return steps;
    }

    bool has_extension(std::size_t i) const {
        return on(i).number("SELECT count(*) FROM pg_extension WHERE extname = 'snowflake'") == 1;
    }

    bool has_spoken(std::size_t i) const {
        return has_extension(i) &&
               on(i).number("SELECT count(*) FROM snowflake.nodes WHERE written_here") != 0;
    }

    bool take(const Step &step, Random &random) {
        try {
            switch (step.what) {
            case What::extension:
                if (!has_extension(step.on))
                    on(step.on).run(
                        "BEGIN; CREATE EXTENSION snowflake; CREATE TABLE orders (id bigint "
                        "DEFAULT snowflake.nextval(), maker text, PRIMARY KEY (id, "
                        "maker)); CREATE PUBLICATION shared FOR TABLE orders; COMMIT");
                return true;
            case What::number:
                claim(step);
                return true;
            case What::node:
                make_node(step.on);
                return true;
            case What::registry:
                return subscribe(step);
            case What::data:
                if (!by_pglogical_)
                    return subscribe(step);
                subscribe_by_pglogical(step);
                return true;
            case What::failover:
                fail_over(random);
                return true;
            }
        } catch (const pqxx::sql_error &error) {
            log_ << error.what();
        }
        return false;
    }

    // Claims as the document says. One who is refused a number does what the hint says.
    void claim(const Step &step) const {
        Session session = on(step.on);
        const std::string state = session.sqlstate(step.number);
        if (state == "55006" || state == "55000")
            session.run("SELECT snowflake.claim_node(name => '" + std::string(names.at(step.on)) +
                        "')");
        else if (state != "00000")
            session.run(step.number);
        else if (step.number.starts_with("ALTER"))
            session.run("SELECT 1 FROM snowflake.cluster");
    }

    void make_node(std::size_t i) const {
        if (on(i).sqlstate("SELECT 1 FROM pglogical.local_node") == "00000")
            return;
        on(i).run("BEGIN; CREATE EXTENSION pglogical; SELECT pglogical.create_node('" +
                  std::string(names.at(i)) + "', '" + servers_.at(i)->conninfo(database_) +
                  "'); SELECT pglogical.replication_set_add_table('default', 'orders'); COMMIT");
    }

    void subscribe_by_pglogical(const Step &step) const {
        const std::string name = subscription(step, "rows", database_);
        Session receiver = on(step.on);
        receiver.run("SELECT pglogical.create_subscription('" + name + "', '" +
                     servers_.at(step.from)->conninfo(database_) +
                     "', forward_origins := '{}', synchronize_data := false)");
        receiver.run("SELECT pglogical.wait_for_subscription_sync_complete('" + name + "')");
    }

    static std::string subscription(const Step &step, const std::string &kind,
                                    const std::string &database) {
        return kind + "_" + names.at(step.on) + "_from_" + names.at(step.from) + "_" + database;
    }

    // Subscribes. A publication that is not there yet, of which the server warns, is waited for.
    bool subscribe(const Step &step) {
        const bool is_of_rows = step.what == What::data;
        const std::string kind = is_of_rows ? "rows" : "nodes";
        const std::string publication = is_of_rows ? "shared" : "snowflake_nodes";
        Session receiver = on(step.on);
        const std::string name = subscription(step, kind, database_);
        const std::string origin =
            is_of_rows ? " WITH (origin = none, copy_data = false)"
                       : std::string(" WITH (copy_data = ") + (step.copies ? "true)" : "false)");
        receiver.run("CREATE SUBSCRIPTION " + name + " CONNECTION '" +
                     servers_.at(step.from)->conninfo(database_) + "' PUBLICATION " + publication +
                     origin);
        if (receiver.number("SELECT count(*) FROM pg_subscription_rel r JOIN pg_subscription s "
                            "ON s.oid = r.srsubid WHERE s.subname = '" +
                            name + "'") == 0) {
            receiver.run("DROP SUBSCRIPTION " + name);
            return false;
        }
        if (kind == "nodes")
            links_.at(step.on).at(step.from) = true;
        return true;
    }

    // Whether what each server says reaches all others.
    [[nodiscard]] bool is_connected() const {
        auto reaches = links_;
        for (std::size_t k = 0; k < count_of_servers; ++k)
            for (std::size_t i = 0; i < count_of_servers; ++i)
                for (std::size_t j = 0; j < count_of_servers; ++j)
                    if (reaches.at(i).at(k) && reaches.at(k).at(j))
                        reaches.at(i).at(j) = true;
        for (std::size_t i = 0; i < count_of_servers; ++i)
            for (std::size_t j = 0; j < count_of_servers; ++j)
                if (i != j && !reaches.at(i).at(j))
                    return false;
        return true;
    }

    // Makes a standby, which receives nothing from now on.
    void make_standby_that_lags() {
        log_ << "standby of south\n";
        const auto launcher =
            FakeClock::available() ? clock_.launcher() : std::vector<std::string>{};
        // A Server cannot be moved into what make_unique would make.
        // NOLINTNEXTLINE(modernize-make-unique)
        standby_.reset(new Server(Server::standby_of(*servers_.at(south), {}, launcher)));
        Session session(*standby_);
        session.run("ALTER SYSTEM SET primary_conninfo = ''");
        session.run("SELECT pg_reload_conf()");
        wait_for(session, "NOT EXISTS (SELECT FROM pg_stat_wal_receiver)");
    }

    // The primary is gone. What subscribed to it subscribes to its successor.
    void fail_over(Random &random) {
        if (standby_ == nullptr)
            make_standby_that_lags();
        fails_over_later_ = false;
        if (FakeClock::available()) {
            const std::chrono::seconds behind{
                std::array{0, 20, 180}.at(static_cast<std::size_t>(between(random, 0, 2)))};
            log_ << "its clock is " << behind.count() << " s behind\n";
            clock_.differ_by(-behind);
        }
        servers_.at(south)->kill_all();
        makers_.at(south).reset();
        standby_->promote();
        servers_.at(south) = std::move(standby_);
        start_maker(south);
        lost_ = has_spoken(south) ? std::vector<Step>{} : steps_of_south_;
        if (by_pglogical_)
            lost_.push_back({.what = What::node, .on = south});
        for (std::size_t i = 0; i < count_of_servers; ++i) {
            if (i == south)
                continue;
            subscribe_anew({.what = What::registry, .on = i, .from = south});
            subscribe_anew({.what = What::registry, .on = south, .from = i});
            if (by_pglogical_)
                forget_node(i);
            else
                subscribe_anew({.what = What::data, .on = i, .from = south});
        }
    }

    // Lets a subscriber of pglogical subscribe to the successor, if it had subscribed to south.
    void forget_node(std::size_t i) {
        const Step step{.what = What::data, .on = i, .from = south};
        const std::string name = subscription(step, "rows", database_);
        Session receiver = on(i);
        if (receiver.sqlstate("SELECT pglogical.alter_subscription_disable('" + name + "')") !=
            "00000")
            return;
        receiver.run("SELECT pglogical.drop_subscription('" + name + "')");
        receiver.run("SELECT pglogical.drop_node('south')");
        lost_.push_back(step);
    }

    // Makes a subscription anew whose slot is lost, if there was one. A successor that lacks the
    // subscription has lost it, and its slot is in the way.
    void subscribe_anew(const Step &step) {
        const std::string kind = step.what == What::data ? "rows" : "nodes";
        const std::string name = subscription(step, kind, database_);
        Session receiver = on(step.on);
        const bool is_linked = kind == "nodes" && links_.at(step.on).at(step.from);
        const bool is_there = receiver.number("SELECT count(*) FROM pg_subscription WHERE subname "
                                              "= '" +
                                              name + "'") != 0;
        if (!is_there && !is_linked)
            return;
        log_ << "anew: " << text_of(step) << '\n';
        if (is_there) {
            receiver.run("ALTER SUBSCRIPTION " + name + " DISABLE");
            receiver.run("ALTER SUBSCRIPTION " + name + " SET (slot_name = NONE)");
            receiver.run("DROP SUBSCRIPTION " + name);
        }
        if (step.from != south) {
            const std::string slot = " FROM pg_replication_slots WHERE slot_name = '" + name + "'";
            wait_for(*servers_.at(step.from), "SELECT count(*)" + slot + " AND active", "0");
            on(step.from).run("SELECT pg_drop_replication_slot(slot_name)" + slot);
        }
        if (kind == "nodes")
            links_.at(step.on).at(step.from) = false;
        try {
            if (subscribe(step))
                return;
        } catch (const pqxx::sql_error &error) {
            log_ << error.what();
        }
        lost_.push_back(step);
    }

    // The number that each server makes IDs with; 0: it makes none.
    Numbers numbers() const {
        Numbers found{};
        for (std::size_t i = 0; i < count_of_servers; ++i) {
            try {
                found.at(i) = on(i).number("SELECT snowflake.node()");
            } catch (const pqxx::sql_error &error) {
                found.at(i) = 0;
            }
        }
        return found;
    }

    // The numbers that the servers have claimed or been given.
    Numbers numbers_in_registry() const {
        Numbers found{};
        for (std::size_t i = 0; i < count_of_servers; ++i) {
            Session session = on(i);
            if (session.sqlstate("SELECT 1 FROM snowflake.cluster") == "00000")
                found.at(i) = session.number("SELECT coalesce((SELECT min(node) FROM "
                                             "snowflake.cluster WHERE is_this_instance), 0)");
        }
        return found;
    }

    static bool are_distinct(const Numbers &numbers) {
        std::set<Id> seen;
        return std::all_of(numbers.begin(), numbers.end(), [&seen](Id number) {
            return number == 0 || seen.insert(number).second;
        });
    }

    // Waits no longer than replication takes until no two servers have one number. A number that
    // was in use is lost by none but the later; a successor that hears its former self may stop.
    void expect_one_server_a_number(const Numbers &before, bool fails_over) const {
        const auto deadline = std::chrono::steady_clock::now() + longest_replication;
        Numbers now = numbers();
        while (!are_distinct(now) && std::chrono::steady_clock::now() < deadline) {
            pause_between_looks();
            now = numbers();
        }
        EXPECT_TRUE(are_distinct(now)) << now[0] << ' ' << now[1] << ' ' << now[2];
        if (fails_over)
            return;
        for (const Id number : before)
            EXPECT_EQ(std::count(now.begin(), now.end(), number) > 0, true) << number;
    }

    // Makes many IDs on all at the same time, and expects none that another has made, too.
    void expect_no_equal_ids() const {
        constexpr int batches = 5;
        std::array<std::vector<Id>, count_of_servers> ids;
        std::vector<std::thread> threads;
        threads.reserve(count_of_servers);
        for (std::size_t i = 0; i < count_of_servers; ++i)
            threads.emplace_back([&, i] {
                Session session = on(i);
                const std::string make = "SELECT snowflake.nextvals('snowflake.id_seq', 20000)";
                for (int batch = 0; batch < batches; ++batch)
                    try {
                        std::ranges::copy(session.numbers(make), std::back_inserter(ids.at(i)));
                    } catch (const pqxx::sql_error &error) {
                        // It has no number, or has lost it.
                        EXPECT_TRUE(sqlstate_of(error).starts_with("55")) << error.what();
                    }
            });
        for (std::thread &thread : threads)
            thread.join();
        std::vector<Id> all;
        for (const auto &some : ids)
            all.insert(all.end(), some.begin(), some.end());
        EXPECT_TRUE(disjoint(all));
    }

    std::string log_of(std::size_t i) const { return read_file(servers_.at(i)->file("log")); }

    // How often another server could not send in this sample. Where a slot begins beside CREATE
    // EXTENSION pglogical, PostgreSQL 15 can fail to read the catalog as it was, and begins again.
    std::int64_t failures_to_send(std::size_t receiver) const {
        const std::string log = log_of(receiver);
        const std::regex failure("could not receive data from WAL stream: ERROR:  could not find "
                                 "pg_class entry");
        // A successor has a log of its own.
        const auto begin =
            log.size() < logged_before_.at(receiver) ? 0 : logged_before_.at(receiver);
        return std::distance(std::sregex_iterator(log.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  log.end(), failure),
                             std::sregex_iterator());
    }

    // The counters of errors have other names in some versions of PostgreSQL.
    void expect_no_failure_of_replication() const {
        for (std::size_t i = 0; i < count_of_servers; ++i)
            EXPECT_LE(on(i).number("SELECT coalesce(sum(counter.value::bigint), 0) FROM "
                                   "pg_stat_subscription_stats s JOIN pg_subscription p ON p.oid = "
                                   "s.subid CROSS JOIN jsonb_each_text(to_jsonb(s)) counter WHERE "
                                   "counter.key LIKE '%\\_error\\_count' AND p.subname LIKE '%" +
                                   database_ + "'"),
                      failures_to_send(i))
                << names.at(i);
    }

    // Inserts a row on each server and waits for it on those that subscribe to its rows.
    void expect_rows_to_arrive() const {
        for (std::size_t i = 0; i < count_of_servers; ++i)
            on(i).run("INSERT INTO orders VALUES (1, 'last of " + std::string(names.at(i)) + "')");
        const std::string table = by_pglogical_ ? "pglogical.subscription WHERE sub_name"
                                                : "pg_subscription WHERE subname";
        for (std::size_t i = 0; i < count_of_servers; ++i) {
            Session session = on(i);
            const Step step{.what = What::data, .on = i, .from = (i + 1) % count_of_servers};
            if (session.number("SELECT count(*) FROM " + table + " = '" +
                               subscription(step, "rows", database_) + "'") != 0)
                wait_for(session, "EXISTS (SELECT FROM orders WHERE maker = 'last of " +
                                      std::string(names.at(step.from)) + "')");
        }
    }

    void clean_up() {
        for (auto &maker : makers_)
            maker.reset();
        for (std::size_t i = 0; i < count_of_servers; ++i) {
            Session session = on(i);
            if (by_pglogical_)
                session.run("SELECT pglogical.drop_subscription(sub_name) FROM "
                            "pglogical.subscription");
            for (const std::string &name :
                 session.texts("SELECT subname FROM pg_subscription s JOIN pg_database d ON d.oid "
                               "= s.subdbid WHERE d.datname = current_database()"))
                session.run("DROP SUBSCRIPTION " + name);
        }
        // DROP DATABASE waits for an answer of all processes, which those of pglogical give only
        // when they look around, after 180 seconds.
        if (!by_pglogical_)
            for (const auto &server : servers_)
                Session(*server).run("DROP DATABASE " + database_ + " WITH (FORCE)");
    }

    static constexpr std::size_t south = 1;

    // The order matters: what uses a clock or a server ends before it.
    TemporaryDirectory directory_of_clock_;
    FakeClock clock_{directory_of_clock_.path()};
    std::array<std::unique_ptr<Server>, count_of_servers> servers_;
    std::unique_ptr<Server> standby_;
    std::array<std::unique_ptr<Maker>, count_of_servers> makers_;
    std::array<std::array<bool, count_of_servers>, count_of_servers> links_{}; // [receiver][sender]
    std::vector<Step> steps_of_south_;
    std::vector<Step> lost_; // by a failover, and to be typed again
    bool has_origins_ = false;
    bool by_pglogical_ = false;
    bool fails_over_later_ = false;
    std::string database_;
    std::array<std::size_t, count_of_servers> logged_before_{}; // how long each log was
    std::ostringstream log_;
};

TEST_F(ChecklistOrders, LeaveOneServerANumber) {
    const int samples = std::min(rounds(16) / 2, most_samples());
    const auto end = std::chrono::steady_clock::now() + samples * std::chrono::seconds(4);
    int done = 0;
    for (; done < samples && std::chrono::steady_clock::now() < end && !HasFailure(); ++done) {
        SCOPED_TRACE("sample " + std::to_string(done));
        run_sample(static_cast<unsigned>(done));
        if (HasFailure())
            ADD_FAILURE() << log();
    }
    std::cout << done << " samples\n";
}

} // namespace
} // namespace integration::checklist_orders_test
