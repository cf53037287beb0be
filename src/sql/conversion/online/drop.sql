-- Dropping the extension with CASCADE drops the triggers that keep shadow columns. The columns would stay, with what is
-- built on them: their checks would refuse new rows, and their foreign keys act on numbers that are out of date.

-- Refuses to drop the extension, or its schema, while it keeps columns. The server tells only functions in C what a
-- command drops. One in C would make every DROP SCHEMA fail where the library is gone, so the text of the command
-- has to do. Quoted names that only contain the name are others. DROP OWNED drops the extension of a role that it names, or
-- that runs it. A routine or a DO block may put the name together, and a text may escape its letters: only a query that is
-- one plain DROP OWNED is known to name all its roles. A role that drops what is its own need not have the right to use the
-- schema: the function runs with the rights of its owner.
CREATE FUNCTION snowflake._refuse_to_drop()
    RETURNS event_trigger
    LANGUAGE plpgsql
    SECURITY DEFINER
    AS $function$
DECLARE
    owner constant name := pg_get_userbyid((SELECT extowner FROM pg_extension WHERE extname = 'snowflake'));
    caller constant name := coalesce(nullif(current_setting('role'), 'none'), session_user);
    dropper constant oid := (SELECT oid FROM pg_roles WHERE rolname = caller);
    concerns_extension constant boolean :=
        CASE tg_tag
            WHEN 'DROP OWNED' THEN
                (current_query() ~* '^\s*DROP\s+OWNED\s[^;&]*;?\s*$') IS NOT TRUE
                OR owner = caller AND current_query() ~* '\mcurrent_(user|role)\M'
                OR owner = session_user AND current_query() ~* '\msession_user\M'
                OR position(replace(lower(owner), '"', '') IN replace(lower(current_query()), '"', '')) > 0
            ELSE
                regexp_replace(current_query(), '"(snowflake)"|"[^"]*"', ' \1 ', 'g') ~* '(?<!\w\$)\msnowflake\M(?!\.|\$\w)'
        END;
    tables text;
    commands text;
BEGIN
    IF NOT concerns_extension THEN
        RETURN;
    END IF;
    -- The server refuses this by itself, and does not say what to do. The library, which tells whose support function it is, and
    -- reads checks below, may be gone.
    IF (SELECT prosupport <> 0 FROM pg_proc WHERE oid = 'pg_catalog.nextval(regclass)'::regprocedure) THEN
        RAISE WARNING 'the server''s own nextval needs the extension snowflake while it is redirected'
            USING HINT = 'As a superuser, run first: SELECT snowflake.redirect_nextval(false);';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgfoid = 'snowflake._keep_shadow()'::regprocedure) THEN
        RETURN;
    END IF;
    -- A trigger whose sequence was renamed or dropped meanwhile, or that was switched off and on, keeps its column all the same. What is
    -- only a stranger's to cancel, or names the sequence of one, keeps nobody from dropping the extension.
    SELECT string_agg(DISTINCT snowflake._whole(p.relid)::text, ', '),
           string_agg(DISTINCT format('SELECT snowflake.cancel_conversion(%L);', coalesce(p.sequence, snowflake._whole(p.relid))), ' ')
        INTO tables, commands
        FROM snowflake._shadow_pairs(NULL) p
            CROSS JOIN snowflake._owner(p.relid) owner_of_table
        WHERE (snowflake._may_act_for(owner_of_table, dropper) OR snowflake._may_act_for(dropper, owner_of_table))
          AND (p.trigger_name IS NOT NULL
               OR EXISTS (SELECT FROM pg_trigger t
                              WHERE t.tgrelid = p.relid AND t.tgname IN (SELECT snowflake._triggers_on_shadow(p.relid, p.shadow))
                                AND NOT EXISTS (SELECT FROM pg_class q
                                                    WHERE q.relkind = 'S' AND q.oid::regclass::text = snowflake._named_by(t.tgargs)
                                                      AND NOT snowflake._is_taken_along(q.relowner, owner_of_table))));
    IF tables IS NOT NULL THEN
        RAISE EXCEPTION 'cannot execute % for snowflake while columns are being widened without a lock', tg_tag
            USING ERRCODE = 'dependent_objects_still_exist',
                  DETAIL = 'The tables are ' || tables || '.',
                  HINT = commands;
    END IF;
END
$function$;


CREATE EVENT TRIGGER _snowflake_drop ON ddl_command_start
    WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA', 'DROP OWNED')
    EXECUTE FUNCTION snowflake._refuse_to_drop();
ALTER EVENT TRIGGER _snowflake_drop ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER _snowflake_drop IS
    'refuses to drop the extension snowflake while it is widening columns without a lock';
