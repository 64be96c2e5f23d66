DROP TABLE audit_log;
DROP TABLE stock_change;
DROP TABLE voucher_order;
DROP TABLE seckill_voucher;
DROP TABLE voucher;
DROP TABLE account;
