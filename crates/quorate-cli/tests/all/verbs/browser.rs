//! A report as a browser shows it, where there is a headless Chromium.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::harness::{Place, rows};

/// The browser named by `QUORATE_BROWSER`, or one of the usual names on the path.
fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("QUORATE_BROWSER") {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

fn skipped(what: &str) {
    eprintln!("skipped: needs a browser: {what}");
    if let Some(log) = std::env::var_os("QUORATE_SKIP_LOG") {
        let mut file = std::fs::File::options()
            .create(true)
            .append(true)
            .open(log)
            .unwrap();
        writeln!(file, "needs a browser: {what}").unwrap();
    }
}

/// What a browser measures in the page: too wide, drawings without size, text outside its drawing.
const MEASURE: &str = r#"<script>
const found = [];
const wide = document.documentElement.scrollWidth - innerWidth;
if (wide > 0) found.push("page is " + wide + " px too wide");
for (const svg of document.querySelectorAll("svg")) {
  const frame = svg.getBoundingClientRect();
  if (frame.width < 200 || frame.height < 20) found.push("small drawing " + svg.ariaLabel);
  for (const text of svg.querySelectorAll("text")) {
    const box = text.getBoundingClientRect();
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      found.push("text outside " + svg.ariaLabel + ": " + text.textContent);
  }
}
for (const cell of document.querySelectorAll("h1, h2, h3, .tile dd, .how"))
  if (cell.scrollWidth > cell.clientWidth + 1) found.push("cut off: " + cell.textContent);
document.body.dataset.drawings = document.querySelectorAll("svg").length;
document.body.dataset.found = found.join("; ") || "nothing";
</script>"#;

/// Runs the browser on a file of the place.
fn look(browser: &PathBuf, place: &Place, width: usize, flags: &[&str], file: &str) -> Vec<u8> {
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
        ])
        .arg(format!(
            "--user-data-dir={}",
            place.path("profile").display()
        ))
        .arg(format!("--window-size={width},1600"))
        .args(flags)
        .arg(format!("file://{}", place.path(file).display()))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

#[test]
fn a_browser_shows_the_whole_page_at_every_width() {
    let Some(browser) = browser() else {
        return skipped("a_browser_shows_the_whole_page_at_every_width");
    };
    let place = Place::new();
    // Long names, large and tiny numbers.
    let table = rows(60, 1).replacen(
        "a,b,",
        "a_rather_long_name_of_an_input_column_that_goes_on,b,",
        1,
    );
    place.write("train.csv", table);
    place
        .run("fit train.csv --target y --kernel se(ard)+category --restarts 2 -o m.quorate")
        .ok();
    place.run("report m.quorate -o page.html").ok();
    let page = place
        .read("page.html")
        .replace("</body>", &format!("{MEASURE}</body>"));
    place.write("measured.html", page);
    for width in [420, 900, 1400] {
        let dom = look(&browser, &place, width, &["--dump-dom"], "measured.html");
        let dom = String::from_utf8_lossy(&dom);
        let value = |name: &str| {
            dom.split(&format!("data-{name}=\""))
                .nth(1)
                .unwrap()
                .split('"')
                .next()
        };
        assert_eq!(value("found"), Some("nothing"), "{width} px");
        assert!(value("drawings").unwrap().parse::<usize>().unwrap() >= 8);
    }
    let shot = format!("--screenshot={}", place.path("page.png").display());
    look(&browser, &place, 1200, &[&shot], "page.html");
    let shown = place.bytes("page.png");
    assert_eq!(&shown[1..4], b"PNG");
    place.write("blank.html", "<!doctype html><title>blank</title>");
    let shot = format!("--screenshot={}", place.path("blank.png").display());
    look(&browser, &place, 1200, &[&shot], "blank.html");
    // A picture that is all of one colour is much smaller.
    assert!(shown.len() > 5 * place.bytes("blank.png").len());
}
