-- Anybody may use the schema. This stands apart from the checks of the schema: between them an update takes the
-- rights of users away, and gives them back at its end.

GRANT USAGE ON SCHEMA snowflake TO PUBLIC;
