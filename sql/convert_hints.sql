-- The plan names what looks like a key that no foreign key tells of.
SET snowflake.node = 1;
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA hints;
SET search_path = hints;
CREATE TABLE categories (id serial PRIMARY KEY, item text);
CREATE TABLE "Order Lines" (id serial PRIMARY KEY, category_id integer REFERENCES categories);
CREATE VIEW remarks AS
    SELECT effect FROM snowflake.conversion_plan('hints.categories_id_seq'::text::regclass) WHERE command IS NULL ORDER BY step;
-- Columns of the same name, or of a name made of those of the table and the key.
CREATE TABLE history (id integer, item text);
CREATE TABLE parted_history (id smallint, at date) PARTITION BY RANGE (at);
CREATE TABLE parted_history_1 PARTITION OF parted_history DEFAULT;
CREATE TABLE tagged (category_id integer, categories_id smallint, other integer);
-- No copies: keys of their own, keys of other tables, wide columns, columns made from others.
CREATE TABLE own_key (id serial);
CREATE TABLE own_identity (id integer GENERATED ALWAYS AS IDENTITY);
CREATE TABLE other (number integer PRIMARY KEY);
CREATE TABLE other_key (id integer REFERENCES other);
CREATE TABLE wide (id bigint, category_id text);
CREATE TABLE made (n bigint, id integer GENERATED ALWAYS AS (n % 7) STORED);
TABLE remarks;
DROP TABLE history, parted_history, tagged, own_key, own_identity, other_key, other, wide, made;

-- What triggers and routines put into integers.
CREATE FUNCTION log_it() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    key integer := NEW.id;
BEGIN
    RAISE LOG '%', key;
    RETURN NEW;
END $$;
CREATE TRIGGER log_it AFTER INSERT ON categories FOR EACH ROW EXECUTE FUNCTION log_it();
CREATE FUNCTION copy_lines() RETURNS void LANGUAGE sql AS 'SELECT id::int FROM "Order Lines"';
CREATE FUNCTION first_one() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found integer;
BEGIN
    SELECT min(id) INTO found FROM Categories;
    RETURN found;
END $$;
CREATE FUNCTION named(category_id integer) RETURNS text LANGUAGE sql AS 'SELECT item FROM categories WHERE id = $1';
CREATE FUNCTION subcategories() RETURNS integer LANGUAGE sql AS 'SELECT 1 /* int: subcategories, categories_2 */';
TABLE remarks;
DROP FUNCTION log_it CASCADE;
DROP FUNCTION copy_lines, first_one, named, subcategories;

-- What calls the server's functions with the name of the sequence.
CREATE FUNCTION fill_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := nextval('categories_id_seq'); RETURN NEW; END $$;
CREATE FUNCTION last_one() RETURNS text LANGUAGE sql AS $$ SELECT pg_catalog.CURRVAL ('hints.categories_id_seq')::text $$;
CREATE FUNCTION right_one() RETURNS text LANGUAGE sql AS $$ SELECT snowflake.nextval('categories_id_seq')::text || 'nextvalue' $$;
CREATE FUNCTION other_one() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN nextval('own_categories_id_seq'); END $$;
TABLE remarks;
SELECT count(*) FROM snowflake.conversion_plan('categories_id_seq', target => 'bigint') WHERE effect ~ 'nextval|currval';
SELECT snowflake.redirect_nextval();
SELECT count(*) FROM remarks WHERE effect ~ 'nextval|currval';
SELECT snowflake.redirect_nextval(false);
DROP FUNCTION fill_it, last_one, right_one, other_one;

-- Sums of what is widened, which are numeric then; and others.
CREATE VIEW ids AS SELECT sum(l.category_id) / 2, count(*) FROM "Order Lines" l GROUP BY l.id;
CREATE RULE sums AS ON DELETE TO categories DO ALSO SELECT sum(DISTINCT old.id * 2) AS sum, sum(id) FROM "Order Lines";
CREATE FUNCTION halves() RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT SUM (id) / 2 FROM categories); END $$;
CREATE FUNCTION too_small() RETURNS integer LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM categories; END;
CREATE FUNCTION in_body() RETURNS numeric LANGUAGE sql BEGIN ATOMIC SELECT sum(id) FROM categories; END;
CREATE VIEW no_sum AS SELECT id, sum(length(item)) FROM categories GROUP BY id;
CREATE FUNCTION no_sum() RETURNS numeric LANGUAGE sql AS 'SELECT sum(1) /* sum(id) */ FROM categories WHERE id > 1';
TABLE remarks;
DROP VIEW ids, no_sum;
DROP RULE sums ON categories;
DROP FUNCTION halves, in_body, no_sum;

-- What casts to integers beside a key: a policy, a default, a view; not where the integer is a constant.
CREATE TABLE tenants (id serial PRIMARY KEY);
CREATE TABLE users (tenant integer DEFAULT current_setting('hints.tenant')::integer REFERENCES tenants, n integer DEFAULT 'x'::text::integer);
CREATE POLICY own ON users USING (tenant = (SELECT current_setting('hints.tenant')::integer)) WITH CHECK (tenant > 0);
CREATE POLICY checked ON users FOR INSERT WITH CHECK (tenant = current_setting('hints.tenant')::smallint);
CREATE POLICY constant ON users USING (tenant = ANY ('{-1,1}'::integer[]) OR tenant > '-1'::integer);
CREATE VIEW seen AS SELECT tenant FROM users WHERE tenant = ANY (string_to_array(current_setting('hints.tenants'), ',')::integer[]);
CREATE VIEW unseen AS SELECT tenant, NULL::integer AS none, n::text FROM users;
CREATE RULE noted AS ON DELETE TO tenants DO ALSO NOTIFY tenants;
SELECT effect FROM snowflake.conversion_plan('tenants_id_seq') WHERE command IS NULL ORDER BY step;
SELECT effect FROM snowflake.conversion_plan('tenants_id_seq', target => 'bigint') WHERE command IS NULL ORDER BY step;
DROP TABLE tenants, users CASCADE;

-- Publications, of a table, of a schema and of all tables.
SET client_min_messages = error;
CREATE PUBLICATION regress_snowflake_one FOR TABLE "Order Lines";
CREATE PUBLICATION regress_snowflake_schema FOR TABLES IN SCHEMA hints;
CREATE PUBLICATION regress_snowflake_all FOR ALL TABLES;
RESET client_min_messages;
TABLE remarks;
DROP PUBLICATION regress_snowflake_one, regress_snowflake_schema, regress_snowflake_all;

-- The conversion itself raises no notice of them, and then there are none.
SELECT snowflake.convert_sequence_to_snowflake('categories_id_seq');
TABLE remarks;

-- Without widening no prepared statement fails.
CREATE TABLE big (id bigserial);
CREATE TABLE copy (big_id integer);
SELECT effect FROM snowflake.conversion_plan('big_id_seq') WHERE command IS NULL;

SET client_min_messages = warning;
DROP SCHEMA hints CASCADE;
