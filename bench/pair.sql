-- Two sequences by turns in one transaction, as one that fills orders and their items uses them.

INSERT INTO bench.work (name, title, unit) VALUES
    ('pair', 'Two IDs, of two sequences by turns', 'ns');

CREATE SEQUENCE bench.server_other;
CREATE SEQUENCE bench.snowflake_other;

CALL bench.add_calls('pair', 'nextval',
                     $$nextval('bench.server_1'), nextval('bench.server_other')$$, :sample_ms);
CALL bench.add_calls('pair', 'snowflake',
                     $$snowflake.nextval('bench.snowflake_1'),
                       snowflake.nextval('bench.snowflake_other')$$, :sample_ms);

INSERT INTO bench.target (work, candidate, reference, bound) VALUES
    ('pair', 'snowflake', 'nextval', 0.5);

CALL bench.measure('pair', :rounds);
