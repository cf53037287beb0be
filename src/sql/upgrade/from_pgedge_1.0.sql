-- From version 1.0 of pgEdge's extension of the same name, whose IDs have the counter above the node. No update can make
-- the functions read the IDs that are there and make IDs as the later versions do.

DO $update$
BEGIN
    RAISE EXCEPTION 'version 1.0 of extension "snowflake" made IDs with another order of bits'
        USING ERRCODE = 'feature_not_supported',
              DETAIL = 'Their layout is "epoch=2023-01-01 tick=1ms timestamp:41 counter:12 node:10".',
              HINT = 'In one transaction, drop the extension and the defaults that use it, create it anew, and give each column a '
                     'default in this layout: ALTER TABLE name ALTER COLUMN id SET DEFAULT snowflake.nextval(''name_id_seq'', '
                     '''epoch=2023-01-01 tick=1ms timestamp:41 counter:12 node:10'');';
END
$update$;
