//! Connections: taken, shaken hands with, answered, and let go in good order.

use std::sync::Arc;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

use crate::limits::Limits;

/// How often the loop looks whether it should stop.
const GLANCE: std::time::Duration = std::time::Duration::from_millis(50);

/// Answers connections until `stop` says so, then finishes those that are being answered.
pub async fn serve(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
    stop: &(dyn Fn() -> bool + Sync),
) {
    let room = Arc::new(Semaphore::new(limits.connections.max(1)));
    let graceful = GracefulShutdown::new();
    let mut glance = tokio::time::interval(GLANCE);
    let mut place: Option<OwnedSemaphorePermit> = None;
    while !stop() {
        if place.is_none() {
            tokio::select! {
                free = room.clone().acquire_owned() => place = free.ok(),
                _ = glance.tick() => {}
            }
            continue;
        }
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = glance.tick() => continue,
        };
        let Ok((stream, _)) = stream else {
            // Usually too many open files: those that are open must end first.
            tokio::time::sleep(GLANCE).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (router, watcher, place) = (router.clone(), graceful.watcher(), place.take());
        match acceptor.clone() {
            None => {
                tokio::spawn(converse(stream, router, watcher, limits, place));
            }
            Some(acceptor) => {
                tokio::spawn(async move {
                    let greeting = tokio::time::timeout(limits.patience, acceptor.accept(stream));
                    if let Ok(Ok(stream)) = greeting.await {
                        converse(stream, router, watcher, limits, place).await;
                    }
                });
            }
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(limits.farewell, graceful.shutdown()).await;
}

/// One connection, request after request. What goes wrong on it is its client's loss alone.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    watcher: Watcher,
    limits: Limits,
    _place: Option<OwnedSemaphorePermit>,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.patience)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let _ = watcher.watch(connection).await;
}
