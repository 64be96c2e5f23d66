-- The ledger: what was really sold. Its constraints hold even if Redis lies.

CREATE TABLE account (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    phone      text        NOT NULL CONSTRAINT account_phone_unique UNIQUE
                           CONSTRAINT account_phone_shape CHECK (phone ~ '^1[3-9][0-9]{9}$'),
    role       text        NOT NULL DEFAULT 'shopper' CONSTRAINT account_role CHECK (role IN ('shopper', 'admin')),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE voucher (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    shop_id      bigint      NOT NULL DEFAULT 1 CONSTRAINT voucher_shop CHECK (shop_id > 0),
    title        text        NOT NULL CONSTRAINT voucher_title CHECK (char_length(title) BETWEEN 1 AND 100),
    sub_title    text        NOT NULL CONSTRAINT voucher_sub_title CHECK (char_length(sub_title) <= 200),
    rules        text        NOT NULL CONSTRAINT voucher_rules CHECK (char_length(rules) <= 2000),
    pay_value    integer     NOT NULL CONSTRAINT voucher_pay_value CHECK (pay_value > 0),
    actual_value integer     NOT NULL CONSTRAINT voucher_actual_value CHECK (actual_value > 0),
    created_at   timestamptz NOT NULL DEFAULT now()
);

-- One flash sale of a voucher. stock = initial + changed - live orders, kept so by the transactions that move units.
CREATE TABLE seckill_voucher (
    voucher_id bigint      PRIMARY KEY REFERENCES voucher,
    initial    integer     NOT NULL CONSTRAINT sale_initial CHECK (initial > 0),
    -- Sum of the stock changes since.
    changed    integer     NOT NULL DEFAULT 0 CONSTRAINT sale_changed CHECK (initial + changed >= 0),
    stock      integer     NOT NULL CONSTRAINT sale_stock CHECK (stock BETWEEN 0 AND initial + changed),
    begins_at  timestamptz NOT NULL,
    ends_at    timestamptz NOT NULL,
    state      text        NOT NULL DEFAULT 'running' CONSTRAINT sale_state CHECK (state IN ('running', 'paused', 'ended')),
    -- Version of the sale's copy in Redis; only ever raised.
    epoch      bigint      NOT NULL DEFAULT 1 CONSTRAINT sale_epoch CHECK (epoch > 0),
    -- Fencing number of the last rebuild: a holder of the rebuild lock with a smaller one is refused.
    fence      bigint      NOT NULL DEFAULT 0,
    buckets    smallint    NOT NULL DEFAULT 1 CONSTRAINT sale_buckets CHECK (buckets > 0),
    -- Counts an operator's changes, so that two of them don't overwrite each other.
    version    bigint      NOT NULL DEFAULT 0,
    CONSTRAINT sale_window CHECK (begins_at < ends_at)
);

CREATE TABLE voucher_order (
    id         bigint      PRIMARY KEY CONSTRAINT order_id CHECK (id > 0),
    user_id    bigint      NOT NULL REFERENCES account,
    voucher_id bigint      NOT NULL REFERENCES seckill_voucher,
    state      text        NOT NULL CONSTRAINT order_state
                           CHECK (state IN ('confirmed', 'paid', 'used', 'failed', 'cancelled', 'expired', 'refunded')),
    reason     text        CONSTRAINT order_reason CHECK ((reason IS NOT NULL) = (state = 'failed')),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- One live order of one person for one voucher (I2). The voucher comes first: a rebuild reads all claims of one.
CREATE UNIQUE INDEX order_one_live ON voucher_order (voucher_id, user_id) WHERE state IN ('confirmed', 'paid', 'used');
CREATE INDEX order_failed ON voucher_order (voucher_id) WHERE state = 'failed';
-- "My orders", newest first.
CREATE INDEX order_of_user ON voucher_order (user_id, id DESC);

CREATE TABLE stock_change (
    id         bigint      PRIMARY KEY,
    voucher_id bigint      NOT NULL REFERENCES seckill_voucher,
    delta      integer     NOT NULL CONSTRAINT change_delta CHECK (delta <> 0),
    reason     text        NOT NULL CONSTRAINT change_reason CHECK (char_length(reason) BETWEEN 1 AND 200),
    actor      bigint      NOT NULL REFERENCES account,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX change_of_voucher ON stock_change (voucher_id, created_at);

CREATE TABLE audit_log (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor      bigint      REFERENCES account,
    action     text        NOT NULL,
    voucher_id bigint      REFERENCES voucher,
    detail     text        NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_of_voucher ON audit_log (voucher_id, id DESC);
