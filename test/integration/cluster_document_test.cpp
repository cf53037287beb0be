// The checklists of docs/cluster.md and the pages beside it, typed as they stand there.
//
// A block of SQL that begins with "-- on north" is run by psql on the server north; a block of
// shell is run once; the block of output that follows must be what psql shows, at last. Meanwhile a
// client writes on the server that has the data. In the end all servers have the same rows.
#include "ids.hpp"
#include "mesh.hpp"
#include "process.hpp"
#include "registry.hpp"
#include "server.hpp"
#include "session.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <thread>

namespace integration::cluster_document_test {
namespace {

// A fenced block of the document, without its indentation.
struct Block {
    std::string language; // empty: output
    std::string text;
    bool follows = false; // the block before, with nothing but blank lines between
};

std::string without_indentation(const std::string &line, std::size_t indentation) {
    return line.size() >= indentation ? line.substr(indentation) : std::string();
}

// Reads the blocks of a page that stand under this heading.
std::vector<Block> blocks_of(const std::string &page, const std::string &heading) {
    std::istringstream document(read_document(page));
    std::vector<Block> blocks;
    std::optional<Block> open;
    std::size_t indentation = 0;
    bool in_section = false;
    bool follows = false;
    for (std::string line; std::getline(document, line);) {
        const std::size_t begin = line.find_first_not_of(' ');
        const bool is_fence = begin != std::string::npos && line.compare(begin, 3, "```") == 0;
        if (!open && line.starts_with('#'))
            in_section = line.substr(line.find(' ') + 1) == heading;
        if (!in_section)
            continue;
        if (is_fence && !open) {
            indentation = begin;
            open = Block{.language = line.substr(begin + 3), .text = "", .follows = follows};
        } else if (is_fence) {
            blocks.push_back(*open);
            open.reset();
            follows = true;
        } else if (open) {
            open->text += without_indentation(line, indentation) + '\n';
        } else if (begin != std::string::npos) {
            follows = false;
        }
    }
    if (blocks.empty())
        throw std::logic_error("the document has no commands under " + heading);
    return blocks;
}

// Whether psql has shown what the document shows. <a number> stands for any.
bool is_shown(const std::string &expected, const std::string &shown) {
    std::istringstream expected_lines(expected);
    std::istringstream shown_lines(shown);
    std::string want;
    std::string have;
    const auto next = [](std::istringstream &lines, std::string &line) {
        while (std::getline(lines, line))
            if (line.find_first_not_of(' ') != std::string::npos)
                return true;
        return false;
    };
    while (next(expected_lines, want)) {
        if (!next(shown_lines, have))
            return false;
        const bool is_number = want.find("<a number>") != std::string::npos;
        if (is_number ? !std::regex_match(have, std::regex(" *[0-9]+")) : want != have)
            return false;
    }
    return !next(shown_lines, have);
}

// A client that inserts rows until it is told to stop.
class Writer {
  public:
    explicit Writer(const Server &server)
        : session_(server, "shop"), thread_([this] {
              while (!stop_) {
                  session_.run("INSERT INTO orders (item) VALUES ('apple')");
                  pause_between_looks();
              }
          }) {}
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;
    Writer(Writer &&) = delete;
    Writer &operator=(Writer &&) = delete;
    ~Writer() {
        stop_ = true;
        thread_.join();
    }

  private:
    Session session_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

class ClusterDocument : public testing::Test {
  protected:
    // Types the commands of a section.
    void type(const std::string &heading, const std::string &page = "cluster") {
        const std::vector<Block> blocks = blocks_of(page, heading);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const Block &block = blocks[i];
            const bool shows =
                i + 1 < blocks.size() && blocks[i + 1].follows && blocks[i + 1].language.empty();
            const std::string expected = shows ? blocks[i + 1].text : "";
            if (block.language == "sh")
                run_in_shell(block.text);
            else if (block.language == "sql")
                run_on_servers(block.text, expected);
            if (HasFatalFailure())
                return;
        }
    }

    void add(const std::string &name, std::vector<std::string> more = {}) {
        std::vector<std::string> settings = {"wal_level = logical",
                                             "max_worker_processes = 32",
                                             "max_logical_replication_workers = 8",
                                             "wal_receiver_status_interval = 1s",
                                             "wal_retrieve_retry_interval = 100ms",
                                             "fsync = off"};
        settings.insert(settings.end(), more.begin(), more.end());
        servers_[name] = std::make_unique<Server>(0, settings);
        Session(server(name)).run("CREATE DATABASE shop");
    }

    void add_with_data(const std::string &name, const std::vector<std::string> &more = {}) {
        add(name, more);
        Session session(server(name), "shop");
        session.run("CREATE EXTENSION snowflake");
        session.run("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), item "
                    "text)");
        session.run("SELECT snowflake.claim_node(1, 'north')");
        session.run("INSERT INTO orders (item) SELECT 'apple' FROM generate_series(1, 1000)");
    }

    const Server &server(const std::string &name) { return *servers_.at(name); }

    // Writes on all servers at once, and waits until all have the same rows.
    void expect_the_same_rows(const std::vector<std::string> &names) {
        const std::string insert =
            "INSERT INTO orders (item) SELECT 'pear' FROM generate_series(1, 20000)";
        std::vector<std::thread> threads;
        threads.reserve(names.size());
        const Id before =
            Session(server(names.front()), "shop").number("SELECT count(*) FROM orders");
        for (const std::string &name : names)
            threads.emplace_back([&, name] { Session(server(name), "shop").run(insert); });
        for (std::thread &thread : threads)
            thread.join();
        const Id rows = before + 20000 * static_cast<Id>(names.size());
        for (const std::string &name : names) {
            Session session(server(name), "shop");
            wait_for(session, "(SELECT count(*) FROM orders) >= " + std::to_string(rows));
            EXPECT_EQ(session.number("SELECT count(*) FROM orders"), rows) << name;
            EXPECT_EQ(session.number("SELECT count(DISTINCT snowflake.get_node(id)) FROM orders"),
                      static_cast<Id>(names.size()));
        }
    }

    // Whether data is replicated before the registries, so that the server warns of claims that it
    // does not receive.
    bool receives_data_first_ = false;             // NOLINT(*-non-private-member-variables*)
    std::map<std::string, std::unique_ptr<Server>> // NOLINT(*-non-private-member-variables*)
        servers_;

  private:
    // Puts the servers of the test in the place of those that the document names.
    std::string with_servers(std::string text) {
        for (const auto &[name, server] : servers_) {
            const std::string conninfo = server->conninfo("shop");
            const std::regex named(std::string("host=").append(name).append(" dbname=shop"));
            text = std::regex_replace(text, named, conninfo);
            const std::regex option(std::string("-h ").append(name).append("( |$)"));
            text = std::regex_replace(text, option,
                                      std::string("-h ")
                                          .append(server->file("").string())
                                          .append(" -p 5432 -U postgres "));
        }
        return std::regex_replace(text, std::regex("0/1A2B3C8"), position_);
    }

    void run_in_shell(const std::string &text) {
        const std::string command = "set -e; PATH=" + servers_.begin()->second->programs() +
                                    ":$PATH; (" + with_servers(text) + ") > /dev/null";
        ASSERT_EQ(std::system(command.c_str()), 0) << text; // NOLINT(cert-env33-c)
    }

    Output run_on(const std::string &name, const std::string &text, const std::string &format) {
        const std::filesystem::path file = server(name).file("typed.sql");
        std::ofstream(file) << with_servers(text);
        return server(name).run("psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", format, "-d",
                                         server(name).conninfo("shop"), "-f", file});
    }

    void run_on_servers(const std::string &text, const std::string &expected) {
        std::smatch found;
        const std::string first_line = text.substr(0, text.find('\n'));
        if (!std::regex_match(first_line, std::regex("-- on .*")))
            return; // shown, not typed
        const std::regex word("[a-z]+");
        for (std::sregex_iterator i(first_line.begin() + 5, first_line.end(), word), end; i != end;
             ++i)
            if (const std::string name = i->str(); name != "and")
                run_on_server(name, text, expected);
    }

    void run_on_server(const std::string &name, const std::string &text,
                       const std::string &expected) {
        SCOPED_TRACE("on " + name + ":\n" + text);
        if (!servers_.contains(name))
            prepare(name);
        if (text.find("name = 'lost'") != std::string::npos)
            Session(server(name), "shop").run(arrival(9, "lost"));
        const bool is_query = text.find("\nSELECT") == text.find('\n') &&
                              text.find("release_node") == std::string::npos &&
                              text.find("remove_node") == std::string::npos &&
                              text.find("separate_copy") == std::string::npos;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
        for (;;) {
            const Output output = run_on(name, text, "--pset=border=1");
            ASSERT_EQ(output.exit_code, 0) << output.err;
            EXPECT_TRUE(receives_data_first_ ||
                        output.err.find("WARNING:  this server receives") == std::string::npos)
                << output.err;
            if (expected.empty() || is_shown(expected, output.out))
                break;
            const bool may_wait = is_query && std::chrono::steady_clock::now() < deadline;
            ASSERT_TRUE(may_wait) << "expected:\n" << expected << "shown:\n" << output.out;
            pause_between_looks();
        }
        if (text.find("SELECT remote_lsn") != std::string::npos)
            read_position(name, text);
    }

    void read_position(const std::string &name, const std::string &text) {
        const std::string shown = run_on(name, text, "-At").out;
        position_ = shown.substr(0, shown.find('\n'));
        ASSERT_FALSE(position_.empty());
    }

  protected:
    // Makes a server that the document names for the first time.
    virtual void prepare(const std::string &name) { FAIL() << "there is no server " << name; }

  private:
    std::string position_;
};

class BothWays : public ClusterDocument {
  protected:
    void prepare(const std::string &name) override {
        ASSERT_EQ(name, "west");
        add(name);
    }
};

TEST_F(BothWays, ByNativeReplication) {
    add_with_data("north");
    if (Session(server("north")).number("SHOW server_version_num") < 160000)
        GTEST_SKIP() << "subscriptions have no origin before PostgreSQL 16";
    add("south");
    {
        const Writer writer(server("north"));
        ASSERT_NO_FATAL_FAILURE(type("Link the registries"));
        ASSERT_NO_FATAL_FAILURE(type("Replicate the data natively"));
        ASSERT_NO_FATAL_FAILURE(
            type("A further server, while the others write", "further-servers"));
        ASSERT_NO_FATAL_FAILURE(type("By native replication", "further-servers"));
        ASSERT_NO_FATAL_FAILURE(type("Alert"));
    }
    expect_the_same_rows({"north", "south", "west"});
}

TEST_F(BothWays, ByPglogical) {
    if (!Mesh::available())
        GTEST_SKIP() << "pglogical is not installed for this version of PostgreSQL";
    const std::vector<std::string> preload = {"shared_preload_libraries = 'pglogical'"};
    add_with_data("north", preload);
    add("south", preload);
    for (const char *name : {"north", "south"}) {
        Session session(server(name));
        allow_output_plugin(session);
    }
    {
        const Writer writer(server("north"));
        ASSERT_NO_FATAL_FAILURE(type("Link the registries"));
        ASSERT_NO_FATAL_FAILURE(type("Replicate the data by pglogical"));
    }
    expect_the_same_rows({"north", "south"});
}

TEST_F(ClusterDocument, OneWay) {
    add_with_data("north");
    add("south");
    const Writer writer(server("north"));
    ASSERT_NO_FATAL_FAILURE(type("Link the registries"));
    ASSERT_NO_FATAL_FAILURE(type("Replicate one way"));
    ASSERT_NO_FATAL_FAILURE(type("Alert"));
}

TEST_F(ClusterDocument, OneWayWithSequences) {
    add_with_data("north");
    if (Session(server("north")).number("SHOW server_version_num") < 190000)
        GTEST_SKIP() << "publications have no sequences before PostgreSQL 19";
    add("south");
    ASSERT_NO_FATAL_FAILURE(type("Link the registries"));
    ASSERT_NO_FATAL_FAILURE(type("Replicate one way"));
    ASSERT_NO_FATAL_FAILURE(type("Published sequences", "converting-clusters"));
    const std::string last_value = "SELECT last_value FROM snowflake.id_seq";
    EXPECT_EQ(Session(server("south"), "shop").number(last_value),
              Session(server("north"), "shop").number(last_value));
}

// Two servers that have ordinary sequences, and replicate to each other.
class Replicating : public ClusterDocument {
  protected:
    void join_with_ordinary_sequences() {
        receives_data_first_ = true;
        for (const std::string name : {"north", "south"}) {
            Session session(server(name), "shop");
            session.run("CREATE TABLE orders (id bigserial PRIMARY KEY, item text)");
            session.run("ALTER SEQUENCE orders_id_seq INCREMENT BY 2 RESTART WITH " +
                        std::string(name == "north" ? "1" : "2"));
            session.run("CREATE PUBLICATION shared FOR TABLE orders");
        }
        for (const auto &[receiver, sender] :
             {std::pair{"north", "south"}, std::pair{"south", "north"}})
            Session(server(receiver), "shop")
                .run(std::string("CREATE SUBSCRIPTION ") + receiver + "_from_" + sender +
                     " CONNECTION '" + server(sender).conninfo("shop") +
                     "' PUBLICATION shared WITH (origin = none, copy_data = false)");
    }

    // Inserts on both, and expects the same rows on both.
    void expect_to_go_on() {
        Id rows = 0;
        for (const std::string name : {"north", "south"})
            Session(server(name), "shop")
                .run("INSERT INTO orders (item) SELECT 'pear' FROM generate_series(1, 5000)");
        for (const std::string name : {"north", "south"}) {
            Session session(server(name), "shop");
            wait_for(session, "(SELECT count(*) FROM orders WHERE item = 'pear') % 10000 = 0");
            const Id here = session.number("SELECT count(*) FROM orders");
            EXPECT_EQ(here, rows == 0 ? here : rows);
            rows = here;
            EXPECT_EQ(session.number("SELECT sum(apply_error_count) FROM "
                                     "pg_stat_subscription_stats"),
                      0);
        }
    }
};

TEST_F(Replicating, AreConvertedWhileTheyWriteAndConvertedBack) {
    add("north");
    if (Session(server("north")).number("SHOW server_version_num") < 160000)
        GTEST_SKIP() << "subscriptions have no origin before PostgreSQL 16";
    add("south");
    join_with_ordinary_sequences();
    {
        const Writer on_north(server("north"));
        const Writer on_south(server("south"));
        ASSERT_NO_FATAL_FAILURE(type("Link the registries"));
        ASSERT_NO_FATAL_FAILURE(
            type("Converting a cluster that replicates already", "converting-clusters"));
    }
    expect_to_go_on();
    EXPECT_EQ(Session(server("north"), "shop")
                  .number("SELECT count(DISTINCT snowflake.get_node(id)) FROM orders WHERE item = "
                          "'pear'"),
              2);
    ASSERT_NO_FATAL_FAILURE(type("Uninstalling from a cluster", "converting-clusters"));
    expect_to_go_on();
}

class Copied : public ClusterDocument {
  protected:
    void prepare(const std::string &name) override {
        ASSERT_EQ(name, "copy");
        // NOLINTNEXTLINE(modernize-make-unique): a server cannot be moved
        servers_["copy"] = std::unique_ptr<Server>(new Server(Server::copy_of(server("north"))));
    }
};

TEST_F(Copied, BesideTheOriginal) {
    add_with_data("north");
    ASSERT_NO_FATAL_FAILURE(type("A physical copy beside the original"));
    Session original(server("north"), "shop");
    Session copy(server("copy"), "shop");
    EXPECT_EQ(original.number("SELECT snowflake.node()"), 1);
    EXPECT_NE(copy.number("SELECT snowflake.node()"), 1);
}

class Restored : public ClusterDocument {
  protected:
    void prepare(const std::string &name) override {
        ASSERT_EQ(name, "restored");
        add(name);
        Session(server(name)).run("DROP DATABASE shop");
        const Server &north = server("north");
        Session(north).run("ALTER DATABASE shop SET snowflake.node = 1");
        north.run_successfully("pg_dump",
                               {"-C", "-d", north.conninfo("shop"), "-f", north.file("shop.sql")});
        server(name).run_successfully("psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d",
                                               server(name).conninfo("postgres"), "-f",
                                               north.file("shop.sql")});
    }
};

TEST_F(Restored, FromADump) {
    add_with_data("north");
    ASSERT_NO_FATAL_FAILURE(type("A dump with a setting"));
    EXPECT_NE(Session(server("restored"), "shop").number("SELECT snowflake.node()"), 1);
}

class Upgraded : public ClusterDocument {
  protected:
    // The same major version stands for the next one; the claim is as an earlier one wrote it.
    void prepare(const std::string &name) override {
        ASSERT_EQ(name, "upgraded");
        Server &north = *servers_.at("north");
        {
            Session session(north, "shop");
            session.run("CREATE PUBLICATION shared FOR TABLE orders");
            age_acts(session);
        }
        north.stop();
        auto upgraded = std::make_unique<Server>(0, std::vector<std::string>{"fsync = off"});
        upgraded->upgrade_from(north);
        // Nothing that it says brings back the number, which its former self may have.
        Session(*upgraded, "shop").run("SELECT snowflake._exchange_claims()");
        for (const char *command : {"SELECT snowflake.node()", "SELECT snowflake.claim_node()",
                                    "SET snowflake.node = 1; SELECT snowflake.node()"}) {
            EXPECT_EQ(Session(*upgraded, "shop").sqlstate(command), "55000");
            const Output output =
                upgraded->run("psql", {"-X", "-d", upgraded->conninfo("shop"), "-c", command});
            EXPECT_NE(output.err.find("SELECT snowflake.take_over_node();"), std::string::npos)
                << output.err;
        }
        servers_[name] = std::move(upgraded);
    }
};

TEST_F(Upgraded, KeepsItsNumber) {
    add_with_data("north");
    Id last = Session(server("north"), "shop").number("SELECT max(id) FROM orders");
    ASSERT_NO_FATAL_FAILURE(type("pg_upgrade"));
    Session session(server("upgraded"), "shop");
    EXPECT_EQ(session.number("SELECT snowflake.node()"), 1);
    EXPECT_EQ(session.number("SELECT count(*) FROM snowflake.cluster WHERE is_this_instance"), 1);
    EXPECT_GT(session.number("INSERT INTO orders DEFAULT VALUES RETURNING id"), last);
}

TEST_F(ClusterDocument, Leaving) {
    add_with_data("north");
    add("south");
    Session south(server("south"), "shop");
    south.run("CREATE EXTENSION snowflake");
    south.run("SELECT snowflake.claim_node(2, 'south')");
    Session north(server("north"), "shop");
    north.run("CREATE SUBSCRIPTION registry CONNECTION '" + server("south").conninfo("shop") +
              "' PUBLICATION snowflake_nodes");
    wait_for(north, "(SELECT count(*) FROM snowflake.cluster) = 2");
    ASSERT_NO_FATAL_FAILURE(type("Leaving"));
    ASSERT_NO_FATAL_FAILURE(type("Lost for good"));
    EXPECT_EQ(north.text("SELECT string_agg(name, ' ') FROM snowflake.cluster"), "north");
}

} // namespace
} // namespace integration::cluster_document_test
