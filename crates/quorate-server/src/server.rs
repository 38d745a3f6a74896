//! A server from its models to its end.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::access::Token;
use crate::app::{Desk, app};
use crate::connections;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::shelf::Place;
use crate::tls::Identity;

/// Models that are loaded, before anybody can ask them.
pub struct Server {
    desk: Desk,
}

/// A server whose address is taken: clients may connect already, and are answered by [`Listening::run`].
pub struct Listening {
    desk: Arc<Desk>,
    listener: TcpListener,
    address: SocketAddr,
    acceptor: Option<TlsAcceptor>,
}

impl Server {
    /// Loads models, each under the name of its file without the ending, or as `NAME=FILE`.
    pub fn load(models: &[PathBuf], limits: Limits) -> Result<Self> {
        let mut places = BTreeMap::new();
        for path in models {
            let place = Place::new(path)?;
            let name = place.name.clone();
            if places.insert(name.clone(), place).is_some() {
                return Err(Error::Other(format!(
                    "two models are called `{name}`: give one another name, as in `other={}`",
                    path.display()
                )));
            }
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(limits.workers)
            .build()
            .map_err(|error| Error::Other(format!("threads: {error}")))?;
        Ok(Self {
            desk: Desk {
                places,
                limits,
                token: None,
                metrics: Metrics::default(),
                slots: Semaphore::new(limits.requests.max(1)),
                pool,
            },
        })
    }

    /// Only those who know the token are answered.
    pub fn with_token(mut self, token: Token) -> Self {
        self.desk.token = Some(token);
        self
    }

    /// Names of the models.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.desk.places.keys().map(String::as_str)
    }

    /// Takes an address; port 0 takes any that is free. With an identity everything is encrypted.
    pub fn listen(self, address: &str, identity: Option<&Identity>) -> Result<Listening> {
        let trouble = |error: std::io::Error| Error::Listen {
            address: address.to_owned(),
            problem: error.to_string(),
        };
        let acceptor = identity.map(Identity::server).transpose()?;
        let listener = TcpListener::bind(address).map_err(trouble)?;
        listener.set_nonblocking(true).map_err(trouble)?;
        Ok(Listening {
            address: listener.local_addr().map_err(trouble)?,
            desk: Arc::new(self.desk),
            listener,
            acceptor: acceptor.map(TlsAcceptor::from),
        })
    }
}

impl Listening {
    /// The address, with its port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` says so; requests that are being answered are finished. `tell` hears of models that were
    /// replaced, and of files that could not be used.
    pub fn run(
        self,
        stop: &(dyn Fn() -> bool + Sync),
        tell: &(dyn Fn(String) + Sync),
    ) -> Result<()> {
        let trouble = |error: std::io::Error| Error::Other(format!("the server: {error}"));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_io()
            .enable_time()
            .build()
            .map_err(trouble)?;
        let router = app(self.desk.clone());
        let limits = self.desk.limits;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(trouble)?;
            let told = Arc::new(AtomicBool::new(false));
            tokio::spawn(terminated(told.clone()));
            let stop = || stop() || told.load(Ordering::SeqCst);
            tokio::select! {
                () = connections::serve(listener, self.acceptor, router, limits, &stop) => {}
                () = reload(&self.desk, tell) => {}
            }
            Ok(())
        })
    }
}

/// Waits for a request to terminate. A script that starts a server in the background makes it ignore Ctrl-C, and then the
/// command has no handler of its own: this one works always.
async fn terminated(told: Arc<AtomicBool>) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut requests) = signal(SignalKind::terminate()) {
            requests.recv().await;
            told.store(true, Ordering::SeqCst);
        }
    }
    #[cfg(not(unix))]
    drop(told);
}

/// Looks at the files of the models from time to time, for ever.
async fn reload(desk: &Arc<Desk>, tell: &(dyn Fn(String) + Sync)) {
    let Some(pause) = desk.limits.reload else {
        return std::future::pending().await;
    };
    loop {
        tokio::time::sleep(pause).await;
        for name in desk.places.keys() {
            let (own, name) = (desk.clone(), name.clone());
            let looked = tokio::task::spawn_blocking(move || {
                let outcome = own.places[&name].refresh();
                (name, outcome)
            });
            match looked.await {
                Ok((name, Ok(true))) => {
                    desk.metrics.reloaded(&name, true);
                    tell(format!("model `{name}` was replaced"));
                }
                Ok((name, Err(error))) => {
                    desk.metrics.reloaded(&name, false);
                    tell(format!("model `{name}` stays as it was: {error}"));
                }
                _ => {}
            }
        }
    }
}
