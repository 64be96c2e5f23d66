//! The harness' HTTP client: one connection that is kept, one call at a time, and an honest word for what went wrong.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, StatusCode, client::conn::http1::SendRequest, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// Its status.
    pub(crate) status: StatusCode,
    /// Its body, null if that is not JSON.
    pub(crate) body: Value,
    /// The session that it opened.
    pub(crate) session: Option<String>,
}

impl Reply {
    /// A text of the body.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.body.get(field)?.as_str()
    }
}

/// Why there is no answer. What the call did is unknown in each case but the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoReply {
    /// There was no connection to send it on.
    Unreachable,
    /// The connection broke.
    Reset,
    /// No answer in time.
    TimedOut,
}

impl NoReply {
    /// A word for the log.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Reset => "reset",
            Self::TimedOut => "timed_out",
        }
    }
}

/// A call.
#[derive(Debug, Clone)]
pub(crate) struct Call<'a> {
    /// GET, POST.
    pub(crate) method: Method,
    /// With its query.
    pub(crate) path: &'a str,
    /// The token for the cookie `sid`.
    pub(crate) session: Option<&'a str>,
    /// JSON.
    pub(crate) body: Option<Value>,
}

impl<'a> Call<'a> {
    /// A GET.
    pub(crate) const fn get(path: &'a str) -> Self {
        Self {
            method: Method::GET,
            path,
            session: None,
            body: None,
        }
    }

    /// A POST without a body.
    pub(crate) const fn post(path: &'a str) -> Self {
        Self {
            method: Method::POST,
            path,
            session: None,
            body: None,
        }
    }

    /// As the owner of this session.
    pub(crate) const fn by(mut self, session: &'a str) -> Self {
        self.session = Some(session);
        self
    }

    /// With these data.
    pub(crate) fn with(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }
}

/// A client of one server.
pub(crate) struct Client {
    port: u16,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Client {
    /// A client of the server on this port; it connects at its first call.
    pub(crate) const fn new(port: u16) -> Self {
        Self { port, sender: None }
    }

    /// Makes a call and waits for its answer for so long.
    pub(crate) async fn call(&mut self, call: &Call<'_>, patience: Duration) -> Result<Reply, NoReply> {
        let answer = tokio::time::timeout(patience, self.exchange(call)).await;
        let answer = answer.unwrap_or(Err(NoReply::TimedOut));
        if answer.is_err() {
            // An answer that comes late must not be taken for the next call's.
            self.sender = None;
        }
        answer
    }

    async fn exchange(&mut self, call: &Call<'_>) -> Result<Reply, NoReply> {
        let mut kept = self.sender.take();
        if let Some(sender) = &mut kept
            && sender.ready().await.is_err()
        {
            kept = None;
        }
        let mut sender = match kept {
            Some(sender) => sender,
            None => connect(self.port).await?,
        };
        let request = request(call).ok_or(NoReply::Unreachable)?;
        let response = sender.send_request(request).await.map_err(|_| NoReply::Reset)?;
        let status = response.status();
        let cookies = response.headers().get_all(header::SET_COOKIE).into_iter();
        let session = cookies
            .filter_map(|cookie| cookie.to_str().ok()?.strip_prefix("sid=")?.split(';').next())
            .find(|token| !token.is_empty())
            .map(str::to_owned);
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|_| NoReply::Reset)?
            .to_bytes();
        self.sender = Some(sender);
        Ok(Reply {
            status,
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
            session,
        })
    }
}

/// Opens a connection to a server of ours.
pub(crate) async fn connect(port: u16) -> Result<SendRequest<Full<Bytes>>, NoReply> {
    let stream = TcpStream::connect(("127.0.0.1", port))
        .await
        .map_err(|_| NoReply::Unreachable)?;
    let _ = stream.set_nodelay(true);
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|_| NoReply::Unreachable)?;
    // Ends when the sender is dropped.
    tokio::spawn(connection);
    Ok(sender)
}

/// The call as bytes on the wire.
pub(crate) fn request(call: &Call<'_>) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(call.path)
        .header(header::HOST, "127.0.0.1");
    if let Some(token) = call.session {
        request = request.header(header::COOKIE, format!("sid={token}"));
    }
    let body = match &call.body {
        Some(body) => {
            request = request.header(header::CONTENT_TYPE, "application/json");
            Bytes::from(body.to_string())
        }
        None => Bytes::new(),
    };
    request.body(Full::new(body)).ok()
}
