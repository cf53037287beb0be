// The commands of some pages in docs/ are run from the first to the last, and print what the
// document says, but for IDs.
#include "process.hpp"
#include "server.hpp"
#include "session.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

namespace integration::document_test {
namespace {

struct Example {
    std::string commands;
    std::string output; // empty: the document shows none
};

// The blocks of SQL in a page, each with the block behind it, if that shows the output.
std::vector<Example> examples_of(const std::string &page) {
    std::vector<Example> examples;
    std::istringstream stream(page);
    std::string other; // blocks of other languages
    std::string *block = nullptr;
    bool follows_sql = false;
    for (std::string line; std::getline(stream, line);) {
        if (line.rfind("```", 0) != 0) {
            if (block != nullptr)
                *block += line + '\n';
            else
                follows_sql = false;
        } else if (block != nullptr) {
            block = nullptr;
        } else if (line == "```sql") {
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

// Loads the other extensions that a page uses. Returns one that is not installed; empty: none.
std::string load_others(Server &server, const std::string &page) {
    if (page != "partitions")
        return "";
    for (const char *extension : {"pg_partman", "pg_cron"}) {
        const std::string look =
            std::string("SELECT name FROM pg_available_extensions WHERE name = '") + extension +
            "'";
        if (Session(server).texts(look).empty())
            return extension;
    }
    server.configure({"shared_preload_libraries = pg_cron"});
    server.stop();
    server.start();
    return "";
}

class Document : public testing::TestWithParam<const char *> {};

TEST_P(Document, ItsCommandsPrintWhatItSays) {
    Server server(1, {"fsync = off"});
    if (const std::string missing = load_others(server, GetParam()); !missing.empty())
        GTEST_SKIP() << missing << " is not installed";
    Session(server).run("CREATE EXTENSION snowflake");
    const std::vector<Example> examples =
        examples_of(read_file(std::string(DOCUMENTS "/") + GetParam() + ".md"));
    ASSERT_GE(examples.size(), 4U);
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

INSTANTIATE_TEST_SUITE_P(Pages, Document,
                         testing::Values("converting", "clients", "polling", "partitions"),
                         [](const auto &instance) { return std::string(instance.param); });

} // namespace
} // namespace integration::document_test
