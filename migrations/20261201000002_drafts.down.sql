-- Drafts can't be published by a step back, nor deleted: they end, so long ago that no page lists them.
UPDATE seckill_voucher SET state = 'ended', begins_at = '2000-01-01Z', ends_at = '2000-01-02Z' WHERE state = 'draft';
ALTER TABLE seckill_voucher
    DROP CONSTRAINT sale_state,
    ADD CONSTRAINT sale_state CHECK (state IN ('running', 'paused', 'ended'));
