-- Giving a converted sequence another layout.

CREATE FUNCTION snowflake.set_layout(seq regclass, layout snowflake.layout)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    part snowflake._conversion_part;
BEGIN
    PERFORM snowflake._conversion_check(seq);
    IF NOT (SELECT snowflake._makes_ids(seqincrement, seqmax) FROM pg_sequence WHERE seqrelid = seq) THEN
        RAISE EXCEPTION 'sequence % is not converted', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = format('SELECT snowflake.convert_sequence_to_snowflake(%L, layout => %L);', seq, layout);
    ELSIF snowflake.layout_of(seq) OPERATOR(snowflake.=) layout THEN
        RETURN;
    END IF;
    IF NOT snowflake._is_usable_now(layout) THEN
        RAISE EXCEPTION '%', snowflake._why_unusable(layout)
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Choose a layout from: SELECT name, nodes, epoch, last_timestamp FROM snowflake.layouts;';
    END IF;
    -- Against nextval, and renaming: the command names the sequence. An error takes it back.
    PERFORM snowflake._lock_all(ARRAY[seq::oid], current_setting('lock_timeout')::interval);
    PERFORM snowflake._hold_names(ARRAY[seq::oid]);
    PERFORM snowflake._run_as(format('ALTER SEQUENCE %s MINVALUE %s', seq, snowflake._minimum_for(seq, layout)), snowflake._owner(seq),
                              'pg_catalog, pg_temp', NULL);
    part := snowflake._part(seq, ARRAY(SELECT c FROM snowflake._conversion_columns(seq) c), layout => layout);
    PERFORM snowflake._require_fitting_layout(part);
    PERFORM snowflake._require_smaller_numbers(part);
    IF snowflake._is_id_seq(seq) THEN
        DELETE FROM snowflake._id_seq_layout;
        INSERT INTO snowflake._id_seq_layout VALUES (layout);
    END IF;
    PERFORM snowflake._warn_of_node(layout);
END
$function$;
COMMENT ON FUNCTION snowflake.set_layout(regclass, snowflake.layout) IS
    'gives a sequence that makes snowflake IDs another layout, in which its next IDs are above all that there are';
