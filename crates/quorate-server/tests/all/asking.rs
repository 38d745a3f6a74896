//! Many servers, asked together.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use common::{key, limits, model, serve, table};
use quorate::fusion::{RULES, rule};
use quorate_server::{Address, Fused, Identity, Opinion, Panel, Trust, check_rule, fuse, record};

fn saved(folder: &tempfile::TempDir, name: &str, rows: usize, phase: f64) -> PathBuf {
    let path = folder.path().join(name);
    model(rows, phase).save(&path).unwrap();
    path
}

fn address(url: &str) -> Address {
    url.parse().unwrap()
}

/// A server that answers everything with the same text.
fn parrot(text: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/m", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            let mut stream = stream.unwrap();
            let mut heard = [0u8; 65_536];
            let _ = stream.read(&mut heard);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                text.len()
            );
            let _ = stream.write_all((head + text).as_bytes());
        }
    });
    url
}

const NONSENSE: &str = r#"{"name": "m", "versions": ["1"], "platform": "x",
    "inputs": [{"name": "a", "datatype": "FP64"}, {"name": "b", "datatype": "FP64"}, {"name": "site", "datatype": "BYTES"}],
    "outputs": [{"name": "mean", "datatype": "FP64", "shape": [1], "data": [null]}, {"name": "prior_variance", "datatype": "FP64", "shape": [1], "data": [-1]}]}"#;

#[test]
fn those_present_are_heard_and_those_absent_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (north, south) = (
        saved(&folder, "n.quorate", 30, 0.0),
        saved(&folder, "s.quorate", 35, 0.9),
    );
    let (one, two) = (
        serve(&[north], limits(), None, None),
        serve(&[south], limits(), None, None),
    );
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let addresses = vec![
        address(&one.url()),
        address(&format!("http://{gone}/m")),
        address(&parrot(NONSENSE)),
        address(&format!("{}/s", two.url())),
        address(&format!("http://{}/m", silent.local_addr().unwrap())),
        address(&format!("{}/other", two.url())),
    ];
    let trust = Trust::default().with_patience(Duration::from_secs(2));
    let mut panel = Panel::gather(addresses, trust).unwrap();
    let rows = table(9, 0.2);
    let said = panel.ask(&rows);
    let present: Vec<bool> = said.iter().map(Option::is_some).collect();
    assert_eq!(present, [true, false, false, true, false, false]);
    let problem = |index: usize| panel.agents()[index].state.clone().unwrap_err();
    assert!(problem(1).contains("cannot be reached"), "{}", problem(1));
    assert!(
        problem(2).contains("no finite number") || problem(2).contains("has no"),
        "{}",
        problem(2)
    );
    assert!(problem(4).contains("no reply within 2 s"), "{}", problem(4));
    assert!(
        problem(5).contains("there is no model `other`"),
        "{}",
        problem(5)
    );
    // What they said is what they say at home.
    let home = model(35, 0.9).predict(&rows).unwrap();
    let Some(Opinion::Number {
        mean,
        latent_variance,
        ..
    }) = &said[3]
    else {
        panic!("{said:?}")
    };
    assert_eq!((mean, latent_variance), (&home.mean, &home.latent_variance));
}

#[test]
fn every_rule_that_servers_can_meet_gives_a_sound_belief() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["one", "two", "base"];
    let paths: Vec<PathBuf> = names
        .iter()
        .zip([30, 36, 12])
        .map(|(name, rows)| saved(&folder, &format!("{name}.quorate"), rows, 0.0))
        .collect();
    let server = serve(&paths, limits(), None, None);
    let addresses = names
        .iter()
        .map(|name| address(&format!("{}/{name}", server.url())))
        .collect();
    let mut panel = Panel::gather(addresses, Trust::default()).unwrap();
    let seen = table(20, 0.4);
    let quorate::gp::data::Column::Number(targets) = seen.column("y").unwrap() else {
        panic!("numbers")
    };
    let before: Vec<Opinion> = panel.ask(&seen).into_iter().flatten().take(2).collect();
    let said: Vec<Opinion> = panel.ask(&table(6, 0.1)).into_iter().flatten().collect();
    let mut met = 0;
    for rule in RULES
        .iter()
        .filter(|rule| check_rule(rule, true, true).is_ok())
    {
        let learned = rule
            .fusion
            .needs_record()
            .then(|| rule.fusion.learn(&record(&before, targets)).unwrap());
        let fused = fuse(rule, &said[..2], Some(&said[2]), learned.as_ref()).unwrap();
        let Fused::Number(found) = fused else {
            panic!("a number")
        };
        assert!(
            found.mean.iter().all(|mean| mean.is_finite()),
            "{}",
            rule.name
        );
        assert!(
            found.latent_variance.iter().all(|v| *v >= 0.0 && *v < 10.0),
            "{}",
            rule.name
        );
        met += 1;
    }
    assert!(met >= 13, "{met}");
    // One server under the product rule says what it says alone.
    let Fused::Number(alone) = fuse(rule("product").unwrap(), &said[..1], None, None).unwrap()
    else {
        panic!("a number")
    };
    let home = model(30, 0.0).predict(&table(6, 0.1)).unwrap();
    assert!(
        alone
            .mean
            .iter()
            .zip(&home.mean)
            .all(|(a, b)| (a - b).abs() < 1e-12)
    );
}

#[test]
fn mutual_tls_refuses_a_client_without_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(&folder, "m.quorate", 30, 0.0);
    let identity = Identity {
        certificate: key("server.pem"),
        key: key("server.key"),
        root: Some(key("root.pem")),
    };
    let server = serve(&[path], limits(), None, Some(&identity));
    let url = format!("https://{}/m", server.address);
    let ask = |trust: Trust| {
        let mut panel = Panel::gather(vec![address(&url)], trust).unwrap();
        let said = panel.ask(&table(3, 0.0));
        (said[0].is_some(), panel.agents()[0].state.clone().err())
    };
    let (root, own) = (key("root.pem"), (key("client.pem"), key("client.key")));
    let known = Trust::default()
        .with_root(&root, Some((&own.0, &own.1)))
        .unwrap();
    assert_eq!(ask(known), (true, None));
    let unknown = ask(Trust::default().with_root(&root, None).unwrap());
    assert!(!unknown.0, "{unknown:?}");
    assert!(!ask(Trust::default()).0);
    // A root that did not sign the server's certificate is not believed.
    let stranger = Trust::default().with_root(&own.0, None).unwrap();
    assert!(!ask(stranger).0);
}
