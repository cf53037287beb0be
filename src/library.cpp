#include "library.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

namespace snowflake::library {

TimestampTz installed_at() {
    static const char within = 0; // an address in the library
    Dl_info file{};
    struct stat status {};
    if (dladdr(&within, &file) == 0)
        elog(ERROR, "could not find the file of the library: %s", dlerror());
    if (stat(file.dli_fname, &status) != 0)
        ereport(ERROR, errcode_for_file_access(),
                errmsg("could not stat file \"%s\": %m", file.dli_fname));
    return status.st_ctim.tv_sec * USECS_PER_SEC + status.st_ctim.tv_nsec / 1000 -
           server::unix_to_server_us;
}

} // namespace snowflake::library
