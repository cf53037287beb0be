#include "server_place.hpp"

#include "server/server.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace snowflake::server_place {

namespace {

// Reads the first characters of what systemd calls the machine's identity. A virtual machine that
// was cloned with its host name has another one. Returns an empty text where there is none.
const char *machine() {
    constexpr int length = 8;
    char *text = static_cast<char *>(palloc0(length + 1));
    if (const int file = OpenTransientFile("/etc/machine-id", O_RDONLY); file >= 0) {
        if (read(file, text, length) != length)
            text[0] = '\0';
        CloseTransientFile(file);
    }
    return text;
}

// Returns the number of a file that every copy of a data directory has made anew.
unsigned long long number_of_control_file() {
    struct stat status {};
    const char *path = psprintf("%s/global/pg_control", DataDir);
    return stat(path, &status) == 0 ? static_cast<unsigned long long>(status.st_ino) : 0;
}

} // namespace

const char *host() {
    constexpr int longest = 255;
    char *name = static_cast<char *>(palloc0(longest + 1));
    (void)gethostname(name, longest);
    return server::clean_ascii(name);
}

// A promotion and a restore to a point in time begin a timeline. The control file shows it only
// after a checkpoint.
const char *here() {
    const TimeLineID timeline = RecoveryInProgress() ? 0 : GetWALInsertionTimeLine();
    const std::uint64_t files =
        number_of(psprintf("%s:%s#%llu", machine(), DataDir, number_of_control_file()));
    return psprintf("%s#%08x@%u", host(), static_cast<unsigned>(files), timeline);
}

std::uint64_t number_of(const char *place) {
    return DatumGetUInt64(hash_any_extended(reinterpret_cast<const unsigned char *>(place),
                                            static_cast<int>(strlen(place)), 0));
}

} // namespace snowflake::server_place
