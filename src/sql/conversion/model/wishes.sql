-- Wishes: what a caller can say of a conversion. Those that the caller does not state have the defaults of the public
-- functions.

-- The wishes of a caller.
CREATE TYPE snowflake._conversion_wishes AS (
    target text,     -- "snowflake" or "bigint": what the columns hold afterwards
    increment text,  -- what becomes of an INCREMENT above 1: "refuse", "keep" or "drop"
    also text,       -- integer columns without a foreign key that are widened along, see _columns_named()
    waive text[],    -- obstacles that the caller waives, see _waivable()
    layout snowflake.layout); -- of the IDs; NULL: see _present_layout()

-- Returns the words for obstacles that a caller can waive.
CREATE FUNCTION snowflake._waivable()
    RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY[
        'generated', -- generated columns become the last of their table
        'node',      -- this instance has no node number to make IDs with
        'order',     -- triggers count on the order of columns
        'results',   -- routines return a key as an integer
        'subscribers']; -- subscribers have to be ready for new columns and larger numbers

-- Raises an error unless the word that a caller has given for an argument is one of those that it takes.
CREATE FUNCTION snowflake._require_word(argument text, word text, words text[])
    RETURNS void
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF word <> ALL (words) THEN
        RAISE EXCEPTION 'invalid value for argument "%": "%"', argument, word
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('Valid values are %s and "%s".',
                                (SELECT string_agg(format('"%s"', w), ', ' ORDER BY n)
                                     FROM unnest(trim_array(words, 1)) WITH ORDINALITY x(w, n)), words[cardinality(words)]);
    END IF;
END
$function$;

-- Returns the parts of a list that commas separate.
CREATE FUNCTION snowflake._listed(list text)
    RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ARRAY(SELECT btrim(part) FROM string_to_table(list, ',') part WHERE btrim(part) <> '');

-- Returns what a caller wishes; raises an error where a word is none that the argument takes.
CREATE FUNCTION snowflake._wishes(
        target text DEFAULT 'snowflake', increment text DEFAULT 'refuse', also text DEFAULT '', waive text DEFAULT '',
        layout snowflake.layout DEFAULT NULL)
    RETURNS snowflake._conversion_wishes
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $function$
BEGIN
    IF num_nulls(target, increment, also, waive) > 0 THEN
        RETURN NULL;
    END IF;
    PERFORM snowflake._require_word('target', target, ARRAY['snowflake', 'bigint']);
    PERFORM snowflake._require_word('increment', increment, ARRAY['refuse', 'keep', 'drop']);
    PERFORM snowflake._require_word('waive', word, snowflake._waivable()) FROM unnest(snowflake._listed(waive)) word;
    RETURN ROW(target, increment, also, snowflake._listed(waive), layout)::snowflake._conversion_wishes;
END
$function$;

-- Returns the wishes that ask for the least: what every conversion does, and no more. Between the first and the last
-- command of a conversion without a long lock, which state the wishes of the caller, nothing else is of interest.
CREATE FUNCTION snowflake._least_wishes(also text DEFAULT '')
    RETURNS snowflake._conversion_wishes
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN snowflake._wishes(target => 'bigint', increment => 'drop', also => also,
                             waive => array_to_string(snowflake._waivable(), ','));

-- Returns wishes as arguments of a call; nothing for those that have their default.
CREATE FUNCTION snowflake._wish_arguments(wishes snowflake._conversion_wishes)
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN concat(', increment => ' || quote_literal(nullif(wishes.increment, 'refuse')),
                  ', target => ' || quote_literal(nullif(wishes.target, 'snowflake')),
                  ', also => ' || quote_literal(nullif(wishes.also, '')),
                  ', waive => ' || quote_literal(nullif(array_to_string(wishes.waive, ', '), '')),
                  ', layout => ' || quote_literal(wishes.layout::text));

-- Tells whether columns hold snowflake IDs after a conversion.
CREATE FUNCTION snowflake._makes_snowflakes(wishes snowflake._conversion_wishes)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN coalesce(wishes.target = 'snowflake', false);

-- Names the keys that an integer does not hold after a conversion.
CREATE FUNCTION snowflake._what_is_too_large(wishes snowflake._conversion_wishes)
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN snowflake._makes_snowflakes(wishes) THEN 'no new ID' ELSE 'no key above its range' END;

-- Returns the command that converts a sequence.
CREATE FUNCTION snowflake._convert_command(seq regclass)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN pg_catalog.format('SELECT snowflake.convert_sequence_to_snowflake(%L)', seq);
