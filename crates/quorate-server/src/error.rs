//! Two kinds of trouble: what stops the server or the client, and what a request is refused with.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What stops the server, or the client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model cannot be loaded or cannot answer.
    #[error(transparent)]
    Model(#[from] quorate::Error),
    /// A file with a key, a certificate or a token cannot be used.
    #[error("{path}: {problem}")]
    Secret {
        /// Which file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// The address cannot be listened on.
    #[error("{address}: {problem}; choose another with `--listen`")]
    Listen {
        /// Which address.
        address: String,
        /// What the system said.
        problem: String,
    },
    /// Anything else that makes serving or asking impossible.
    #[error("{0}")]
    Other(String),
}

/// Why a request is refused: a status and a sentence. The protocol's body for it is `{"error": sentence}`.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub sentence: String,
}

impl Refusal {
    pub fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self {
            status,
            sentence: sentence.into(),
        }
    }

    /// The request cannot be understood or cannot be met.
    pub fn bad(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, sentence)
    }

    /// There is no such thing here.
    pub fn absent(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, sentence)
    }

    /// Too much is asked for already.
    pub fn busy() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many requests are being answered; ask again in a moment",
        )
    }
}

impl From<quorate::Error> for Refusal {
    fn from(error: quorate::Error) -> Self {
        let status = match &error {
            quorate::Error::Spec(_)
            | quorate::Error::Gp(
                quorate_gp::Error::Data { .. }
                | quorate_gp::Error::Shape { .. }
                | quorate_gp::Error::Invalid(_),
            ) => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl From<quorate_gp::Error> for Refusal {
    fn from(error: quorate_gp::Error) -> Self {
        quorate::Error::from(error).into()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.sentence }).to_string();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        match self.status {
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}
