-- A sequence that is named by a text, as clients do: the server's nextval, and that of snowflake_compat.

INSERT INTO bench.work (name, title, unit) VALUES
    ('compat', 'One number of a sequence named by a text', 'ns');

CREATE SEQUENCE bench.named;
CREATE SEQUENCE bench.converted;
SELECT snowflake.convert_sequence_to_snowflake('bench.converted');

CALL bench.add_calls('compat', 'nextval(text::regclass)', $$nextval('bench.named'::text::regclass)$$, :sample_ms);
CALL bench.add_calls('compat', 'snowflake_compat.nextval(text), not converted',
                     $$snowflake_compat.nextval('bench.named')$$, :sample_ms);
CALL bench.add_calls('compat', 'snowflake_compat.nextval(text), converted',
                     $$snowflake_compat.nextval('bench.converted')$$, :sample_ms);

INSERT INTO bench.target (work, candidate, reference, bound) VALUES
    ('compat', 'snowflake_compat.nextval(text), not converted', 'nextval(text::regclass)', 1.2),
    ('compat', 'snowflake_compat.nextval(text), converted', 'nextval(text::regclass)', 1.2);

CALL bench.measure('compat', :rounds);
