-- A snowflake function in PL/pgSQL, of the kind that is pasted from one schema to the next: the
-- time from the clock, the counter from a sequence modulo its width. It looks up nothing that it
-- could know, so it is about as fast as they get.

CREATE SEQUENCE bench.plpgsql_counter;

CREATE FUNCTION bench.plpgsql_snowflake() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    epoch_ms CONSTANT bigint := 1672531200000;
    node CONSTANT bigint := 1;
    now_ms bigint;
BEGIN
    now_ms := extract(epoch FROM clock_timestamp()) * 1000;
    RETURN ((now_ms - epoch_ms) << 22) | (node << 12)
           | (nextval('bench.plpgsql_counter') & 4095);
END
$$;
