// Dumping databases and restoring the dumps.
#pragma once

#include "server.hpp"

#include <filesystem>
#include <string>

namespace integration {

// Dumps a database into a file of the server's directory, as a script or in pg_restore's format.
std::filesystem::path dump(const Server &server, const std::string &database, bool custom_format);

// The database as pg_dump prints it, but for the lines that hold a new random key each time.
std::string dump_as_text(const Server &server, const std::string &database);

// Restores a dump into a new database; the test fails where that is not without any message.
void restore(const Server &server, const std::string &database, const std::filesystem::path &file,
             bool custom_format);

} // namespace integration
