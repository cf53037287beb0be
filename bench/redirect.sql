-- The server's own nextval, redirected: on a sequence that is not converted, and on one that is.

INSERT INTO bench.work (name, title, unit) VALUES
    ('redirect', 'One call of the server''s nextval, redirected', 'ns');

CREATE SEQUENCE bench.plain;
CREATE SEQUENCE bench.converted;
SELECT snowflake.convert_sequence_to_snowflake('bench.converted');

CALL bench.add_calls('redirect', 'nextval', $$nextval('bench.plain')$$, :sample_ms);
CALL bench.add_calls('redirect', 'snowflake', $$snowflake.nextval('bench.converted')$$, :sample_ms);
SELECT snowflake.redirect_nextval();
CALL bench.add_calls('redirect', 'nextval, redirected, not converted', $$nextval('bench.plain')$$, :sample_ms);
CALL bench.add_calls('redirect', 'nextval, redirected, converted', $$nextval('bench.converted')$$, :sample_ms);
UPDATE bench.candidate SET prepare = format('SELECT snowflake.redirect_nextval(%L)', name LIKE '%redirected%')
    WHERE work = 'redirect';

INSERT INTO bench.target (work, candidate, reference, bound) VALUES
    ('redirect', 'nextval, redirected, not converted', 'nextval', 1.1),
    ('redirect', 'nextval, redirected, converted', 'snowflake', 1.05);

CALL bench.measure('redirect', :rounds);
SELECT snowflake.redirect_nextval(false);
