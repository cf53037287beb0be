-- next_id: nextval under a name that tools which look for "nextval" in a default do not find.
SET snowflake.node = 7;
CREATE SEQUENCE numbers;
SELECT snowflake.get_node(snowflake.next_id()) AS default_sequence,
       snowflake.get_node(snowflake.next_id('numbers')) AS named,
       snowflake.get_node(snowflake.next_id('numbers', 'twitter'), 'twitter') AS in_a_layout;
SELECT snowflake.next_id('numbers') < snowflake.nextval('numbers') AS one_after_the_other,
       snowflake.next_id('numbers') = snowflake.currval('numbers') AS currval,
       snowflake.lastval() = snowflake.currval('numbers') AS lastval;

-- The rights, refusals and NULL of nextval.
SELECT snowflake.next_id(NULL) IS NULL AS null_gives_null;
CREATE ROLE regress_snowflake_reader;
SET ROLE regress_snowflake_reader;
SELECT snowflake.next_id('numbers');
RESET ROLE;
BEGIN READ ONLY;
SELECT snowflake.next_id('numbers');
ROLLBACK;
DROP ROLE regress_snowflake_reader;

-- As a default: the view shows it.
CREATE TABLE books (id bigint PRIMARY KEY DEFAULT snowflake.next_id('numbers', 'discord'), title text);
INSERT INTO books (title) VALUES ('first');
SELECT sequence, table_name, column_name, layout FROM snowflake.sequences WHERE sequence = 'numbers'::regclass;
SELECT snowflake.get_node(id, 'discord') FROM books;

-- A role without UPDATE names no layout, whatever the owner's default does.
CREATE ROLE regress_snowflake_user;
GRANT USAGE ON SEQUENCE numbers TO regress_snowflake_user;
SET ROLE regress_snowflake_user;
SELECT snowflake.get_node(snowflake.nextval('numbers', 'discord'), 'discord');
SELECT snowflake.next_id('numbers', 'sonyflake');
RESET ROLE;
REVOKE ALL ON SEQUENCE numbers FROM regress_snowflake_user;
DROP ROLE regress_snowflake_user;

-- A conversion has nothing left to change but the guard, and keeps the name in the default.
CREATE TABLE pages (id bigserial PRIMARY KEY, book bigint REFERENCES books);
ALTER TABLE pages ALTER id SET DEFAULT snowflake.next_id('pages_id_seq');
SELECT command FROM snowflake.conversion_plan('pages_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('pages_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('pages_id_seq');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'pages'::regclass;
INSERT INTO pages DEFAULT VALUES RETURNING snowflake.get_node(id);

-- The way back puts the server's nextval in the place of either name.
SELECT snowflake.convert_snowflake_to_sequence('pages_id_seq');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'pages'::regclass;
INSERT INTO pages DEFAULT VALUES;
SELECT lead(id) OVER (ORDER BY id) - id AS step FROM pages ORDER BY id LIMIT 1;

DROP TABLE pages, books;
DROP SEQUENCE numbers;
