//! Demo mode: three sales and an admin, so that there is something to look at.

use std::{net::SocketAddr, time::Duration};

use anyhow::Context;
use domain::{Phone, SaleDraft, SaleState};
use engine::Engine;

/// The demo admin.
const ADMIN: &str = "13800000000";
const MINUTE: Duration = Duration::from_mins(1);

/// Makes the admin, and three sales where none is open: one open, one that opens in two minutes, one tomorrow.
pub(crate) async fn prepare(engine: &Engine) -> anyhow::Result<()> {
    let phone: Phone = ADMIN.parse().context("the demo admin's phone")?;
    engine
        .grant_admin(&phone)
        .await
        .context("the demo admin could not be made: did `server migrate` run?")?;
    engine.mark_demo().await?;
    engine.renew().await?;
    if engine
        .vouchers()
        .await?
        .iter()
        .any(|voucher| voucher.state == SaleState::Live)
    {
        return Ok(());
    }
    let now = engine.now();
    let sale = |title: &str, sub_title: &str, pay, actual, stock, begins, lasts| SaleDraft {
        title: title.to_owned(),
        sub_title: sub_title.to_owned(),
        rules: "Valid at all our tables.\nOne voucher a person.\nNot to be joined with other offers."
            .to_owned(),
        pay_value: pay,
        actual_value: actual,
        stock,
        begins_at: now + begins,
        ends_at: now + begins + lasts,
    };
    let day = MINUTE * 60 * 24;
    for draft in [
        sale(
            "Dim sum for two",
            "A weekday morning, a full table",
            4_900,
            9_800,
            100,
            Duration::ZERO,
            day,
        ),
        sale(
            "Sichuan hot pot, four people",
            "Opens in two minutes",
            8_800,
            26_800,
            20,
            MINUTE * 2,
            day,
        ),
        sale(
            "Tea house afternoon",
            "Tomorrow, same time",
            1_900,
            5_800,
            500,
            day,
            day,
        ),
    ] {
        engine.publish(None, 1, draft).await?;
    }
    Ok(())
}

/// Tells people where to go.
pub(crate) fn print_welcome(address: SocketAddr) -> anyhow::Result<()> {
    crate::commands::say(&format!(
        "\n  The shop is open:  http://{address}/\n  \
         Operators:         http://{address}/admin  (log in with {ADMIN})\n  \
         Shoppers:          any phone such as 13900000001; the login page shows the code (demo mode)\n"
    ))
}
