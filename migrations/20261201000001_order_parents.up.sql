-- Orders are written by the thousand. A foreign key looks its row up, and locks it, once for each of them, which was
-- 40 % of a settle. Whether the accounts and sales of a statement's orders exist is now checked once a statement, and
-- neither can go away: an order is kept for ever, and so is what it refers to.

ALTER TABLE voucher_order
    DROP CONSTRAINT voucher_order_user_id_fkey,
    DROP CONSTRAINT voucher_order_voucher_id_fkey;

CREATE FUNCTION order_has_parents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM written w WHERE NOT EXISTS (SELECT FROM account a WHERE a.id = w.user_id)) THEN
        RAISE foreign_key_violation USING MESSAGE = 'an order for an unknown account', CONSTRAINT = 'order_account';
    END IF;
    IF EXISTS (SELECT FROM (SELECT DISTINCT voucher_id FROM written) w
               WHERE NOT EXISTS (SELECT FROM seckill_voucher s WHERE s.voucher_id = w.voucher_id)) THEN
        RAISE foreign_key_violation USING MESSAGE = 'an order for an unknown sale', CONSTRAINT = 'order_sale';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER order_parents_insert AFTER INSERT ON voucher_order
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION order_has_parents();

CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE restrict_violation USING MESSAGE = format('rows of %I stay: orders refer to them', TG_TABLE_NAME);
END $$;

CREATE TRIGGER account_stays BEFORE DELETE OR TRUNCATE ON account FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER account_id_stays BEFORE UPDATE OF id ON account FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER sale_stays BEFORE DELETE OR TRUNCATE ON seckill_voucher FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER sale_id_stays BEFORE UPDATE OF voucher_id ON seckill_voucher FOR EACH STATEMENT EXECUTE FUNCTION stays();
-- An order never changes hands.
CREATE TRIGGER order_parents_stay BEFORE UPDATE OF user_id, voucher_id ON voucher_order
    FOR EACH STATEMENT EXECUTE FUNCTION stays();
