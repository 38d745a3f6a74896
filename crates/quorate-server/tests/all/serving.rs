//! A server as its clients see it.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::io::Write;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use common::{Running, call, limits, model, question, read_reply, request, serve, table};
use quorate_server::Limits;

/// A folder with one model, and a server for it.
fn started(limits: Limits) -> (tempfile::TempDir, PathBuf, Running) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.quorate");
    model(40, 0.0).save(&path).unwrap();
    let running = serve(std::slice::from_ref(&path), limits, None, None);
    (folder, path, running)
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    let cells = value.as_array().unwrap().iter();
    cells.map(|cell| cell.as_f64().unwrap()).collect()
}

#[test]
fn a_served_model_answers_as_it_does_at_home() {
    let (_folder, _, server) = started(limits());
    let (home, rows) = (model(40, 0.0), table(7, 0.3));
    let expected = home.predict(&rows).unwrap();
    let rest = r#", "id": "q", "parameters": {"quantiles": [0.1, 0.9]}, "outputs": [{"name": "mean"}, {"name": "variance"},
        {"name": "latent_variance"}, {"name": "quantiles"}, {"name": "covariance"}]"#;
    let reply = server.post("/v2/models/m/infer", &question(&rows, rest));
    assert_eq!(reply.status, 200, "{reply:?}");
    let json = reply.json();
    assert_eq!(
        (&json["id"], &json["model_name"]),
        (&"q".into(), &"m".into())
    );
    let output = |index: usize| numbers(&json["outputs"][index]["data"]);
    // JSON keeps every bit.
    assert_eq!(output(0), expected.mean);
    assert_eq!(output(1), expected.variance(false));
    assert_eq!(output(2), expected.latent_variance);
    assert_eq!(json["outputs"][3]["shape"], serde_json::json!([7, 2]));
    assert_eq!(output(3)[1], expected.quantile(0.9, false)[0]);
    let joint = home.predict_joint(&rows).unwrap();
    assert_eq!(output(4), joint.covariance(false));
    // Without a list: mean and variance.
    let json = server
        .post("/v2/models/m/infer", &question(&rows, ""))
        .json();
    let names: Vec<&str> = json["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["mean", "variance"]);
}

#[test]
fn raw_tensors_say_the_same_as_json() {
    let (_folder, _, server) = started(limits());
    let rows = table(5, 0.1);
    let plain = server
        .post("/v2/models/m/infer", &question(&rows, ""))
        .json();
    let mut inputs = Vec::new();
    let mut raw: Vec<u8> = Vec::new();
    for name in ["a", "b", "site"] {
        let (datatype, bytes): (&str, Vec<u8>) = match rows.column(name).unwrap() {
            quorate::gp::data::Column::Number(cells) => {
                ("FP64", cells.iter().flat_map(|c| c.to_le_bytes()).collect())
            }
            quorate::gp::data::Column::Text(cells) => {
                let cell = |c: &Option<Arc<str>>| {
                    let text = c.as_deref().unwrap();
                    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
                };
                ("BYTES", cells.iter().flat_map(cell).collect())
            }
        };
        inputs.push(serde_json::json!({ "name": name, "datatype": datatype, "shape": [5, 1], "parameters": {"binary_data_size": bytes.len()} }));
        raw.extend(bytes);
    }
    let text = serde_json::json!({ "inputs": inputs, "parameters": {"binary_data_output": true} })
        .to_string();
    let length = text.len().to_string();
    let body = [text.as_bytes(), &raw].concat();
    let reply = call(
        server.address,
        "POST",
        "/v2/models/m/infer",
        &[("Inference-Header-Content-Length", &length)],
        &body,
    );
    assert_eq!(
        reply.status,
        200,
        "{}",
        String::from_utf8_lossy(&reply.body)
    );
    let length: usize = reply
        .header("inference-header-content-length")
        .unwrap()
        .parse()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&reply.body[..length]).unwrap();
    assert_eq!(json["outputs"][0]["parameters"]["binary_data_size"], 40);
    let said: Vec<f64> = reply.body[length..length + 40]
        .chunks(8)
        .map(|c| f64::from_le_bytes(c.try_into().unwrap()))
        .collect();
    assert_eq!(said, numbers(&plain["outputs"][0]["data"]));
}

#[test]
fn the_server_says_what_it_is_and_what_models_want() {
    let (_folder, _, server) = started(limits());
    for path in [
        "/v2/health/live",
        "/v2/health/ready",
        "/v2/models/m/ready",
        "/openapi.json",
        "/metrics",
    ] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    assert_eq!(server.get("/v2").json()["name"], "quorate");
    let about = server.get("/v2/models/m").json();
    assert_eq!(
        about["inputs"][2],
        serde_json::json!({"name": "site", "datatype": "BYTES", "shape": [-1]})
    );
    let version = about["versions"][0].as_str().unwrap().to_owned();
    assert_eq!(
        server
            .get(&format!("/v2/models/m/versions/{version}"))
            .status,
        200
    );
    assert_eq!(server.get("/v2/models/m/versions/1").status, 404);
    let wrong = server.get("/v2/models/x");
    assert_eq!(wrong.status, 404);
    assert!(
        wrong.json()["error"]
            .as_str()
            .unwrap()
            .contains("there are m")
    );
    assert_eq!(server.get("/v3").status, 404);
    assert_eq!(server.get("/v2/models/m/infer").status, 405);
    server.post("/v2/models/m/infer", &question(&table(5, 0.0), ""));
    server.post("/v2/models/m/infer", "{}");
    let text = String::from_utf8(server.get("/metrics").body).unwrap();
    for line in [
        "quorate_requests_total{model=\"m\",code=\"200\"} 1",
        "quorate_requests_total{model=\"m\",code=\"400\"} 1",
        "quorate_rows_total{model=\"m\"} 5",
        "quorate_requests_in_flight 0",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}: {text}");
    }
}

#[test]
fn what_cannot_be_understood_is_refused_and_harms_nobody() {
    let (_folder, _, server) = started(limits());
    let good = question(&table(3, 0.0), "");
    let bodies = [
        String::new(),
        "{".into(),
        "[]".into(),
        "{}".into(),
        "\u{0}\u{1}".into(),
        r#"{"inputs": 3}"#.into(),
        r#"{"inputs": []}"#.into(),
        good.replace("FP64", "FP65"),
        good.replace("[3]", "[4]"),
        good.replace("[3]", "[-3]"),
        good.replace("[3]", "[3, 2]"),
        good.replace("[3]", "[18446744073709551615, 9]"),
        good.replace("\"a\"", "\"c\""),
        good.replace("\"b\"", "\"a\""),
        good.replace("BYTES", "FP64"),
        question(&table(3, 0.0), r#", "outputs": [{"name": "median"}]"#),
        question(&table(3, 0.0), r#", "parameters": {"quantiles": [2]}"#),
        question(
            &table(3, 0.0),
            r#", "parameters": {"binary_data_output": 1}"#,
        ),
        good.replace("[3]", "[0]"),
        "[".repeat(100_000),
        good.replace(
            "\"shape\"",
            "\"parameters\": {\"binary_data_size\": 8}, \"shape\"",
        ),
    ];
    for body in bodies {
        let reply = server.post("/v2/models/m/infer", &body);
        let shown: String = body.chars().take(80).collect();
        assert_eq!(reply.status, 400, "{shown}");
        assert!(!reply.json()["error"].as_str().unwrap().is_empty());
    }
    for length in ["x", "-1", "99999"] {
        let headers = [("Inference-Header-Content-Length", length)];
        assert_eq!(
            call(
                server.address,
                "POST",
                "/v2/models/m/infer",
                &headers,
                good.as_bytes()
            )
            .status,
            400
        );
    }
    assert_eq!(server.post("/v2/models/m/infer", &good).status, 200);
}

#[test]
fn missing_cells_are_missing_and_infinite_ones_are_refused() {
    let (_folder, _, server) = started(limits());
    let body = question(&table(2, 0.0), "");
    let cells = match table(2, 0.0).column("b").unwrap() {
        quorate::gp::data::Column::Number(cells) => serde_json::json!(cells).to_string(),
        quorate::gp::data::Column::Text(_) => unreachable!(),
    };
    assert_eq!(
        server
            .post("/v2/models/m/infer", &body.replace(&cells, "[null, 0.5]"))
            .status,
        200
    );
    let refused = server.post("/v2/models/m/infer", &body.replace(&cells, "[1e999, 0.5]"));
    assert_eq!(refused.status, 400);
}

#[test]
fn too_much_is_refused() {
    let small = Limits {
        body: 2_000,
        rows: 10,
        joint_rows: 3,
        requests: 1,
        ..limits()
    };
    let (_folder, _, server) = started(small);
    assert_eq!(
        server
            .post("/v2/models/m/infer", &question(&table(11, 0.0), ""))
            .status,
        413
    );
    assert_eq!(
        server.post("/v2/models/m/infer", &"x".repeat(5_000)).status,
        413
    );
    let rest = r#", "outputs": [{"name": "covariance"}]"#;
    assert_eq!(
        server
            .post("/v2/models/m/infer", &question(&table(4, 0.0), rest))
            .status,
        413
    );
    // Somebody who is slow takes the only slot; the next is told to come again.
    let body = question(&table(3, 0.0), "");
    let mut slow = TcpStream::connect(server.address).unwrap();
    let head = request("POST", "/v2/models/m/infer", &[], body.len());
    slow.write_all(head.as_bytes()).unwrap();
    slow.write_all(&body.as_bytes()[..10]).unwrap();
    // Its head may be read after that of somebody who comes later, so the others wait until it is inside.
    await_in_flight(&server, 1);
    let refused = server.post("/v2/models/m/infer", &body);
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    slow.write_all(&body.as_bytes()[10..]).unwrap();
    assert_eq!(read_reply(&mut slow).status, 200);
    assert_eq!(server.post("/v2/models/m/infer", &body).status, 200);
    // Somebody who hangs up in the middle gives the slot back.
    let mut hasty = TcpStream::connect(server.address).unwrap();
    hasty.write_all(head.as_bytes()).unwrap();
    await_in_flight(&server, 1);
    drop(hasty);
    await_in_flight(&server, 0);
    assert_eq!(server.post("/v2/models/m/infer", &body).status, 200);
}

/// Waits until the server says that so many requests are being answered.
fn await_in_flight(server: &Running, count: usize) {
    let wanted = format!("quorate_requests_in_flight {count}");
    for _ in 0..400 {
        let told = String::from_utf8(server.get("/metrics").body).unwrap();
        if told.lines().any(|line| line == wanted) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the server never said {wanted}");
}

#[test]
fn a_wrong_token_gets_401() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.quorate");
    model(30, 0.0).save(&path).unwrap();
    let server = serve(&[path], limits(), Some("secret"), None);
    let body = question(&table(3, 0.0), "");
    let ask = |token: &str| {
        let headers = [("Authorization", token)];
        call(
            server.address,
            "POST",
            "/v2/models/m/infer",
            &headers,
            body.as_bytes(),
        )
        .status
    };
    assert_eq!(ask("Bearer secret"), 200);
    assert_eq!(ask("Bearer wrong"), 401);
    for path in ["/v2", "/v2/models/m", "/metrics"] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
    assert_eq!(
        server
            .post("/v2/models/m/infer", &body)
            .header("www-authenticate"),
        Some("Bearer")
    );
    assert_eq!(server.get("/v2/health/ready").status, 200);
}

#[test]
fn a_replaced_model_takes_over_and_no_request_is_dropped() {
    let eager = Limits {
        reload: Some(Duration::from_millis(20)),
        ..limits()
    };
    let (_folder, path, server) = started(eager);
    let version = |server: &Running| server.get("/v2/models/m").json()["versions"][0].clone();
    let first = version(&server);
    let (stop, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    let body = question(&table(3, 0.0), "");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    assert_eq!(server.post("/v2/models/m/infer", &body).status, 200);
                    asked.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let wait_until = |done: &dyn Fn() -> bool| {
            let begun = std::time::Instant::now();
            while !done() {
                assert!(begun.elapsed().as_secs() < 30, "nothing was noticed");
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        let wait_for_other = |than: &serde_json::Value| wait_until(&|| version(&server) != *than);
        model(30, 0.5).save(&path).unwrap();
        wait_for_other(&first);
        let second = version(&server);
        // A file that is no model changes nothing. It comes whole, so that it is refused once.
        let aside = path.with_extension("aside");
        std::fs::write(&aside, "nonsense").unwrap();
        std::fs::rename(&aside, &path).unwrap();
        let refused = "quorate_reloads_total{model=\"m\",outcome=\"failed\"} 1";
        let metrics = || String::from_utf8(server.get("/metrics").body).unwrap();
        wait_until(&|| metrics().contains(refused));
        assert_eq!(version(&server), second);
        model(35, 0.7).save(&path).unwrap();
        wait_for_other(&second);
        stop.store(true, Ordering::SeqCst);
    });
    assert!(asked.load(Ordering::SeqCst) > 5);
}

#[test]
fn a_stopped_server_finishes_what_was_begun() {
    let (_folder, _, mut server) = started(limits());
    let body = question(&table(3, 0.0), "");
    let mut slow = TcpStream::connect(server.address).unwrap();
    slow.write_all(request("POST", "/v2/models/m/infer", &[], body.len()).as_bytes())
        .unwrap();
    slow.write_all(&body.as_bytes()[..10]).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    server.stop.store(true, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(200));
    assert!(
        TcpStream::connect(server.address).is_err(),
        "nobody new is taken"
    );
    slow.write_all(&body.as_bytes()[10..]).unwrap();
    assert_eq!(read_reply(&mut slow).status, 200);
    server.end();
}
