//! The routes of the protocol.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http_body_util::{BodyExt, Limited};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::access::Token;
use crate::error::Refusal;
use crate::infer;
use crate::limits::Limits;
use crate::metadata;
use crate::metrics::Metrics;
use crate::shelf::{Loaded, Place};

/// What all requests share.
pub struct Desk {
    pub places: BTreeMap<String, Place>,
    pub limits: Limits,
    pub token: Option<Token>,
    pub metrics: Metrics,
    /// One for each request that may be read, wait or be computed.
    pub slots: Semaphore,
    pub pool: rayon::ThreadPool,
}

type Verdict<T> = std::result::Result<T, Refusal>;
type Shared = State<Arc<Desk>>;

/// Every route.
pub fn app(desk: Arc<Desk>) -> Router {
    let guarded = Router::new()
        .route("/v2", get(async || reply(metadata::server())))
        .route("/v2/", get(async || reply(metadata::server())))
        .route("/v2/repository/index", post(index))
        .route("/v2/models/{model}", get(about))
        .route("/v2/models/{model}/versions/{version}", get(about))
        .route("/v2/models/{model}/infer", post(answer))
        .route("/v2/models/{model}/versions/{version}/infer", post(answer))
        .route("/metrics", get(metrics))
        .layer(from_fn_with_state(desk.clone(), guard));
    // Whoever looks after the process must learn that it lives without being told secrets.
    let open = Router::new()
        .route("/v2/health/live", get(async || StatusCode::OK))
        .route("/v2/health/ready", get(async || StatusCode::OK))
        .route("/v2/models/{model}/ready", get(ready))
        .route("/v2/models/{model}/versions/{version}/ready", get(ready))
        .route("/openapi.json", get(description));
    open.merge(guarded)
        .fallback(async || Refusal::absent("there is nothing at this address; see /openapi.json"))
        .with_state(desk)
}

async fn guard(State(desk): Shared, request: Request, next: Next) -> Response {
    let verdict = desk
        .token
        .as_ref()
        .map(|token| token.check(request.headers()));
    match verdict {
        Some(Err(refusal)) => refuse(&desk, request.into_body(), refusal).await,
        _ => next.run(request).await,
    }
}

/// Reads what the client still sends before it is told no: on a closed connection it would see a failure, not the reply.
async fn refuse(desk: &Desk, body: Body, refusal: Refusal) -> Response {
    let mut body = Limited::new(body, desk.limits.body);
    let drained = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = tokio::time::timeout(desk.limits.patience, drained).await;
    refusal.into_response()
}

/// The place that a path names. A version must be the current one.
fn place<'d>(desk: &'d Desk, path: &BTreeMap<String, String>) -> Verdict<(&'d Place, Arc<Loaded>)> {
    let name = path.get("model").map(String::as_str).unwrap_or_default();
    let place = desk.places.get(name).ok_or_else(|| {
        let known: Vec<&str> = desk.places.keys().map(String::as_str).collect();
        Refusal::absent(format!(
            "there is no model `{name}`; there are {}",
            known.join(", ")
        ))
    })?;
    let loaded = place.current();
    match path.get("version") {
        Some(version) if *version != loaded.version => Err(Refusal::absent(format!(
            "model `{name}` has no version `{version}`; it is at `{}`",
            loaded.version
        ))),
        _ => Ok((place, loaded)),
    }
}

async fn ready(
    State(desk): Shared,
    Path(path): Path<BTreeMap<String, String>>,
) -> Verdict<StatusCode> {
    place(&desk, &path).map(|_| StatusCode::OK)
}

async fn about(
    State(desk): Shared,
    Path(path): Path<BTreeMap<String, String>>,
) -> Verdict<Response> {
    place(&desk, &path).map(|(_, loaded)| reply(metadata::model(&loaded)))
}

async fn index(State(desk): Shared, request: Request) -> Response {
    let _ = refuse(&desk, request.into_body(), Refusal::bad("")).await;
    let models = desk.places.values().map(|place| {
        json!({ "name": place.name, "version": place.current().version, "state": "READY", "reason": "" })
    });
    reply(Value::Array(models.collect()))
}

async fn metrics(State(desk): Shared) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    // Counted by the slots taken, which somebody who hangs up gives back too.
    let in_flight = desk.limits.requests.max(1) - desk.slots.available_permits();
    let text = desk.metrics.text(in_flight);
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

async fn description() -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], include_str!("openapi.json")).into_response()
}

async fn answer(
    State(desk): Shared,
    Path(path): Path<BTreeMap<String, String>>,
    request: Request,
) -> Response {
    let started = Instant::now();
    let (head, body) = request.into_parts();
    let (name, loaded) = match place(&desk, &path) {
        Ok((place, loaded)) => (place.name.clone(), loaded),
        Err(refusal) => return refuse(&desk, body, refusal).await,
    };
    let told = |response: Response, rows: usize| {
        let status = response.status().as_u16();
        desk.metrics
            .answered(&name, status, rows, started.elapsed());
        response
    };
    let Ok(_slot) = desk.slots.try_acquire() else {
        return told(refuse(&desk, body, Refusal::busy()).await, 0);
    };
    let outcome = match whole(&desk, body).await {
        Ok(body) => computed(&desk, loaded, head.headers, body).await,
        Err(refusal) => Err(refusal),
    };
    match outcome {
        Ok((response, rows)) => told(response, rows),
        Err(refusal) => told(refusal.into_response(), 0),
    }
}

/// The body, if it is not too long and does not take for ever.
async fn whole(desk: &Desk, body: Body) -> Verdict<Bytes> {
    let limit = desk.limits.body;
    let read = Limited::new(body, limit).collect();
    match tokio::time::timeout(desk.limits.patience, read).await {
        Err(_) => Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            "the request took too long to arrive",
        )),
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(Refusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request is longer than {limit} bytes"),
        )),
        Ok(Err(error)) => Err(Refusal::bad(format!("the request broke off: {error}"))),
    }
}

/// The reply, computed by the threads that compute, so that others can go on listening.
async fn computed(
    desk: &Arc<Desk>,
    loaded: Arc<Loaded>,
    headers: axum::http::HeaderMap,
    body: Bytes,
) -> Verdict<(Response, usize)> {
    let (tell, told) = tokio::sync::oneshot::channel();
    let limits = desk.limits;
    desk.pool.spawn(move || {
        let work = AssertUnwindSafe(|| {
            let request = infer::Request::read(&headers, &body)?;
            let (reply, rows) = request.answer(&loaded, &limits)?;
            Ok((reply.into_response(), rows))
        });
        // The client may be gone.
        let _ = tell.send(catch_unwind(work));
    });
    match told.await {
        Ok(Ok(outcome)) => outcome,
        _ => Err(Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "answering failed; this is an error in the server",
        )),
    }
}

fn reply(value: Value) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], value.to_string()).into_response()
}
