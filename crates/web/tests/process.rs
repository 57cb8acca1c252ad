//! No browser is left behind, and nothing waits for ever.
#![cfg(target_os = "linux")]

use crate::common::{is_due, start_page, start_with};
use anyorder_system::{Choice, Control, JobWatch, RunError, StopReason, TaskSystem};
use anyorder_web::{
    Answer, BrowserOptions, Client, PageOptions, PageRequest, PageSystem, Response, Store,
    Unchanged, WebError,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Far above what anything here takes.
const SOON: Duration = Duration::from_secs(60);

/// Returns the processes of a group that have not ended.
fn group(id: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let numbers = processes.filter_map(|one| one.file_name().to_str()?.parse::<u32>().ok());
    let is_member = |process: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .map(|(_, rest)| rest.split_whitespace().collect())
            .unwrap_or_default();
        fields.get(2).is_some_and(|of| *of == id.to_string())
            && fields[0] != "Z"
            && fields[0] != "X"
    };
    numbers.filter(is_member).collect()
}

/// Waits until a browser and all its children are gone.
fn assert_gone(id: u32, profile: &Path) {
    let begun = Instant::now();
    while !group(id).is_empty() || profile.exists() {
        let left = group(id);
        assert!(begun.elapsed() < SOON, "left: {left:?}, {}", profile.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn profile_of(client: &Client) -> PathBuf {
    client.browser().profile().expect("a profile").to_owned()
}

#[test]
fn a_dropped_browser_is_gone() {
    if !is_due(19) {
        return;
    }
    let client = Client::start(&BrowserOptions::default()).expect("a browser");
    let (id, profile) = (client.process_id(), profile_of(&client));
    assert!(group(id).len() > 2, "a browser has several processes: {:?}", group(id));
    assert!(profile.exists());
    drop(client);
    assert_gone(id, &profile);
}

#[test]
fn a_panic_ends_the_browser() {
    if !is_due(20) {
        return;
    }
    let (tell, told) = std::sync::mpsc::channel();
    let panics = std::thread::spawn(move || {
        let client = Client::start(&BrowserOptions::default()).expect("a browser");
        tell.send((client.process_id(), profile_of(&client))).expect("a reader");
        panic!("as expected by this test");
    });
    let (id, profile) = told.recv().expect("a browser");
    assert!(panics.join().is_err());
    assert_gone(id, &profile);
}

/// Set in the process that is killed.
const VICTIM: &str = "ANYORDER_WEB_TEST_VICTIM";

/// Runs in a process of its own, which is killed while the browser works.
#[test]
fn victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let client = Client::start(&BrowserOptions::default()).expect("a browser");
    println!("victim {} {}", client.process_id(), profile_of(&client).display());
    std::thread::sleep(SOON);
}

#[test]
fn a_killed_process_takes_its_browser_along() {
    if !is_due(21) {
        return;
    }
    let own = std::env::current_exe().expect("this program");
    let mut child = Command::new(own)
        .args(["--exact", "process::victim", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this program starts");
    let lines = std::io::BufReader::new(child.stdout.take().expect("its output"));
    let line = std::io::BufRead::lines(lines)
        .map_while(Result::ok)
        .find_map(|line| line.split_once("victim ").map(|(_, rest)| rest.to_owned()));
    let line = line.expect("the browser's number");
    let (id, profile) = line.split_once(' ').expect("a number and a folder");
    let id: u32 = id.parse().expect("a number");
    assert!(!group(id).is_empty());
    child.kill().expect("it is killed");
    child.wait().expect("it has ended");
    // Its profile stays, until the next browser starts.
    assert_gone(id, Path::new("/nowhere"));
    drop(Client::start(&BrowserOptions::default()).expect("a browser"));
    assert!(!Path::new(profile).exists(), "{profile}");
}

#[test]
fn a_browser_that_is_killed_is_an_error_and_the_next_run_has_another() {
    if !is_due(22) {
        return;
    }
    let mut page = start_page("timers");
    let id = page.process_id().expect("a browser");
    let kill = Command::new("kill").args(["-9", &id.to_string()]).status().expect("kill");
    assert!(kill.success());
    let load = Choice::of("load".parse().expect("a name"));
    let error = page.execute(&load).expect_err("the browser is gone");
    assert!(matches!(error, RunError::Crashed(_)), "{error}");
    assert!(matches!(page.enabled(), Err(RunError::Crashed(_))));
    page.reset().expect("another browser");
    assert_eq!(page.execute(&load).expect("a step").posted.len(), 5);
    assert_eq!(page.stats().browsers, 2);
}

#[test]
fn a_page_that_crashes_is_an_error() {
    if !is_due(23) {
        return;
    }
    let answer = |_: &PageRequest| {
        let page = b"<script>onclick = () => 0; location.href = 'about:blank#x'</script><p>x";
        Answer::Response(Response::new(200, "text/html", page))
    };
    let options = PageOptions::default();
    let mut page = PageSystem::start(options, Store::new(Box::new(answer)), Arc::new(Unchanged))
        .expect("the page opens");
    let load = Choice::of("load".parse().expect("a name"));
    // The page leaves: that is no error.
    page.execute(&load).expect("a step");
    page.reset().expect("a new run");
    let id = page.process_id().expect("a browser");
    let renderers: Vec<u32> = group(id).into_iter().filter(|one| is_renderer(*one)).collect();
    assert!(!renderers.is_empty());
    for renderer in renderers {
        let _ = Command::new("kill").args(["-9", &renderer.to_string()]).status();
    }
    let error = page.execute(&load).and_then(|_| page.observe().map(drop));
    assert!(matches!(error, Err(RunError::Crashed(_) | RunError::TimedOut(_))), "{error:?}");
    page.reset().expect("another browser");
    page.execute(&load).expect("a step");
}

fn is_renderer(process: u32) -> bool {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains("--type=renderer")
}

#[test]
fn a_page_that_hangs_is_an_error() {
    if !is_due(24) {
        return;
    }
    let answer = |_: &PageRequest| {
        Answer::Response(Response::new(200, "text/html", b"<script>for (;;) {}</script>"))
    };
    let options = PageOptions { reply_timeout: Duration::from_secs(4), ..PageOptions::default() };
    let mut page = PageSystem::start(options, Store::new(Box::new(answer)), Arc::new(Unchanged))
        .expect("the page opens");
    let id = page.process_id().expect("a browser");
    let begun = Instant::now();
    let load = Choice::of("load".parse().expect("a name"));
    let error = page.execute(&load).expect_err("it hangs");
    assert!(matches!(error, RunError::TimedOut(_)), "{error}");
    assert!(begun.elapsed() < SOON);
    assert_gone(id, Path::new("/nowhere"));
}

#[test]
fn a_job_that_is_stopped_does_not_wait() {
    if !is_due(25) {
        return;
    }
    let answer = |_: &PageRequest| {
        Answer::Response(Response::new(200, "text/html", b"<script>for (;;) {}</script>"))
    };
    let options = PageOptions { reply_timeout: Duration::from_secs(600), ..PageOptions::default() };
    let mut page = PageSystem::start(options, Store::new(Box::new(answer)), Arc::new(Unchanged))
        .expect("the page opens");
    let control = Control::default();
    let cancel = control.cancel.clone();
    let stops = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        cancel.stop(StopReason::TimeLimit);
    });
    let _entered = JobWatch::of(&control).enter();
    let begun = Instant::now();
    let error = page.execute(&Choice::of("load".parse().expect("a name")));
    assert_eq!(error, Err(RunError::Stopped(StopReason::TimeLimit)));
    assert!(begun.elapsed() < SOON);
    stops.join().expect("it stops");
}

#[test]
fn commands_that_the_browser_refuses_are_errors() {
    if !is_due(26) {
        return;
    }
    let mut client = Client::start(&BrowserOptions::default()).expect("a browser");
    let error = client.call("", "No.such", json!({}), SOON).expect_err("no such command");
    assert!(matches!(error, WebError::Refused { .. }), "{error}");
    let nothing = client.next(Instant::now()).expect("it lives");
    assert_eq!(nothing, None);
    let program = Some(PathBuf::from("/bin/true"));
    let error = Client::start(&BrowserOptions { program, ..BrowserOptions::default() })
        .expect_err("no browser");
    assert!(matches!(error, WebError::Start { .. }), "{error}");
}

#[test]
fn a_document_that_cannot_be_loaded_is_an_error() {
    if !is_due(27) {
        return;
    }
    let answer = |_: &PageRequest| Answer::Response(Response::new(204, "text/plain", b""));
    let options =
        PageOptions { finish_timeout: Duration::from_millis(500), ..PageOptions::default() };
    let mut page = PageSystem::start(options, Store::new(Box::new(answer)), Arc::new(Unchanged))
        .expect("the page opens");
    let error = page.execute(&Choice::of("load".parse().expect("a name")));
    assert!(matches!(error, Err(RunError::Crashed(_))), "{error:?}");
    let mut missing = start_with("missing", PageOptions::default(), Arc::new(Unchanged));
    missing.execute(&Choice::of("load".parse().expect("a name"))).expect("a page with an error");
}
