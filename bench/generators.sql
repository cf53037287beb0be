-- What makes IDs, and which works it takes part in.

CREATE TABLE bench.generator (
    position integer GENERATED ALWAYS AS IDENTITY,
    name text PRIMARY KEY,
    call text NOT NULL,
    works text[] NOT NULL
);

CREATE SEQUENCE bench.server_1;
CREATE SEQUENCE bench.server_32 CACHE 32;
CREATE SEQUENCE bench.server_256 CACHE 256;
CREATE SEQUENCE bench.snowflake_1;
CREATE SEQUENCE bench.snowflake_32 CACHE 32;
CREATE SEQUENCE bench.snowflake_256 CACHE 256;

INSERT INTO bench.generator (name, call, works) VALUES
    ('nextval', $$nextval('bench.server_1')$$,
     '{generate,sum,wal,sessions,insert,published,join,copy,beside,tpcb,growth}'),
    ('nextval, CACHE 32', $$nextval('bench.server_32')$$, '{generate,sum,wal,sessions,insert}'),
    ('nextval, CACHE 256', $$nextval('bench.server_256')$$, '{generate,wal}'),
    ('snowflake', $$snowflake.nextval('bench.snowflake_1')$$,
     '{generate,sum,wal,sessions,insert,published,join,copy,beside,tpcb,growth}'),
    ('snowflake, CACHE 32', $$snowflake.nextval('bench.snowflake_32')$$,
     '{generate,sum,wal,sessions,insert}'),
    ('snowflake, CACHE 256', $$snowflake.nextval('bench.snowflake_256')$$, '{generate,wal}'),
    ('PL/pgSQL function', 'bench.plpgsql_snowflake()', '{generate,wal,insert}'),
    ('uuid v4', 'gen_random_uuid()', '{generate,insert,published,join,copy,beside,tpcb,growth}'),
    ('clock_timestamp', 'clock_timestamp()', '{generate}');

-- PostgreSQL has it from 18 on.
INSERT INTO bench.generator (name, call, works)
    SELECT 'uuid v7', 'uuidv7()', '{generate,insert,join,copy,beside,tpcb,growth}'
    WHERE to_regprocedure('uuidv7()') IS NOT NULL;

-- A column of a table with the ID as primary key, each row's made by default. It is what bigserial
-- makes of nextval.
CREATE FUNCTION bench.key_column(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    type regtype;
BEGIN
    EXECUTE format('SELECT pg_typeof(%s)', call) INTO type;
    RETURN format('id %s DEFAULT %s PRIMARY KEY', type, call);
END
$$;
