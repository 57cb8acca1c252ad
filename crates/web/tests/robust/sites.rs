//! Pages of several real servers, and pages that ask for much.

use super::server::{server, whole};
use super::site::{Page, SAY, Site};
use crate::common::is_due;
use anyorder_web::{PageOptions, Response, Store};
use std::io::Write;
use std::net::TcpStream;
use std::sync::OnceLock;

/// The address of the other site.
static OTHER: OnceLock<String> = OnceLock::new();

fn outer(path: &str, _: &[String], stream: &mut TcpStream) {
    let other = OTHER.get().map(String::as_str).unwrap_or_default();
    // Another host is another site; another port is only another origin.
    let site = other.replace("127.0.0.1", "localhost");
    let page = format!(
        "{SAY}<script>onmessage = (e) => {{ say(e.data); if (e.data === 'site10')
          e.source.postMessage('hello', '*') }};
        fetch('{other}data').then((r) => r.text()).then(say, () => say('refused'));
        fetch('{other}open').then((r) => r.text()).then(say)</script>
        <iframe src={other}frame></iframe><iframe src={site}site></iframe>"
    );
    let text = if path == "/" { page } else { String::new() };
    let _ = stream.write_all(whole("text/html", &text).as_bytes());
}

fn other(path: &str, _: &[String], stream: &mut TcpStream) {
    let timed = |word: &str, time: u32| {
        format!(
            "<script>const tell = (w) => top.postMessage(w, '*');
            setTimeout(() => tell('{word}{time}'), {time});
            onmessage = (e) => tell('{word}-' + e.data);
            try {{ tell(top.document.title) }} catch {{ tell('closed') }}</script>"
        )
    };
    let text = match path {
        "/frame" => whole("text/html", &timed("frame", 20)),
        "/site" => whole("text/html", &timed("site", 10)),
        "/open" => whole("text/plain", "open")
            .replace("\r\n\r\n", "\r\nAccess-Control-Allow-Origin: *\r\n\r\n"),
        _ => whole("text/plain", "data"),
    };
    let _ = stream.write_all(text.as_bytes());
}

#[test]
fn frames_of_another_site_are_controlled() {
    if !is_due(68) {
        return;
    }
    let other = OTHER.get_or_init(|| server(other)).clone();
    let options = PageOptions { url: server(outer), pixels: false, ..PageOptions::default() };
    let mut page = Page::start(options, Store::new(Box::new(())));
    let first = page.run(&[]).expect("it ends");
    let mut words: Vec<String> = first.words().split(' ').map(str::to_owned).collect();
    words.sort();
    let expected = ["closed", "closed", "frame20", "open", "refused", "site-hello", "site10"];
    assert_eq!(words, expected, "{:#?}", first.names);
    let again = page.run(&[]).expect("it ends");
    assert_eq!((&first.names, first.late), (&again.names, 0));
    assert_eq!(first.outcome.difference(&again.outcome), []);
    assert_eq!(page.store.gaps(), [""; 0]);
    // The other order of the timers of the two frames.
    let named = |word: &str| {
        let is_timer = |name: &&String| name.ends_with(&format!("timeout@{word}:2"));
        first.names.iter().find(is_timer).expect("a timer").clone()
    };
    let (late, early) = (named("frame"), named("site"));
    assert!(other.starts_with("http://127.0.0.1:"));
    let frames: Vec<&str> = first
        .names
        .iter()
        .filter(|name| name.contains("frame_document@") && !name.contains("timeout"))
        .map(String::as_str)
        .collect();
    let plan: Vec<&str> = [&["load"], &frames[..], &[&late, &early]].concat();
    let ran = page.run(&plan).expect("it ends").words();
    assert!(ran.find("frame20") < ran.find("site10"), "{ran}");
}

#[test]
fn a_thousand_requests_are_held() {
    if !is_due(69) {
        return;
    }
    let page = "<script>let n = 0; for (let i = 0; i < 1000; i++)
        fetch('/f.txt?' + i).then(() => { if (++n === 1000) say('all') })</script>";
    let site = (0..1000).fold(Site::saying(page), |site, at| {
        site.with(&format!("/f.txt?{at}"), Response::new(200, "text/plain", b"f"))
    });
    let mut page = site.start();
    page.run_first(2).expect("it goes on");
    let enabled = crate::common::enabled(&mut page.system);
    assert_eq!(enabled.len(), 999, "{:?}", enabled.first());
    assert_eq!(page.system.stats().late_requests, 0);
    if anyorder_testkit::effort::counts_all() {
        page.run_first(1001).expect("it ends");
        assert_eq!(page.words(), "all");
    }
}

#[test]
fn a_body_that_is_too_large_fails_and_is_named() {
    if !is_due(70) {
        return;
    }
    let page = "<script>fetch('/large').then((r) => r.arrayBuffer())
        .then((all) => say(all.byteLength), () => say('failed'))</script>";
    let large = Response::new(200, "application/octet-stream", &vec![7; 100_000_000]);
    let mut page = Site::saying(page).with("/large", large).start();
    let ran = page.run(&[]).expect("it ends");
    assert_eq!((ran.words().as_str(), ran.late), ("failed", 0));
    assert!(page.store.gaps()[0].contains("a response of 100 MB is too large"));
}
