//! Responses of all kinds, and servers that are slow or break.

use super::server::{server, whole};
use super::site::{Page, SAY, Site, headed};
use crate::common::is_due;
use anyorder_web::{PageOptions, Response, Store};
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

#[test]
fn errors_redirections_and_large_bodies() {
    if !is_due(50) {
        return;
    }
    let page = "<script src=/bad.js onerror=\"say('bad')\"></script><script src=/moved></script>
        <script>const all = async () => {
          say((await fetch('/bad.js')).status); say((await fetch('/none')).status);
          const r = await fetch('/to'); say(r.redirected); say(await r.text());
          await fetch('/ever').catch(() => say('refused'));
          say((await (await fetch('/large')).text()).length);
          say((await fetch('/large')).status);
          const m = await WebAssembly.instantiateStreaming(fetch('/a.wasm')); say(!!m.instance);
        }; all()</script>";
    let to = |url: &str| headed(302, "text/plain", &[("Location", url)], "");
    let size = if anyorder_testkit::effort::counts_all() { 50_000_000 } else { 5_000_000 };
    let ran = Site::saying(page)
        .with("/bad.js", headed(500, "text/javascript", &[], "say('ran')"))
        .with("/moved", to("/y.js"))
        .file("/y.js", "say('y')")
        .with("/to", to("/a.txt"))
        .file("/a.txt", "text")
        .with("/ever", to("/ever"))
        .with("/large", Response::new(200, "text/plain", &vec![b'x'; size]))
        .with("/a.wasm", Response::new(200, "application/wasm", b"\0asm\x01\0\0\0"))
        .run();
    let expected = format!("bad y 500 404 true text refused {size} 200 true");
    assert_eq!(ran.words(), expected);
    assert_eq!(ran.late, 0);
}

fn answers(path: &str, _: &[String], stream: &mut TcpStream) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    let long = Duration::from_secs(60);
    let _ = match path {
        "/" => {
            let ask = "<script>const all = async () => {
                const x = new XMLHttpRequest; x.open('GET', '/now', false); x.send();
                say(x.responseText);
                fetch('silent').then(() => say('NEVER'));
                for (const way of ['chunks', 'endless', 'broken', 'closed']) {
                  await fetch(way).then((r) => r.text()).then((t) => say(way + t.length),
                    () => say(way + '-failed'));
                }
                const e = new EventSource('/events'); e.onmessage = (m) => say(m.data);
              }; all()</script>";
            stream.write_all(whole("text/html", &format!("{SAY}{ask}")).as_bytes())
        }
        "/now" => stream.write_all(whole("text/plain", "now").as_bytes()),
        "/chunks" => {
            let chunked = "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
            stream.write_all(format!("{head}{chunked}").as_bytes())
        }
        "/silent" => {
            std::thread::sleep(long);
            Ok(())
        }
        "/endless" => {
            let sent = stream.write_all(format!("{head}\r\nfirst").as_bytes());
            std::thread::sleep(long);
            sent
        }
        "/broken" => stream.write_all(format!("{head}Content-Length: 100\r\n\r\nshort").as_bytes()),
        "/events" => {
            let kind = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
            let sent = stream
                .write_all(format!("{kind}data: one\n\ndata: tw\u{f6}\u{1f600}\n\n").as_bytes());
            std::thread::sleep(long);
            sent
        }
        _ => Ok(()),
    };
}

#[test]
fn a_server_that_is_slow_or_breaks_is_recorded_and_named() {
    if !is_due(51) {
        return;
    }
    let url = server(answers);
    let reply_timeout = Duration::from_secs(5);
    let finish_timeout = Duration::from_secs(2);
    let options =
        PageOptions { url, pixels: false, reply_timeout, finish_timeout, ..PageOptions::default() };
    let mut page = Page::start(options, Store::new(Box::new(())));
    let first = page.run(&[]).expect("it ends");
    let expected = "now chunks5 endless5 broken-failed closed-failed one tw\u{f6}\u{1f600}";
    assert_eq!(first.words(), expected, "{:?}", page.store.gaps());
    let again = page.run(&[]).expect("it ends");
    assert_eq!(first.outcome.difference(&again.outcome), [], "all was recorded");
    let gaps = page.store.gaps();
    for (way, what) in
        [("silent", "did not respond"), ("endless", "did not end"), ("events", "did not end")]
    {
        let is_named = gaps.iter().any(|gap| gap.contains(way) && gap.contains(what));
        assert!(is_named, "{way}: {gaps:#?}");
    }
}
