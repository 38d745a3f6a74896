//! A small HTTP client: one request, one connection.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{HeaderMap, Method, Request};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::access::secret_line;
use crate::error::Result;
use crate::tls;

/// Bytes of a reply, at most.
const MOST_REPLY: usize = 256 << 20;

/// Where a server is, and which of its models is meant: `http://host:port/model`, or without a model where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// As it was given.
    pub url: String,
    is_encrypted: bool,
    host: String,
    port: u16,
    /// The model, where one is named.
    pub model: Option<String>,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(url: &str) -> std::result::Result<Self, String> {
        let example = "expected an address like http://host:8000/model";
        let (is_encrypted, rest) = match url.split_once("://") {
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            _ => return Err(example.to_owned()),
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (
                host,
                port.parse()
                    .map_err(|_| format!("`{port}` is no port; {example}"))?,
            ),
            _ => (authority, if is_encrypted { 443 } else { 80 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let path = path.trim_matches('/');
        let model = path.strip_prefix("v2/models/").unwrap_or(path);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if host.is_empty() || !model.chars().all(is_plain) || model == "v2" {
            return Err(example.to_owned());
        }
        Ok(Self {
            url: url.to_owned(),
            is_encrypted,
            host: host.to_owned(),
            port,
            model: (!model.is_empty()).then(|| model.to_owned()),
        })
    }
}

/// Whom a client believes, who it says it is, and how long it waits.
#[derive(Clone, Default)]
pub struct Trust {
    encrypted: Option<Arc<ClientConfig>>,
    token: Option<String>,
    patience: Option<Duration>,
}

impl Trust {
    /// Believes servers whose certificate comes from a root, and shows a certificate of its own where it has one.
    pub fn with_root(mut self, root: &Path, own: Option<(&Path, &Path)>) -> Result<Self> {
        self.encrypted = Some(tls::client(root, own)?);
        Ok(self)
    }

    /// Brings the token that is the first line of a file.
    pub fn with_token(mut self, path: &Path) -> Result<Self> {
        self.token = Some(secret_line(path)?);
        Ok(self)
    }

    /// Waits so long for each reply.
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }
}

/// A request: method, path, further headers, body.
pub(crate) struct Call {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Call {
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }
}

/// A reply: status, headers, body.
pub(crate) struct Heard {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Address {
    /// Sends a request and waits for the reply; what went wrong comes as a sentence.
    pub(crate) async fn call(
        &self,
        trust: &Trust,
        call: Call,
    ) -> std::result::Result<Heard, String> {
        let patience = trust.patience.unwrap_or(Duration::from_secs(30));
        match tokio::time::timeout(patience, self.exchange(trust, call)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(format!("no reply within {} s", patience.as_secs_f64())),
        }
    }

    async fn exchange(&self, trust: &Trust, call: Call) -> std::result::Result<Heard, String> {
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| format!("cannot be reached: {error}"))?;
        let _ = stream.set_nodelay(true);
        if !self.is_encrypted {
            return self.talk(stream, trust, call).await;
        }
        let Some(config) = trust.encrypted.clone() else {
            return Err("an address with https needs a root certificate: use `--ca`".into());
        };
        let name = ServerName::try_from(self.host.clone()).map_err(|error| error.to_string())?;
        let stream = TlsConnector::from(config)
            .connect(name, stream)
            .await
            .map_err(|error| {
                format!("does not prove who it is, or does not believe us: {error}")
            })?;
        self.talk(stream, trust, call).await
    }

    async fn talk(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        trust: &Trust,
        call: Call,
    ) -> std::result::Result<Heard, String> {
        let broken = |error: hyper::Error| format!("the connection broke: {error}");
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        let driven = tokio::spawn(connection);
        let mut request = Request::builder()
            .method(call.method)
            .uri(call.path)
            .header(HOST, format!("{}:{}", self.host, self.port))
            .header(CONTENT_TYPE, "application/octet-stream");
        if let Some(token) = &trust.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        for (name, value) in &call.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Full::new(call.body))
            .map_err(|error| error.to_string())?;
        let reply = sender.send_request(request).await.map_err(broken)?;
        let (head, body) = reply.into_parts();
        let body = Limited::new(body, MOST_REPLY)
            .collect()
            .await
            .map_err(|error| format!("the reply broke off: {error}"))?;
        drop(sender);
        let _ = driven.await;
        Ok(Heard {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.to_bytes(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_a_server_and_perhaps_a_model() {
        let plain: Address = "http://127.0.0.1:8000".parse().expect("address");
        assert_eq!((plain.port, plain.model), (8000, None));
        let named: Address = "https://h/v2/models/price".parse().expect("address");
        assert_eq!((named.port, named.model.as_deref()), (443, Some("price")));
        let six: Address = "http://[::1]:80/m".parse().expect("address");
        assert_eq!(six.host, "::1");
        for wrong in [
            "host:80",
            "ftp://h",
            "http://",
            "http://h:x",
            "http://h/a b",
        ] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }
}
