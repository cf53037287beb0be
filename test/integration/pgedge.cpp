// The SQL objects of the extension, and what its conversion leaves behind.
#include "pgedge.hpp"

namespace integration::pgedge {

namespace {

bool has_conversion(const std::string &version) {
    return version >= "2";
}

bool leaves_max_value(const std::string &version) {
    return version < "2.5";
}

constexpr const char *objects =
    "CREATE SCHEMA snowflake;"
    "GRANT USAGE ON SCHEMA snowflake TO PUBLIC;"
    "CREATE SEQUENCE snowflake.id_seq;"
    "GRANT USAGE ON SEQUENCE snowflake.id_seq TO PUBLIC;"
    "CREATE FUNCTION snowflake.nextval(regclass DEFAULT 'snowflake.id_seq'::regclass)"
    "  RETURNS bigint LANGUAGE c VOLATILE AS '$libdir/snowflake', 'snowflake_nextval';"
    "CREATE FUNCTION snowflake.currval(regclass DEFAULT 'snowflake.id_seq'::regclass)"
    "  RETURNS bigint LANGUAGE c VOLATILE AS '$libdir/snowflake', 'snowflake_currval';"
    "CREATE FUNCTION snowflake.get_epoch(int8)"
    "  RETURNS numeric LANGUAGE c VOLATILE AS '$libdir/snowflake', 'snowflake_get_epoch';"
    "CREATE FUNCTION snowflake.get_count(int8)"
    "  RETURNS integer LANGUAGE c VOLATILE AS '$libdir/snowflake', 'snowflake_get_count';"
    "CREATE FUNCTION snowflake.get_node(int8)"
    "  RETURNS integer LANGUAGE c VOLATILE AS '$libdir/snowflake', 'snowflake_get_node';"
    "CREATE FUNCTION snowflake.format(int8) RETURNS jsonb LANGUAGE sql AS"
    "  'SELECT jsonb_build_object(''id'', snowflake.get_node($1),"
    "     ''ts'', to_timestamp(snowflake.get_epoch($1)), ''count'', snowflake.get_count($1))"
    "   WHERE $1 IS NOT NULL';"
    "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA snowflake TO PUBLIC";

constexpr const char *conversion_functions =
    "CREATE FUNCTION snowflake.convert_column_to_int8(regclass, smallint)"
    "  RETURNS boolean LANGUAGE sql AS 'SELECT true';"
    "CREATE FUNCTION snowflake.convert_sequence_to_snowflake(p_seqid regclass)"
    "  RETURNS boolean LANGUAGE sql AS 'SELECT true'";

// CREATE EXTENSION would read a file of the installation, which tests leave alone. As after that
// command, the rights that are there count as the initial ones; those on the schema are noted here.
constexpr const char *adopt_objects =
    "INSERT INTO pg_extension SELECT pg_nextoid('pg_extension', 'oid', 'pg_extension_oid_index'),"
    "  'snowflake', current_user::regrole, 'snowflake'::regnamespace, false, '1.0', NULL, NULL;"
    "INSERT INTO pg_depend SELECT 'pg_extension'::regclass, oid, 0, 'pg_namespace'::regclass,"
    "  extnamespace, 0, 'n' FROM pg_extension WHERE extname = 'snowflake';"
    "ALTER EXTENSION snowflake ADD SEQUENCE snowflake.id_seq;"
    "DO $$DECLARE function regprocedure; BEGIN"
    "  FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = 'snowflake'::regnamespace LOOP"
    "    EXECUTE format('ALTER EXTENSION snowflake ADD FUNCTION %s', function);"
    "  END LOOP; END$$;"
    "INSERT INTO pg_init_privs SELECT oid, 'pg_namespace'::regclass, 0, 'e', nspacl"
    "  FROM pg_namespace WHERE nspname = 'snowflake'";

} // namespace

void create_extension(Session &session, const std::string &version) {
    session.run("BEGIN");
    session.run(objects);
    if (has_conversion(version))
        session.run(conversion_functions);
    session.run(adopt_objects);
    session.run("UPDATE pg_extension SET extversion = '" + version +
                "' WHERE extname = 'snowflake'");
    session.run("COMMIT");
}

void make_converted_identity(Session &session, const std::string &table,
                             const std::string &version) {
    session.run("CREATE TABLE " + table +
                " (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, item text);"
                "INSERT INTO " +
                table + " (item) SELECT 'old' FROM generate_series(1, 10)");
    session.run("UPDATE pg_attribute SET attidentity = '' WHERE attname = 'id'"
                " AND attrelid = '" +
                table +
                "'::regclass;"
                "ALTER TABLE " +
                table + " ALTER COLUMN id SET DEFAULT snowflake.nextval('" + table + "_id_seq')");
    session.run("SELECT snowflake.nextval('" + table + "_id_seq')");
    if (leaves_max_value(version))
        leave_max_value(session, table + "_id_seq", 11);
}

void leave_max_value(Session &session, const std::string &sequence, int max_value) {
    session.run("UPDATE pg_sequence SET seqmax = " + std::to_string(max_value) +
                " WHERE seqrelid = '" + sequence + "'::regclass");
}

} // namespace integration::pgedge
