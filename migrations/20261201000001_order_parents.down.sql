DROP TRIGGER order_parents_stay ON voucher_order;
DROP TRIGGER sale_id_stays ON seckill_voucher;
DROP TRIGGER sale_stays ON seckill_voucher;
DROP TRIGGER account_id_stays ON account;
DROP TRIGGER account_stays ON account;
DROP TRIGGER order_parents_insert ON voucher_order;
DROP FUNCTION stays();
DROP FUNCTION order_has_parents();

ALTER TABLE voucher_order
    ADD CONSTRAINT voucher_order_user_id_fkey FOREIGN KEY (user_id) REFERENCES account,
    ADD CONSTRAINT voucher_order_voucher_id_fkey FOREIGN KEY (voucher_id) REFERENCES seckill_voucher;
