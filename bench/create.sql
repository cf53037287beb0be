-- CREATE TABLE, without and with the setting that converts new columns.

INSERT INTO bench.work (name, title, unit) VALUES
    ('create', 'CREATE TABLE with a serial key', 'ms');

CREATE SCHEMA created;
CREATE TABLE bench.referenced (id serial PRIMARY KEY);
SELECT snowflake.convert_sequence_to_snowflake('bench.referenced_id_seq');

-- Makes so many tables in a transaction.
CREATE FUNCTION bench.create_tables(columns text, number integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. number LOOP
        EXECUTE format('CREATE TABLE created.t%s (%s)', i, columns);
    END LOOP;
END
$$;

INSERT INTO bench.candidate (work, name, query, scale, prepare)
    SELECT 'create', concat_ws(', ', which.name, setting.name),
           format('SELECT bench.create_tables(%L, 50)', which.columns), 1.0 / 50,
           format('DROP SCHEMA created CASCADE; CREATE SCHEMA created; SET client_min_messages = warning; '
                  'SET snowflake.convert_new_columns = %s; SELECT snowflake.redirect_nextval(%L)',
                  setting.is_on, setting.name LIKE '%redirected')
        FROM (VALUES ('serial', 'id serial PRIMARY KEY, name text'),
                     ('identity', 'id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text'),
                     ('serial and foreign key', 'id serial PRIMARY KEY, other_id integer REFERENCES bench.referenced'))
                 which(name, columns)
        CROSS JOIN (VALUES (NULL, false), ('converted', true), ('converted and redirected', true)) setting(name, is_on);

INSERT INTO bench.target (work, candidate, reference, bound)
    SELECT 'create', c.name, split_part(c.name, ',', 1), 3
        FROM bench.candidate c WHERE c.work = 'create' AND c.name LIKE '%, %'
        ORDER BY c.position;

CALL bench.measure('create', :rounds);
DROP SCHEMA created CASCADE;
RESET snowflake.convert_new_columns;
SELECT snowflake.redirect_nextval(false);
