-- Drafts can't be published by a step back: they end.
UPDATE seckill_voucher SET state = 'ended' WHERE state = 'draft';
ALTER TABLE seckill_voucher
    DROP CONSTRAINT sale_state,
    ADD CONSTRAINT sale_state CHECK (state IN ('running', 'paused', 'ended'));
