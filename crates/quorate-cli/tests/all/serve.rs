//! `serve` and `ask` as people would use them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use crate::harness;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use harness::{Place, rows};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A server in a process of its own; told to stop when dropped.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn new(place: &Place, line: &str) -> Self {
        let mut child = place
            .command(&format!("serve --listen 127.0.0.1:0 --reload 0.1s {line}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut text = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut text)
            .unwrap();
        let url = text.trim().rsplit(' ').next().unwrap().to_owned();
        assert!(url.starts_with("http"), "{text}");
        Self { child, url }
    }

    /// Asks it to terminate; its exit code.
    fn stop(&mut self) -> Option<i32> {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap());
        let _ = kill(pid, Signal::SIGTERM);
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(10) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two models of two sites, and a table to ask about.
fn sites() -> Place {
    let place = Place::new();
    place.write("north.csv", rows(60, 1));
    place.write("south.csv", rows(50, 2));
    place.write("new.csv", rows(12, 3));
    for site in ["north", "south"] {
        place
            .run(&format!(
                "fit {site}.csv --target y --kernel se(ard)*category --restarts 0 -o {site}.quorate"
            ))
            .ok();
    }
    place
}

fn column(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines();
    let at = lines
        .next()
        .unwrap()
        .split(',')
        .position(|own| own == name)
        .unwrap();
    lines
        .map(|line| line.split(',').nth(at).unwrap().parse().unwrap())
        .collect()
}

#[test]
fn two_sites_are_asked_fused_and_stopped() {
    let place = sites();
    let (mut north, mut south) = (
        Served::new(&place, "north.quorate"),
        Served::new(&place, "field=south.quorate"),
    );
    // One server alone under the product rule is the model itself.
    let alone = place
        .run(&format!(
            "ask new.csv --agents {} --rule product",
            north.url
        ))
        .ok()
        .stdout;
    let home = place.run("predict north.quorate new.csv").ok().stdout;
    for name in ["mean", "std", "lower"] {
        let pairs = column(&alone, name).into_iter().zip(column(&home, name));
        assert!(
            pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9),
            "{name}: {alone} {home}"
        );
    }
    let both = format!("{} {}/field http://127.0.0.1:1/x", north.url, south.url);
    let line = format!("ask new.csv --agents {both} --quorum 2 --rule bcm --json -o out.csv");
    let json = place.run(&line).ok().json();
    assert_eq!(json["rows"], 12);
    let answered: Vec<bool> = (0..3)
        .map(|i| json["agents"][i]["answered"].as_bool().unwrap())
        .collect();
    assert_eq!(answered, [true, true, false]);
    assert_eq!(json["agents"][1]["model"], "field");
    // Without a quorum nothing is written.
    let refused = place.run(&format!("ask new.csv --agents {both} -o none.csv"));
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("2 servers answered, and 3 must"),
        "{refused:?}"
    );
    assert!(
        refused
            .stderr
            .contains("http://127.0.0.1:1/x cannot be reached"),
        "{refused:?}"
    );
    assert!(!place.path("none.csv").exists());
    let stacked = format!(
        "ask new.csv --agents {} {}/field --rule stacking --held-out south.csv --target y",
        north.url, south.url
    );
    assert_eq!(place.run(&stacked).ok().stdout.lines().count(), 13);
    for (line, words) in [
        ("--rule stacking", "--held-out"),
        ("--rule nested", "in one place"),
        ("--rule bmc", "did you mean `bcm`"),
        ("--rule generalised-robust-bcm", "--base"),
    ] {
        let refused = place.run(&format!("ask new.csv --agents {} {line}", north.url));
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    assert_eq!((north.stop(), south.stop()), (Some(0), Some(0)));
}

#[test]
fn a_token_is_wanted_and_brought() {
    let place = sites();
    place.write("token.txt", "secret\n");
    place.write("wrong.txt", "other\n");
    place.write("blank.txt", "\n");
    let server = Served::new(&place, "north.quorate --token-file token.txt");
    let ask = |rest: &str| place.run(&format!("ask new.csv --agents {} {rest}", server.url));
    assert_eq!(ask("--token-file token.txt").code, Some(0));
    for rest in ["", "--token-file wrong.txt"] {
        let refused = ask(rest);
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains("says 401"), "{refused:?}");
    }
    assert!(
        ask("--token-file blank.txt")
            .stderr
            .contains("blank.txt: expected a token")
    );
    // An address that is taken, and a name that cannot be one.
    let taken = server.url.trim_start_matches("http://");
    let refused = place.run(&format!("serve north.quorate --listen {taken}"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--listen"), "{refused:?}");
    let refused = place.run("serve a/b=north.quorate --listen 127.0.0.1:0");
    assert!(
        refused.stderr.contains("cannot be a model's name"),
        "{refused:?}"
    );
    let mut stream = TcpStream::connect(taken).unwrap();
    stream
        .write_all(b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
}

#[test]
fn classes_of_several_servers_are_averaged() {
    let place = Place::new();
    place
        .run("generate art-classes -n 80 --seed 1 -o a.csv")
        .ok();
    place
        .run("generate art-classes -n 80 --seed 2 -o b.csv")
        .ok();
    for site in ["a", "b"] {
        place
            .run(&format!(
                "fit {site}.csv --target label --kernel se(ard) --restarts 0 -o {site}.quorate"
            ))
            .ok();
    }
    let server = Served::new(&place, "a.quorate b.quorate");
    let line = format!("ask a.csv --agents {0}/a {0}/b", server.url);
    let text = place.run(&line).ok().stdout;
    let header = text.lines().next().unwrap();
    let classes: Vec<&str> = header.split(',').skip(1).collect();
    assert!(header.starts_with("label,p_"), "{header}");
    let home = |site: &str| {
        let text = place
            .run(&format!("predict {site}.quorate a.csv"))
            .ok()
            .stdout;
        column(&text, classes[0])
    };
    let mean: Vec<f64> = home("a")
        .iter()
        .zip(home("b"))
        .map(|(a, b)| (a + b) / 2.0)
        .collect();
    let pairs = column(&text, classes[0]).into_iter().zip(mean);
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9));
    let refused = place.run(&format!("{line} --rule bcm"));
    assert!(
        refused.stderr.contains("`mixture` or `product`"),
        "{refused:?}"
    );
}
