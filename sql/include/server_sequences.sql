-- What the server's own nextval, currval and lastval say of sequences that are not converted. Included with the redirect
-- off and on: both times the output has to be the same.
SELECT setval('plain_id_seq', 1, false), setval('from_mariadb', 1, false), setval('ended', 2, false), setval('mine', 1, false);
DISCARD SEQUENCES;
SELECT state, message FROM outcome($s$SELECT lastval()$s$);
SELECT state, message FROM outcome($s$SELECT currval('plain_id_seq')$s$);
SELECT nextval('plain_id_seq'), currval('plain_id_seq'), lastval();
INSERT INTO plain (item) VALUES (1), (2) RETURNING id, lastval();
SELECT nextval('plain_id_seq'::text), nextval(NULL), currval(NULL);
PREPARE by_name(text) AS SELECT nextval($1);
EXECUTE by_name('plain_id_seq');
EXECUTE by_name('ended');
SELECT currval('ended'), lastval();
SELECT state, message FROM outcome($s$EXECUTE by_name('ended')$s$);
SELECT state, message FROM outcome($s$EXECUTE by_name('unknown')$s$);
DEALLOCATE by_name;
SELECT state, message FROM outcome($s$SELECT nextval('unknown')$s$);
SELECT state, message FROM outcome($s$SELECT nextval('')$s$);
SELECT state, message FROM outcome($s$SELECT nextval('a.b.c.d')$s$);
SELECT state FROM outcome($s$SELECT nextval('plain')$s$); -- versions of the server word it differently
SELECT state FROM outcome($s$SELECT currval('plain')$s$);
SELECT state, message FROM outcome($s$SELECT currval('unused')$s$);
SELECT state, message FROM outcome($s$SELECT nextval(4294967294)$s$);
SELECT state, message FROM outcome($s$SELECT currval(4294967294)$s$);
SELECT nextval('mine'), lastval(), nextval('from_mariadb');
SELECT * FROM nextval('plain_id_seq');
SELECT * FROM ROWS FROM (nextval('plain_id_seq'), generate_series(1, 2));
SELECT nextval('plain_id_seq') FROM generate_series(1, 3) LIMIT 2;
SELECT count(*) FROM generate_series(1, 3) WHERE nextval('plain_id_seq') > 0;
SELECT CASE WHEN false THEN nextval('plain_id_seq') END, lastval();
BEGIN READ ONLY;
SELECT nextval('mine'), currval('plain_id_seq');
SELECT state, message FROM outcome($s$SELECT nextval('plain_id_seq')$s$);
ROLLBACK;
SELECT lastval();
SET ROLE regress_snowflake_client;
SELECT state, message FROM outcome($s$SELECT nextval('plain_id_seq')$s$);
SELECT state, message FROM outcome($s$SELECT currval('plain_id_seq')$s$);
SELECT state, message FROM outcome($s$SELECT lastval()$s$);
RESET ROLE;
REVOKE EXECUTE ON FUNCTION pg_catalog.nextval(regclass), pg_catalog.currval(regclass), pg_catalog.lastval() FROM PUBLIC;
GRANT USAGE ON SEQUENCE plain_id_seq, mine TO regress_snowflake_client;
SET ROLE regress_snowflake_client;
SELECT state, message FROM outcome($s$SELECT nextval('plain_id_seq')$s$);
SELECT state, message FROM outcome($s$SELECT currval('plain_id_seq')$s$);
SELECT state, message FROM outcome($s$SELECT lastval()$s$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION pg_catalog.nextval(regclass), pg_catalog.currval(regclass), pg_catalog.lastval() TO PUBLIC;
SET ROLE regress_snowflake_client;
SELECT nextval('plain_id_seq'), currval('plain_id_seq');
RESET ROLE;
REVOKE USAGE ON SEQUENCE plain_id_seq, mine FROM regress_snowflake_client;
BEGIN;
SAVEPOINT before;
SELECT nextval('plain_id_seq');
ROLLBACK TO before;
SELECT nextval('plain_id_seq'), currval('plain_id_seq');
COMMIT;
EXPLAIN (COSTS OFF) SELECT nextval('plain_id_seq') FROM plain WHERE id > 1;
MERGE INTO plain p USING (VALUES (1), (1000)) x(n) ON p.id = x.n
    WHEN NOT MATCHED THEN INSERT (item) VALUES ('merged') WHEN MATCHED THEN UPDATE SET item = nextval('plain_id_seq')::text;
COPY plain (item) FROM stdin;
copied
copied too
\.
SELECT * FROM plain ORDER BY id;
ALTER TABLE plain ADD COLUMN number bigint DEFAULT nextval('plain_id_seq');
SELECT count(DISTINCT number) = count(*) AS distinct, currval('plain_id_seq') = max(number) AS last FROM plain;
ALTER TABLE plain DROP COLUMN number;
TRUNCATE plain RESTART IDENTITY;
INSERT INTO plain DEFAULT VALUES RETURNING id;
TRUNCATE plain;
