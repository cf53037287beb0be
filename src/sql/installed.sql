-- Records what the script has made, for check() to compare with what is there later. This part therefore stands at
-- the end of the script.

-- The digests of the functions, this one aside; see _digests().
DO $install$
BEGIN
    EXECUTE format('CREATE OR REPLACE FUNCTION snowflake._installed_digests() RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE '
                   'SET search_path = pg_catalog, pg_temp AS %L', format('SELECT jsonb %L', snowflake._digests()));
END
$install$;
