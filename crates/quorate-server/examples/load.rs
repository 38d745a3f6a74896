//! How fast a server answers, and what it does when asked too much.
//!
//!     cargo run --release -p quorate-server --example load -- ADDRESS MODEL BODY CLIENTS SECONDS [RATE]
//!
//! BODY is a file with the JSON of a request. Without RATE every client asks as fast as it is answered; with it requests
//! start at that rate altogether, whether or not earlier ones were answered, each on a connection of its own. Bounded in time; at most
//! 2,000 connections. Prints replies by status, their rate, and quantiles of the time to a reply.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Times to replies by what came: a status, or 0 for a failure.
type Seen = Arc<Mutex<Vec<(u16, f64)>>>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, model, body, clients, seconds, rest @ ..] = &arguments[..] else {
        return Err("ADDRESS MODEL BODY CLIENTS SECONDS [RATE]".into());
    };
    let body = std::fs::read(body)?;
    let head = format!(
        "POST /v2/models/{model}/infer HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let request: Arc<[u8]> = [head.as_bytes(), &body].concat().into();
    let (clients, seconds): (usize, f64) = (clients.parse()?, seconds.parse()?);
    let seen: Seen = Arc::default();
    let started = Instant::now();
    let end = started + Duration::from_secs_f64(seconds);
    match rest.first() {
        None => closed(address, &request, clients, end, &seen),
        Some(rate) => open(address, &request, rate.parse()?, end, &seen),
    }
    let took = started.elapsed().as_secs_f64();
    report(&seen, took);
    Ok(())
}

/// Clients that ask again as soon as they are answered.
fn closed(address: &str, request: &[u8], clients: usize, end: Instant, seen: &Seen) {
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let mut stream = None;
                while Instant::now() < end {
                    let asked = Instant::now();
                    let status = exchange(&mut stream, address, request).unwrap_or(0);
                    note(seen, status, asked);
                }
            });
        }
    });
}

/// Requests at a given rate, whatever becomes of them.
fn open(address: &str, request: &Arc<[u8]>, rate: f64, end: Instant, seen: &Seen) {
    let (started, waiting) = (Instant::now(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for number in 0.. {
            let due = started + Duration::from_secs_f64(f64::from(number) / rate);
            if due >= end {
                break;
            }
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            while waiting.load(Ordering::SeqCst) >= 2_000 {
                std::thread::sleep(Duration::from_millis(1));
            }
            waiting.fetch_add(1, Ordering::SeqCst);
            let waiting = &waiting;
            scope.spawn(move || {
                let asked = Instant::now();
                let status = exchange(&mut None, address, request).unwrap_or(0);
                note(seen, status, asked);
                waiting.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
}

/// One request on a connection, which is opened where there is none; its status.
fn exchange(
    stream: &mut Option<BufReader<TcpStream>>,
    address: &str,
    request: &[u8],
) -> std::io::Result<u16> {
    let mut own = match stream.take() {
        Some(own) => own,
        None => {
            let own = TcpStream::connect(address)?;
            own.set_nodelay(true)?;
            own.set_read_timeout(Some(Duration::from_secs(30)))?;
            BufReader::new(own)
        }
    };
    own.get_mut().write_all(request)?;
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        if own.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(rest) = line.strip_prefix("http/1.1 ") {
            status = rest
                .get(..3)
                .and_then(|code| code.parse().ok())
                .unwrap_or(0);
        }
        if let Some(rest) = line.strip_prefix("content-length:") {
            length = rest.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    own.read_exact(&mut body)?;
    *stream = Some(own);
    Ok(status)
}

fn note(seen: &Seen, status: u16, asked: Instant) {
    if let Ok(mut seen) = seen.lock() {
        seen.push((status, asked.elapsed().as_secs_f64()));
    }
}

fn report(seen: &Seen, took: f64) {
    let Ok(seen) = seen.lock() else { return };
    let mut by_status: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
    for (status, seconds) in seen.iter() {
        by_status.entry(*status).or_default().push(*seconds);
    }
    for (status, mut times) in by_status {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| 1e3 * times[((times.len() - 1) as f64 * share) as usize];
        let what = if status == 0 {
            "failed".into()
        } else {
            status.to_string()
        };
        println!(
            "{what}: {} replies, {:.0} a second, p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms",
            times.len(),
            times.len() as f64 / took,
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
}
