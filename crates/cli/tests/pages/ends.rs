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
