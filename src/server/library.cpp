#include "library.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

namespace snowflake::library {

TimestampTz installed_at() {
    static const char within = 0; // an address in the library
    Dl_info file{};
    struct stat status {};
    if (dladdr(&within, &file) == 0 || stat(file.dli_fname, &status) != 0)
        elog(ERROR, "could not find the file of the library");
    return status.st_ctim.tv_sec * USECS_PER_SEC + status.st_ctim.tv_nsec / 1000 -
           server::unix_to_server_us;
}

} // namespace snowflake::library
