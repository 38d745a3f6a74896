//! How much a server takes on.

use std::time::Duration;

/// How much a server takes on before it says no.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one request's body.
    pub body: usize,
    /// Rows of one request.
    pub rows: usize,
    /// Rows of a request for a joint covariance, which has their square as its size.
    pub joint_rows: usize,
    /// Requests that are read, wait or are computed at one time; the next is answered 503.
    pub requests: usize,
    /// Requests that are computed at one time; 0 for one a core.
    pub workers: usize,
    /// Connections held open at one time; the next waits.
    pub connections: usize,
    /// How long a client may take to send a request.
    pub patience: Duration,
    /// How long requests may take to be finished when the server is stopped.
    pub farewell: Duration,
    /// How often model files are looked at; none to never reload.
    pub reload: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            rows: 65_536,
            joint_rows: 2_048,
            requests: 64,
            workers: 0,
            connections: 1_024,
            patience: Duration::from_secs(30),
            farewell: Duration::from_secs(30),
            reload: Some(Duration::from_secs(2)),
        }
    }
}
