-- Two tables whose new columns are filled by a conversion without a long lock, and by a loop made by hand. conversion.sh calls
-- it, with fsync on.

INSERT INTO bench.work (name, title, unit, more) VALUES
    ('fill', format('Filling the new columns of two tables of %s rows, beside a loop of UPDATEs of 10,000 rows', :'rows'),
     '% of its time', false);

CREATE TABLE accounts (id serial PRIMARY KEY, holder text);
CREATE TABLE payments (id serial PRIMARY KEY, account_id integer NOT NULL REFERENCES accounts, amount numeric);
INSERT INTO accounts (holder) SELECT 'holder ' || i FROM generate_series(1, :rows) i;
INSERT INTO payments (account_id, amount) SELECT 1 + i % :rows, i FROM generate_series(1, :rows) i;
CREATE INDEX ON payments (account_id);
CREATE TABLE hand_accounts (LIKE accounts INCLUDING INDEXES, new_id bigint);
CREATE TABLE hand_payments (LIKE payments INCLUDING INDEXES, new_account_id bigint);
INSERT INTO hand_accounts SELECT * FROM accounts;
INSERT INTO hand_payments SELECT * FROM payments;
VACUUM ANALYZE accounts, payments, hand_accounts, hand_payments;

CREATE FUNCTION keep_account() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.new_id := NEW.id; RETURN NEW; END';
CREATE FUNCTION keep_payment() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.new_account_id := NEW.account_id; RETURN NEW; END';
CREATE TRIGGER keep BEFORE INSERT OR UPDATE ON hand_accounts FOR EACH ROW
    WHEN (NEW.new_id IS DISTINCT FROM NEW.id) EXECUTE FUNCTION keep_account();
CREATE TRIGGER keep BEFORE INSERT OR UPDATE ON hand_payments FOR EACH ROW
    WHEN (NEW.new_account_id IS DISTINCT FROM NEW.account_id) EXECUTE FUNCTION keep_payment();
CREATE PROCEDURE fill_by_hand(last integer) LANGUAGE plpgsql AS $$
BEGIN
    FOR batch IN 0 .. last / 10000 LOOP
        UPDATE hand_accounts SET new_id = id WHERE id BETWEEN batch * 10000 + 1 AND (batch + 1) * 10000;
        COMMIT;
    END LOOP;
    FOR batch IN 0 .. last / 10000 LOOP
        UPDATE hand_payments SET new_account_id = account_id WHERE id BETWEEN batch * 10000 + 1 AND (batch + 1) * 10000;
        COMMIT;
    END LOOP;
END
$$;
SELECT command FROM snowflake.conversion_plan('accounts_id_seq', online => true) WHERE command LIKE '%\_add\_shadows%' \gexec

CHECKPOINT;
SELECT clock_timestamp() AS started \gset
CALL fill_by_hand(:rows);
SELECT clock_timestamp() - :'started' AS by_hand \gset
CHECKPOINT;
SELECT clock_timestamp() AS started \gset
CALL snowflake._fill_shadows('accounts_id_seq', 'accounts');
CALL snowflake._fill_shadows('accounts_id_seq', 'payments');
SELECT clock_timestamp() - :'started' AS by_plan \gset
INSERT INTO bench.sample VALUES ('fill', 'by the plan', 1,
                                 100 * extract(epoch FROM :'by_plan'::interval) / extract(epoch FROM :'by_hand'::interval));
SELECT snowflake.cancel_conversion('accounts_id_seq');
DROP TABLE accounts, payments, hand_accounts, hand_payments;
DROP PROCEDURE fill_by_hand;
DROP FUNCTION keep_account, keep_payment;
