//! What the gate is told.

use std::{net::IpAddr, time::Duration};

use clap::Args;
use engine::{Rate, Rates};
use ipnet::IpNet;

/// Limits. A rate of 0 switches that limit off.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The gate")]
pub(crate) struct GateArgs {
    /// Grabs a second that one user may send for long.
    #[arg(long, env = "SECKILL_GRAB_RATE", default_value_t = 20.0, value_parser = rate)]
    grab_rate: f64,
    /// Grabs that one user may send at once.
    #[arg(long, env = "SECKILL_GRAB_BURST", default_value_t = 100)]
    grab_burst: u32,
    /// Login codes a second for one phone. The pause after an unused code comes on top.
    #[arg(long, env = "SECKILL_CODE_RATE", default_value_t = 0.5, value_parser = rate)]
    code_rate: f64,
    /// Login codes for one phone at once.
    #[arg(long, env = "SECKILL_CODE_BURST", default_value_t = 60)]
    code_burst: u32,
    /// Logins a second that may be tried with one phone.
    #[arg(long, env = "SECKILL_LOGIN_RATE", default_value_t = 1.0, value_parser = rate)]
    login_rate: f64,
    /// Logins that may be tried with one phone at once.
    #[arg(long, env = "SECKILL_LOGIN_BURST", default_value_t = 60)]
    login_burst: u32,
    /// Codes and logins a second from one address.
    #[arg(long, env = "SECKILL_ADDRESS_LOGIN_RATE", default_value_t = 10.0, value_parser = rate)]
    pub(super) address_login_rate: f64,
    /// Codes and logins from one address at once.
    #[arg(long, env = "SECKILL_ADDRESS_LOGIN_BURST", default_value_t = 300)]
    pub(super) address_login_burst: u32,
    /// Pages and other calls a second from one address; grabs are counted by user.
    #[arg(long, env = "SECKILL_ADDRESS_PAGE_RATE", default_value_t = 100.0, value_parser = rate)]
    pub(super) address_page_rate: f64,
    /// Pages and other calls from one address at once.
    #[arg(long, env = "SECKILL_ADDRESS_PAGE_BURST", default_value_t = 600)]
    pub(super) address_page_burst: u32,
    /// Proxies whose X-Forwarded-For is believed, as addresses or networks. A call from one of them that carries no
    /// such header is its own, and is not limited by address.
    #[arg(
        long,
        env = "SECKILL_TRUSTED_PROXIES",
        value_delimiter = ',',
        default_value = "127.0.0.0/8,::1",
        value_parser = network
    )]
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// Grabs under way in this process; more are told "busy" at once, so that the accepted stay fast.
    #[arg(long, env = "SECKILL_GRABS_IN_FLIGHT", default_value_t = 8192)]
    pub(super) grabs_in_flight: usize,
    /// Event streams open in this process.
    #[arg(long, env = "SECKILL_STREAMS", default_value_t = 20_000)]
    pub(super) streams: u32,
    /// Event streams of one session.
    #[arg(long, env = "SECKILL_SESSION_STREAMS", default_value_t = 20)]
    pub(super) session_streams: u32,
    /// Event streams from one address.
    #[arg(long, env = "SECKILL_ADDRESS_STREAMS", default_value_t = 500)]
    pub(super) address_streams: u32,
    /// Connections open in this process; more are closed at once.
    #[arg(long, env = "SECKILL_CONNECTIONS", default_value_t = 16_000)]
    pub(crate) connections: usize,
    /// Connections from one address, unless it is a trusted proxy's; more are closed at once.
    #[arg(long, env = "SECKILL_ADDRESS_CONNECTIONS", default_value_t = 1000)]
    pub(crate) address_connections: usize,
    /// Milliseconds in which a request's headers must have come; also how long an idle connection is kept.
    #[arg(long, env = "SECKILL_HEADER_TIMEOUT_MS", default_value_t = 10_000)]
    header_timeout_ms: u64,
}

impl GateArgs {
    /// How often one person may call.
    pub(crate) const fn rates(&self) -> Rates {
        const fn rate(per_second: f64, burst: u32) -> Rate {
            Rate { per_second, burst }
        }
        Rates {
            grabs: rate(self.grab_rate, self.grab_burst),
            codes: rate(self.code_rate, self.code_burst),
            logins: rate(self.login_rate, self.login_burst),
        }
    }

    /// In this time a request's headers must have come.
    pub(crate) const fn header_timeout(&self) -> Duration {
        Duration::from_millis(self.header_timeout_ms)
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if rate == 0.0 || (0.001..=1_000_000.0).contains(&rate) {
        Ok(rate)
    } else {
        Err("0 (off), or from 0.001 to 1000000".to_owned())
    }
}

fn network(text: &str) -> Result<IpNet, String> {
    text.parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| "an address such as 10.0.0.7, or a network such as 10.0.0.0/8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_rates_are_read() {
        assert_eq!(network("10.1.2.3").unwrap().to_string(), "10.1.2.3/32");
        assert!(network("10.0.0.0/8").is_ok() && network("nginx").is_err());
        assert_eq!(rate("0"), Ok(0.0));
        assert!(rate("-1").is_err() && rate("NaN").is_err());
    }
}
