//! Processes that end with the bench, however that ends.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// How long a process may take to come up.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a process may take to end once it is asked to.
const GRACE: Duration = Duration::from_secs(12);

/// A child process that listens. Killed when dropped.
pub(crate) struct Served {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

impl Served {
    /// Starts `program` and waits until `path` is answered with 200. `setpriv` ends it with this process even if that
    /// is killed.
    pub(crate) async fn start(
        program: &Path,
        args: &[&str],
        env: &[(&str, &str)],
        address: SocketAddr,
        path: &str,
        log: &Path,
    ) -> Result<Self> {
        let out = std::fs::File::create(log).with_context(|| format!("can't write {}", log.display()))?;
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .arg(program)
            .args(args)
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(out)
            .spawn()
            .with_context(|| format!("can't start {}", program.display()))?;
        let mut served = Self { child, address };
        let began = Instant::now();
        while !answers(address, path).await {
            if let Some(status) = served.child.try_wait()? {
                bail!(
                    "{} ended with {status}; its log is {}",
                    program.display(),
                    log.display()
                );
            }
            if began.elapsed() > PATIENCE {
                bail!(
                    "{} does not answer; its log is {}",
                    program.display(),
                    log.display()
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(served)
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end, and waits.
    pub(crate) async fn stop(mut self) -> Result<()> {
        Command::new("kill")
            .args(["-TERM", &self.pid().to_string()])
            .status()?;
        let began = Instant::now();
        while self.child.try_wait()?.is_none() {
            if began.elapsed() > GRACE {
                bail!("process {} does not end", self.pid());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn answers(address: SocketAddr, path: &str) -> bool {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer.starts_with(b"HTTP/1.1 200"))
    };
    matches!(
        tokio::time::timeout(Duration::from_secs(2), ask).await,
        Ok(Ok(true))
    )
}

/// An address on which nobody listens now.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
