#include "settings.hpp"

#include "pure/claims.hpp"
#include "pure/layout_text.hpp"
#include "server/server.hpp"

namespace snowflake::settings {

namespace {

// A session may load the library in a parallel operation, and has the values of its settings then.
constexpr int flags = GUC_ALLOW_IN_PARALLEL;

constexpr const char *node_name = "snowflake.node";
int node_setting = node_unset;
bool convert_new_columns = false;
char *layout_of_new_columns = nullptr; // read by the event trigger of the extension, in SQL
void (*node_changed)() = nullptr;

void assign_node(int, void *) {
    node_changed();
}

bool check_layout(char **value, void **, GucSource) {
    if (*value == nullptr || **value == '\0')
        return true;
    const ParsedLayout parsed = parse_layout(*value);
    if (!parsed.layout)
        GUC_check_errdetail("%s", explanation(parsed.failure.error));
    return parsed.layout.has_value();
}

const char *this_database() {
    return quote_identifier(get_database_name(MyDatabaseId));
}

// The role that has logged in. Its settings count in this session, whatever role the session has
// taken on since.
const char *this_login() {
    return quote_identifier(GetUserNameFromId(GetAuthenticatedUserId(), false));
}

// Returns what to do where commands change a file, a database or a role. Sessions that begin later
// see the change; this one may not see it, or not at once.
const char *to_run(const char *commands) {
    return psprintf("as a superuser, run: %s; and in a new session: ", commands);
}

const char *to_reset(const char *whose) {
    return to_run(psprintf("ALTER %s RESET %s", whose, node_name));
}

bool is_in_template() {
    HeapTuple tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
    if (!HeapTupleIsValid(tuple))
        return false;
    const bool result = reinterpret_cast<Form_pg_database>(GETSTRUCT(tuple))->datistemplate;
    ReleaseSysCache(tuple);
    return result;
}

} // namespace

int node() {
    return node_setting;
}

bool converts_new_columns() {
    const bool restores = *namespace_search_path == '\0' && !check_function_bodies;
    return convert_new_columns && !restores;
}

int node_for_registry() {
    const GucSource source = server::setting(node_name).source;
    const bool holds_for_others = source > PGC_S_DYNAMIC_DEFAULT && source < PGC_S_CLIENT;
    return holds_for_others && !is_in_template() ? node() : node_unset;
}

const char *how_to_unset_node() {
    if (node() == node_unset)
        return "run: ";
    const config_generic &setting = server::setting(node_name);
    switch (setting.source) {
    case PGC_S_FILE:
    case PGC_S_ARGV:
        // A setting of the database takes precedence, and its command may stand in any
        // transaction; ALTER SYSTEM may not.
        return to_run(psprintf("ALTER DATABASE %s SET %s = 0", this_database(), node_name));
    case PGC_S_GLOBAL:
        return to_reset("ROLE ALL");
    case PGC_S_DATABASE:
        return to_reset(psprintf("DATABASE %s", this_database()));
    case PGC_S_USER:
        return to_reset(psprintf("ROLE %s", this_login()));
    case PGC_S_DATABASE_USER:
        return to_reset(psprintf("ROLE %s IN DATABASE %s", this_login(), this_database()));
    case PGC_S_CLIENT:
        return "connect without snowflake.node among the options of the connection, and then, "
               "as a superuser, run: ";
    default:
        return "as a superuser, run: RESET snowflake.node; ";
    }
}

void init(void (*on_change)()) {
    node_changed = on_change;
    // Only superusers may set it: an instance with another one's number would make the same IDs.
    server::define_setting(node_name, [](const char *name) {
        DefineCustomIntVariable(
            name, "Number of this PostgreSQL instance in its cluster.",
            "Every instance that makes snowflake IDs needs a number of its own. "
            "0 means that none is set, and then no ID is made.",
            &node_setting, node_unset, node_unset, last_claimable_node, PGC_SUSET, flags, nullptr,
            assign_node, nullptr);
    });
    server::define_setting("snowflake.convert_new_columns", [](const char *name) {
        DefineCustomBoolVariable(
            name, "Converts serial and identity columns to snowflake IDs as they are made.",
            "A column that a new foreign key binds to snowflake IDs becomes a bigint.",
            &convert_new_columns, false, PGC_USERSET, flags, nullptr, nullptr, nullptr);
    });
    server::define_setting("snowflake.layout_of_new_columns", [](const char *name) {
        DefineCustomStringVariable(
            name, "Layout of the IDs of columns that snowflake.convert_new_columns converts.",
            "Empty means the default layout.", &layout_of_new_columns, "", PGC_USERSET, flags,
            check_layout, nullptr, nullptr);
    });
    MarkGUCPrefixReserved("snowflake");
}

} // namespace snowflake::settings
