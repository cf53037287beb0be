#include "dump.hpp"

#include "session.hpp"

#include <gtest/gtest.h>
#include <sstream>

namespace integration {

std::filesystem::path dump(const Server &server, const std::string &database, bool custom_format) {
    std::filesystem::path file = server.file(database + (custom_format ? ".custom" : ".sql"));
    server.run_successfully(
        "pg_dump", {"-d", server.conninfo(database), "-f", file, custom_format ? "-Fc" : "-Fp"});
    return file;
}

std::string dump_as_text(const Server &server, const std::string &database) {
    std::istringstream printed(read_file(dump(server, database, false)));
    std::string text;
    for (std::string line; std::getline(printed, line);)
        if (!line.starts_with("\\restrict") && !line.starts_with("\\unrestrict"))
            text += line + '\n';
    return text;
}

void restore(const Server &server, const std::string &database, const std::filesystem::path &file,
             bool custom_format) {
    Session(server).run("CREATE DATABASE " + database + " TEMPLATE template0");
    const std::string target = server.conninfo(database);
    const Output output =
        custom_format
            ? server.run("pg_restore", {"--exit-on-error", "-d", target, file})
            : server.run("psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", target, "-f", file});
    EXPECT_EQ(output.exit_code, 0);
    EXPECT_EQ(output.err, "");
}

} // namespace integration
