// The commands of pages of docs/ are run from the first to the last, and print what the document
// says, but for IDs.
#include "pgedge.hpp"
#include "process.hpp"
#include "server.hpp"
#include "session.hpp"

#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <ostream>
#include <regex>
#include <sstream>

namespace integration::document_test {
namespace {

struct Example {
    std::string commands;
    std::string output; // empty: the document shows none
};

// The blocks of a language in a page, each with the block behind it, if that shows the output.
// Blocks in the items of a list are indented.
std::vector<Example> examples_of(const std::string &page, const std::string &language) {
    std::vector<Example> examples;
    std::size_t indentation = 0;
    std::istringstream stream(page);
    std::string other; // blocks of other languages
    std::string *block = nullptr;
    bool follows_sql = false;
    for (std::string indented; std::getline(stream, indented);) {
        const std::size_t begin = std::min(indented.find_first_not_of(' '), indented.size());
        const bool is_fence = indented.compare(begin, 3, "```") == 0;
        if (is_fence)
            indentation = begin;
        const std::string line = indented.substr(std::min(indentation, begin));
        if (!is_fence) {
            if (block != nullptr)
                *block += line + '\n';
            else
                follows_sql = false;
        } else if (block != nullptr) {
            block = nullptr;
        } else if (line == "```" + language) {
            block = &examples.emplace_back().commands;
            follows_sql = true;
        } else if (follows_sql) {
            block = &examples.back().output;
            follows_sql = false;
        } else {
            block = &other;
        }
    }
    return examples;
}

// Without what differs from run to run: IDs, and the width that they give their columns.
std::string comparable(const std::string &output) {
    const std::string without_ids = std::regex_replace(output, std::regex("[0-9]{15,}"), "ID");
    return std::regex_replace(std::regex_replace(without_ids, std::regex("-{2,}"), "--"),
                              std::regex(" +"), " ");
}

std::string trimmed(const std::string &text) {
    return std::regex_replace(std::regex_replace(text, std::regex(" *\n"), "\n"),
                              std::regex("\n+$"), "");
}

// A page, and what is there before its first command.
struct Page {
    const char *test;
    const char *name;
    const char *language; // of the blocks that are run
    std::function<void(Session &)> prepare;

    friend std::ostream &operator<<(std::ostream &out, const Page &page) {
        return out << page.name;
    }
};

void create_extension(Session &session) {
    session.run("CREATE EXTENSION snowflake");
}

void create_pgedge(Session &session) {
    pgedge::create_extension(session, "2.4");
    pgedge::make_converted_identity(session, "items", "2.4");
    session.run("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval())");
}

// Rows of version 1.0 cannot be made any more: what its sequence and its table hold is copied.
void create_pgedge_1_0(Session &session) {
    pgedge::create_extension(session, "1.0");
    session.run("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval(),"
                " maker text);"
                "INSERT INTO orders VALUES (514645000000000000, 'old');"
                "SELECT setval('snowflake.id_seq', 514645000000000000)");
}

// Loads the other extensions that a page uses. Returns one that is not installed; empty: none.
std::string load_others(Server &server, const std::string &page) {
    std::vector<std::string> extensions;
    if (page == "partitions")
        extensions = {"pg_partman", "pg_cron"};
    else if (page == "security")
        extensions = {"pgcrypto"};
    for (const std::string &extension : extensions) {
        const std::string look =
            "SELECT name FROM pg_available_extensions WHERE name = '" + extension + "'";
        if (Session(server).texts(look).empty())
            return extension;
    }
    if (page != "partitions")
        return "";
    server.configure({"shared_preload_libraries = pg_cron"});
    server.stop();
    server.start();
    return "";
}

// Does with the commands of a page what the page tells those who have an older extension.
std::string for_installed_extensions(Server &server, const std::string &page) {
    const bool has_partman_4 = !Session(server)
                                    .texts("SELECT name FROM pg_available_extensions"
                                           " WHERE name = 'pg_partman' AND default_version ~ '^4'")
                                    .empty();
    return has_partman_4
               ? std::regex_replace(page, std::regex("p_type => 'range'"), "p_type => 'native'")
               : page;
}

class Document : public testing::TestWithParam<Page> {};

TEST_P(Document, ItsCommandsPrintWhatItSays) {
    Server server(1, {"fsync = off"});
    if (const std::string missing = load_others(server, GetParam().name); !missing.empty())
        GTEST_SKIP() << missing << " is not installed";
    {
        Session session(server);
        GetParam().prepare(session);
    }
    const std::string page = read_document(GetParam().name);
    const std::vector<Example> examples =
        examples_of(for_installed_extensions(server, page), GetParam().language);
    ASSERT_GE(examples.size(), 2U);
    for (const Example &example : examples) {
        SCOPED_TRACE(example.commands);
        const std::filesystem::path script = server.file("example.sql");
        std::ofstream(script) << example.commands;
        const Output output =
            server.run("psql", {"-X", "-q", "-d", server.conninfo(), "-f", script});
        // psql says in which line of the script an error is.
        const std::string messages = std::regex_replace(output.err, std::regex("psql:[^ ]*: "), "");
        if (example.output.empty())
            EXPECT_EQ(messages, "");
        else
            EXPECT_EQ(trimmed(comparable(example.output)),
                      trimmed(comparable(messages + output.out)));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Pages, Document,
    testing::Values(Page{"converting", "converting", "sql", create_extension},
                    Page{"bigint", "bigint", "sql", create_extension},
                    Page{"converting_online", "converting-online", "sql", create_extension},
                    Page{"clients", "clients", "sql", [](Session &) {}},
                    Page{"layouts", "layouts", "sql", create_extension},
                    Page{"security", "security", "sql", create_extension},
                    Page{"upgrading", "upgrading", "sql", create_extension},
                    Page{"polling", "polling", "sql", create_extension},
                    Page{"partitions", "partitions", "sql", create_extension},
                    Page{"time", "time", "sql", create_extension},
                    Page{"from_pgedge", "from-pgedge", "sql", create_pgedge},
                    Page{"from_pgedge_1_0", "from-pgedge", "sql 1.0", create_pgedge_1_0}),
    [](const auto &instance) { return std::string(instance.param.test); });

} // namespace
} // namespace integration::document_test
