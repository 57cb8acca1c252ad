//! Limits and Ctrl-C: what was found is printed, and no browser stays.

use super::has_browser;
use crate::common::{command, folder};
use anyorder_testkit::effort::is_due;
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A page whose first round has many runs, and whose first reversal already shows a mistake.
const PAGE: &str = r#"<!DOCTYPE html><p id="a"></p><script>
function ask(n) {
  fetch('r?' + n).then((response) => response.text()).then((text) => {
    document.getElementById('a').textContent += text;
  });
}
for (let n = 0; n < 7; n++) ask(n);
</script>"#;

/// Writes the page into a folder, with its replies.
fn page(folder: &std::path::Path) -> String {
    let replies: serde_json::Map<String, Value> = (0..7)
        .map(|n| (format!("GET /r?{n}"), serde_json::json!({"body": n.to_string()})))
        .collect();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("written");
    };
    write("replies.json", &Value::Object(replies).to_string());
    write("index.html", PAGE);
    folder.join("index.html").to_string_lossy().into_owned()
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_in_the_first_round_keeps_what_was_found_and_leaves_no_browser() {
    if !is_due(0, 3) || !has_browser() {
        return;
    }
    let folder = folder();
    let page = page(folder.path());
    let started = Instant::now();
    // Long enough for some runs, on a loaded machine too, and shorter than all of them.
    for seconds in [6, 12, 24, 48] {
        let mut child = command(&["check", &page, "--format", "json", "--threads", "2"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let process = child.id();
        std::thread::sleep(Duration::from_secs(seconds));
        if child.try_wait().expect("its state").is_some() {
            println!("skipped: the check ended after {:?}", started.elapsed());
            return;
        }
        super::user::interrupt(process);
        let output = child.wait_with_output().expect("it ends");
        let value: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        assert_eq!(value["limits"][0], "interrupt", "{value}");
        assert_eq!(browsers_of(process), [""; 0], "no browser stays");
        let found = value["findings"].as_array().map_or(0, Vec::len);
        if found > 0 {
            assert_eq!(output.status.code(), Some(1), "{value}");
            return;
        }
        assert_eq!(output.status.code(), Some(3), "{value}");
    }
    panic!("nothing was found before any of the signals");
}

#[test]
#[cfg(target_os = "linux")]
fn a_signal_at_any_time_leaves_no_browser_and_no_profile() {
    if !is_due(1, 3) || !has_browser() {
        return;
    }
    let folder = folder();
    let page = page(folder.path());
    let profiles = folder.path().join("tmp");
    std::fs::create_dir(&profiles).expect("a folder");
    let left = || std::fs::read_dir(&profiles).expect("a folder").count();
    // While the browser starts, while the page is opened, and while it runs.
    for (signal, after_ms) in
        [("-TERM", 60), ("-INT", 200), ("-TERM", 600), ("-INT", 1500), ("-TERM", 6000)]
    {
        let mut child = command(&["check", &page, "--threads", "2"])
            .env("TMPDIR", &profiles)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let process = child.id();
        std::thread::sleep(Duration::from_millis(after_ms));
        super::user::send(signal, process);
        child.wait().expect("it ends");
        assert_eq!(browsers_of(process), [""; 0], "{signal} after {after_ms} ms");
        assert_eq!(left(), 0, "{signal} after {after_ms} ms: a profile is left");
    }
    // A process that is killed leaves the folder: the next one removes it.
    let mut child = command(&["check", &page])
        .env("TMPDIR", &profiles)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let process = child.id();
    std::thread::sleep(Duration::from_secs(2));
    super::user::send("-KILL", process);
    child.wait().expect("it ends");
    let killed = Instant::now();
    while browsers_of(process) != [""; 0] {
        assert!(killed.elapsed() < Duration::from_secs(60), "{:?}", browsers_of(process));
        std::thread::sleep(Duration::from_millis(50));
    }
    let still = "examples/web/late_handler_fixed/index.html";
    let next = command(&["check", still, "--budget", "0s"])
        .env("TMPDIR", &profiles)
        .output()
        .expect("it runs");
    assert_eq!((next.status.code(), left()), (Some(0), 0), "{next:?}");
}

/// Returns the browsers that a process left. A profile may be left where the process does not wait
/// for its browser to die: the next start removes it.
#[cfg(target_os = "linux")]
fn browsers_of(process: u32) -> Vec<String> {
    let mark = format!("anyorder-web-{process}-");
    let mut left = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("processes").flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(&mark) {
            left.push(line);
        }
    }
    left
}
