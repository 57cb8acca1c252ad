//! Steps without a file: a crawl, and a recording of a user.

use super::{has_browser, wrong};
use crate::common::{command, folder, ran, workspace};
use anyorder_testkit::effort::is_due;
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn a_crawl_finds_what_a_user_would() {
    if !is_due(1, 3) || !has_browser() {
        return;
    }
    let folder = folder();
    let file = folder.path().join("steps.json");
    let path = file.to_string_lossy();
    let page = "examples/web/double_submit/index.html";
    let json = ["--budget", "0s", "--format", "json"];
    let crawl = ["check", page, "--crawl", "4", "--save-actions", &path];
    let crawled = ran(&mut command(&[&crawl[..], &json].concat()));
    let found = wrong(&crawled);
    assert_eq!(found.len(), 1, "{crawled:?}");
    assert!(crawled.stderr.contains("the crawl took 2 steps"), "{crawled:?}");
    let steps = std::fs::read_to_string(&file).expect("the steps");
    assert_eq!(steps.matches(r##"{"click":"#buy"}"##).count(), 2, "{steps}");
    // The same page gives the same steps, and the steps the same finding.
    let given = ran(&mut command(&[&["check", page, "--actions", &path][..], &json].concat()));
    assert_eq!(wrong(&given)[0]["id"], found[0]["id"], "{given:?}");
    let none = ran(&mut command(&["check", "examples/models/slide-show.any", "--crawl", "3"]));
    assert_eq!(none.status, 2, "{none:?}");
    assert!(none.stderr.contains("`--crawl` is an option for web pages only"), "{none:?}");
}

/// A framework listens at the root of what it shows: that is no control.
#[test]
fn a_crawl_leaves_roots_of_frameworks_alone() {
    if !is_due(1, 3) || !has_browser() {
        return;
    }
    let folder = folder();
    let (page, file) = (folder.path().join("index.html"), folder.path().join("steps.json"));
    let text =
        "<!DOCTYPE html><div id=root><p id=text>Hello</p><button id=go>Go</button></div><script>
        for (const type of ['click', 'mouseover', ...Array.from({length: 20}, (_, at) => 't' + at)])
          root.addEventListener(type, () => {});
        document.getElementById('text').addEventListener('click', () => {});</script>";
    std::fs::write(&page, text).expect("written");
    let (page, path) = (page.to_string_lossy(), file.to_string_lossy());
    let crawl = ["check", &page, "--crawl", "5", "--save-actions", &path, "--budget", "0s"];
    let crawled = ran(&mut command(&crawl));
    let steps = std::fs::read_to_string(&file).expect("the steps");
    assert!(!steps.contains("#root"), "{crawled:?} {steps}");
    for used in ["#text", "#go"] {
        assert!(steps.contains(used), "{crawled:?} {steps}");
    }
}

/// The file of the steps is not the output, which a limit leaves in any case.
#[test]
fn a_limit_behind_a_crawl_leaves_a_result() {
    if !is_due(2, 3) || !has_browser() {
        return;
    }
    let folder = folder();
    let file = folder.path().join("steps.json");
    let path = file.to_string_lossy();
    let page = "examples/web/search/index.html";
    let crawl = ["check", page, "--crawl", "4", "--save-actions", &path];
    let limits = ["--budget", "60s", "--time-limit", "4s", "--format", "json"];
    let cut = ran(&mut command(&[&crawl[..], &limits].concat()));
    assert!(cut.stdout.starts_with(r#"{"schema":"#), "{cut:?}");
}

/// A program that shows its browser to others at a port.
#[cfg(unix)]
fn shared_browser(folder: &std::path::Path, port: u16) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("browser.sh");
    let text = format!(
        "#!/bin/sh\nexec chromium --remote-debugging-port={port} '--remote-allow-origins=*' \"$@\"\n"
    );
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("allowed");
    path
}

/// A user in another process uses the page; then the window is closed, or Ctrl-C pressed.
#[test]
#[cfg(unix)]
fn what_a_user_does_is_recorded() {
    let node = Command::new("node").args(["--experimental-websocket", "-e", "0"]).output();
    let has_node = node.is_ok_and(|ran| ran.status.success());
    let has_chromium = Command::new("chromium").arg("--version").output().is_ok();
    if !is_due(2, 3) || !has_browser() || !has_node || !has_chromium {
        println!("skipped, or there is no node with web sockets");
        return;
    }
    let steps = r##"[{"click": "#query", "keys": "ab"}, {"press": "Backspace", "code": 8},
        {"keys": "c"}, {"eval": "document.body.click()"}]"##;
    for (port, closes) in [(9_371, true), (9_372, false)] {
        let folder = folder();
        let file = folder.path().join("steps.json");
        let browser = shared_browser(folder.path(), port);
        let (path, browser) = (file.to_string_lossy(), browser.to_string_lossy());
        let page = "examples/web/search/index.html";
        let arguments = ["check", page, "--record-actions", &path, "--browser", &browser];
        let mut child = command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut user = Command::new("node");
        user.args(["--experimental-websocket", "crates/cli/tests/pages/user.mjs"])
            .args([&port.to_string(), steps])
            .args(closes.then_some("close"))
            .current_dir(workspace());
        let used = user.output().expect("node runs");
        assert!(used.status.success(), "{used:?}");
        if !closes {
            interrupt(child.id());
        }
        let status = child.wait().expect("it ends");
        assert!(status.success(), "{status:?}");
        let text = std::fs::read_to_string(&file).expect("the steps");
        let expected = [
            r##"{"click":"#query"}"##,
            r##"{"type":{"into":"#query","text":"ab"}}"##,
            r#"{"press":"Backspace"}"#,
            r##"{"type":{"into":"#query","text":"c"}}"##,
        ];
        let lines: Vec<&str> = text.lines().map(|line| line.trim().trim_end_matches(',')).collect();
        assert_eq!(lines[2..lines.len() - 2], expected, "{text}");
    }
    std::io::stdout().flush().expect("flushed");
}

/// Sends the signal of Ctrl-C.
#[cfg(unix)]
pub(super) fn interrupt(process: u32) {
    send("-INT", process);
}

/// Sends a signal, such as `-TERM`.
#[cfg(unix)]
pub(super) fn send(signal: &str, process: u32) {
    let sent = Command::new("kill").args([signal, &process.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "the signal is sent");
}
