//! One keep-alive connection: send, read, send.

use std::{io, net::SocketAddr};

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use super::http::{self, Answer};

/// Why an exchange failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server's or the network's doing.
    Server(&'static str),
    /// The generator's own limits.
    Own(&'static str),
}

/// A connection and its buffers.
pub(crate) struct Connection {
    address: SocketAddr,
    stream: Option<TcpStream>,
    /// The next request.
    pub(crate) request: Vec<u8>,
    inbox: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            stream: None,
            request: Vec::with_capacity(512),
            inbox: Vec::with_capacity(4096),
        }
    }

    /// Connects if there is no connection.
    pub(super) async fn open(&mut self) -> Result<(), Failure> {
        if self.stream.is_none() {
            let stream = connect(self.address).await.map_err(|error| match error.kind() {
                io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse => Failure::Own("no local port"),
                // EMFILE and ENFILE.
                _ if matches!(error.raw_os_error(), Some(23 | 24)) => Failure::Own("no file descriptor"),
                _ => Failure::Server("connection refused"),
            })?;
            self.stream = Some(stream);
            self.inbox.clear();
        }
        Ok(())
    }

    /// Sends the prepared request and reads the answer; `judge` looks at it.
    pub(crate) async fn exchange<T>(&mut self, judge: impl FnOnce(u16, &[u8]) -> T) -> Result<T, Failure> {
        self.open().await?;
        let Some(stream) = self.stream.as_mut() else {
            return Err(Failure::Server("connection refused"));
        };
        match exchange(stream, &self.request, &mut self.inbox).await {
            Ok(answer) => {
                let judged = judge(answer.status, &self.inbox[answer.body.clone()]);
                self.inbox.drain(..answer.end);
                if answer.closes {
                    self.stream = None;
                }
                Ok(judged)
            }
            Err(failure) => {
                self.stream = None;
                Err(failure)
            }
        }
    }

    /// Gives the connection up, with whatever answer is still to come.
    pub(super) fn close(&mut self) {
        self.stream = None;
    }
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    let stream = socket.connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn exchange(stream: &mut TcpStream, request: &[u8], inbox: &mut Vec<u8>) -> Result<Answer, Failure> {
    stream
        .write_all(request)
        .await
        .map_err(|_| Failure::Server("broken off while sending"))?;
    loop {
        let n = stream
            .read_buf(inbox)
            .await
            .map_err(|_| Failure::Server("broken off while waiting"))?;
        if n == 0 {
            return Err(Failure::Server("closed without an answer"));
        }
        match http::parse(inbox) {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => {}
            Err(_) => return Err(Failure::Server("not HTTP")),
        }
    }
}
