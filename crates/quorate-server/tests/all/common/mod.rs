//! A small model, a server around it, and a client that knows nothing of ours.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use quorate::gp::data::{Column, Frame};
use quorate::gp::watch::Unwatched;
use quorate::{Model, ModelSpec};
use quorate_server::{Identity, Limits, Server, Token};

/// A table with two numbers, a text and a target.
pub fn table(rows: usize, phase: f64) -> Frame {
    let number =
        |of: &dyn Fn(f64) -> f64| Column::Number((0..rows).map(|i| of(i as f64)).collect());
    let site = (0..rows).map(|i| Some(if i % 3 == 0 { "north" } else { "south" }.into()));
    Frame::from_columns(vec![
        ("a", number(&|i| (i * 0.37 + phase).sin())),
        ("b", number(&|i| (i * 0.21).cos())),
        ("site", Column::Text(site.collect())),
        (
            "y",
            number(&|i| {
                (i * 0.37 + phase).sin() * 2.0 + (i * 0.21).cos() + (i * 12.9).sin() * 0.05
            }),
        ),
    ])
    .unwrap()
}

pub fn model(rows: usize, phase: f64) -> Model {
    let spec = ModelSpec {
        kernel: "se(ard)*category".parse().unwrap(),
        ..ModelSpec::new("y")
    };
    Model::fit(&spec, &table(rows, phase), &Unwatched).unwrap()
}

/// A server in a thread; stopped and waited for when dropped.
pub struct Running {
    pub address: SocketAddr,
    pub stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

pub fn limits() -> Limits {
    Limits {
        workers: 2,
        reload: None,
        patience: Duration::from_secs(5),
        farewell: Duration::from_secs(5),
        ..Limits::default()
    }
}

pub fn serve(
    models: &[PathBuf],
    limits: Limits,
    token: Option<&str>,
    identity: Option<&Identity>,
) -> Running {
    let mut server = Server::load(models, limits).unwrap();
    if let Some(token) = token {
        server = server.with_token(Token::of(token));
    }
    let listening = server.listen("127.0.0.1:0", identity).unwrap();
    let address = listening.address();
    let stop = Arc::new(AtomicBool::new(false));
    let own = stop.clone();
    let thread = std::thread::spawn(move || {
        listening
            .run(&|| own.load(Ordering::SeqCst), &|_| {})
            .unwrap();
    });
    Running {
        address,
        stop,
        thread: Some(thread),
    }
}

impl Running {
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops and waits for the end.
    pub fn end(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub fn get(&self, path: &str) -> Reply {
        call(self.address, "GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &str) -> Reply {
        call(self.address, "POST", path, &[], body.as_bytes())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// The text of a request.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], length: usize) -> String {
    let mut text = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n"
    );
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text + "\r\n"
}

pub fn call(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
        .write_all(request(method, path, headers, body.len()).as_bytes())
        .unwrap();
    // A server that refuses may not listen to the end.
    let _ = stream.write_all(body);
    read_reply(&mut stream)
}

pub fn read_reply(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes
        .windows(4)
        .position(|part| part == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply {
        status,
        head,
        body: bytes[end + 4..].to_vec(),
    }
}

/// The body of a request about rows of a table, in JSON.
pub fn question(table: &Frame, rest: &str) -> String {
    let column = |name: &str| match table.column(name).unwrap() {
        Column::Number(cells) => ("FP64", serde_json::json!(cells)),
        Column::Text(cells) => {
            let cells: Vec<&str> = cells.iter().map(|c| c.as_deref().unwrap()).collect();
            ("BYTES", serde_json::json!(cells))
        }
    };
    let inputs: Vec<serde_json::Value> = ["a", "b", "site"]
        .iter()
        .map(|name| {
            let (datatype, data) = column(name);
            serde_json::json!({ "name": name, "datatype": datatype, "shape": [table.rows()], "data": data })
        })
        .collect();
    format!("{{\"inputs\": {}{rest}}}", serde_json::json!(inputs))
}

/// A certificate of the tests.
pub fn key(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/all/keys")
        .join(name)
}
