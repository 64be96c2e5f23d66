-- A sale may be written before anybody is to see it: a draft is in the ledger alone, until an operator publishes it.
ALTER TABLE seckill_voucher
    DROP CONSTRAINT sale_state,
    ADD CONSTRAINT sale_state CHECK (state IN ('draft', 'running', 'paused', 'ended'));
