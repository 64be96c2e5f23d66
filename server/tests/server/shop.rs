//! A running server for one test.

use std::{
    io::{BufRead, BufReader, Lines},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use engine::testing::{TestDatabase, TestRedis};
use reqwest::{Client, Method, RequestBuilder, Response, header, redirect};
use serde_json::{Value, json};

/// The demo's operator.
pub(crate) const OPERATOR: &str = "13800000000";

/// A shop in demo mode. End each test with [`Shop::close`].
pub(crate) struct Shop {
    pub(crate) redis: TestRedis,
    pub(crate) database: TestDatabase,
    folder: PathBuf,
    /// Kept open: who prints to nobody fails.
    _output: Lines<BufReader<ChildStdout>>,
    pub(crate) server: Child,
    pub(crate) address: SocketAddr,
    pub(crate) client: Client,
}

impl Shop {
    pub(crate) async fn open() -> Self {
        Self::open_with(&[]).await
    }

    /// Starts a server with more arguments to `serve`.
    pub(crate) async fn open_with(more: &[&str]) -> Self {
        Self::open_with_log("info", more).await
    }

    /// The same, with another filter on what is logged.
    pub(crate) async fn open_with_log(filter: &str, more: &[&str]) -> Self {
        let (redis, database) = (TestRedis::start().await, TestDatabase::create().await);
        let folder = redis.folder().join("site");
        std::fs::create_dir_all(folder.join("pkg")).expect("a folder for the site");
        let assets = json!({"js": "/pkg/a.js", "wasm": "/pkg/a.wasm", "css": "/pkg/a.css"});
        std::fs::write(folder.join("assets.json"), assets.to_string()).expect("the site's names");
        std::fs::write(folder.join("pkg/a.js"), "//").expect("a script");
        let migrated = command(&redis, &database, &["migrate"])
            .status()
            .expect("the binary runs");
        assert!(migrated.success(), "the schema is not there");
        let log = std::fs::File::create(folder.join("log")).expect("a log");
        let site = folder.to_str().expect("a path");
        let mut args = vec![
            "serve",
            "--demo",
            "--log-json",
            "--listen",
            "127.0.0.1:0",
            "--site",
            site,
        ];
        args.extend(more);
        let mut server = command(&redis, &database, &args)
            .env("SECKILL_LOG", filter)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the server starts");
        let mut lines = BufReader::new(server.stdout.take().expect("its output")).lines();
        let address = lines.find_map(|line| {
            let line = line.ok()?;
            line.split_once("http://")?.1.split('/').next()?.parse().ok()
        });
        let told = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        let address = address.unwrap_or_else(|| panic!("the server did not start: {}", told()));
        let client = Client::builder().redirect(redirect::Policy::none()).build();
        Self {
            redis,
            database,
            server,
            address,
            client: client.expect("a client"),
            folder,
            _output: lines,
        }
    }

    /// Another command of the binary, on the same stores.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        command(&self.redis, &self.database, args)
    }

    /// What the server has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).expect("a log")
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn call(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url(path))
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.call(Method::GET, path).send().await.expect("an answer")
    }

    /// A call with a session.
    pub(crate) fn as_user(&self, method: Method, path: &str, token: &str) -> RequestBuilder {
        self.call(method, path)
            .header(header::COOKIE, format!("sid={token}"))
    }

    pub(crate) async fn grab(&self, voucher: &str, token: &str) -> Response {
        let path = format!("/api/v1/vouchers/{voucher}/grab");
        self.as_user(Method::POST, &path, token)
            .send()
            .await
            .expect("an answer")
    }

    /// A fresh code of a phone.
    pub(crate) async fn code(&self, phone: &str) -> String {
        let sent = self
            .call(Method::POST, "/api/v1/session/code")
            .json(&json!({"phone": phone}));
        let body: Value = sent
            .send()
            .await
            .expect("an answer")
            .json()
            .await
            .expect("a code");
        body["code"]
            .as_str()
            .expect("demo mode shows the code")
            .to_owned()
    }

    /// Logs in; the cookie that came before may be given.
    pub(crate) async fn log_in(&self, phone: &str, before: Option<&str>) -> String {
        let code = self.code(phone).await;
        let mut call = self
            .call(Method::POST, "/api/v1/session")
            .json(&json!({"phone": phone, "code": code}));
        if let Some(before) = before {
            call = call.header(header::COOKIE, format!("sid={before}"));
        }
        token(&call.send().await.expect("an answer"))
    }

    /// `n` shoppers' sessions.
    pub(crate) fn shoppers(&self, n: usize) -> Vec<String> {
        let minted = self
            .command(&["mint-sessions", "--count", &n.to_string()])
            .output();
        let lines = String::from_utf8(minted.expect("the binary runs").stdout).expect("text");
        lines
            .lines()
            .map(|line| line.split(' ').nth(1).expect("a token").to_owned())
            .collect()
    }

    /// The voucher whose sale is open.
    pub(crate) async fn open_voucher(&self) -> String {
        let body: Value = self.get("/api/v1/vouchers").await.json().await.expect("vouchers");
        let vouchers = body["vouchers"].as_array().expect("a list");
        let live = vouchers.iter().find(|voucher| voucher["state"] == "live");
        live.expect("a live sale")["id"]
            .as_str()
            .expect("an id")
            .to_owned()
    }

    /// Tells the server to stop, and waits: how long it took.
    pub(crate) fn stop(&mut self) -> Duration {
        let began = Instant::now();
        let pid = self.server.id().to_string();
        let told = Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .expect("kill runs");
        assert!(told.success());
        let status = self.server.wait().expect("it ends");
        assert!(status.success(), "{status}: {}", self.log());
        began.elapsed()
    }

    pub(crate) async fn close(mut self) {
        if self.server.try_wait().expect("a state").is_none() {
            self.stop();
        }
        self.database.drop_now().await;
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.log());
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The endpoints of the pages' server functions, from their source below a folder: a new one can't be forgotten.
pub(crate) fn server_functions(below: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/src/functions");
    let (mut folders, mut found) = (vec![root.join(below)], Vec::new());
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(folder).expect("a folder") {
            let path = file.expect("a file").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(path).expect("a source file");
            let ends = text.split("endpoint = \"").skip(1);
            found.extend(ends.filter_map(|rest| Some(rest.split('"').next()?.to_owned())));
        }
    }
    assert!(found.len() >= 3, "{found:?}");
    found
}

/// The session that an answer gives.
pub(crate) fn token(answer: &Response) -> String {
    let mut cookies = answer.headers().get_all(header::SET_COOKIE).iter();
    let token = cookies.find_map(|cookie| cookie.to_str().ok()?.strip_prefix("sid=")?.split(';').next());
    token
        .unwrap_or_else(|| panic!("no session: {answer:?}"))
        .to_owned()
}

/// The answer's stable code.
pub(crate) async fn problem(answer: Response) -> (u16, String) {
    let status = answer.status().as_u16();
    let kind = answer.headers().get(header::CONTENT_TYPE).cloned();
    assert_eq!(kind.unwrap(), "application/problem+json");
    let body: Value = answer.json().await.expect("a problem");
    assert_eq!(body["status"], status);
    (status, body["code"].as_str().expect("a code").to_owned())
}

fn command(redis: &TestRedis, database: &TestDatabase, args: &[&str]) -> Command {
    // `setpriv` ends the server with the test even if that is killed.
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL"])
        .arg(Path::new(env!("CARGO_BIN_EXE_server")))
        .args(args)
        .env("SECKILL_REDIS_URL", redis.url())
        .env("SECKILL_DATABASE_URL", database.url());
    command
}
