//! The timers and requests of workers are events.

use super::site::{Page, Site};
use crate::common::is_due;
use anyorder_system::RunError;
use anyorder_web::{
    Answer, PageOptions, PageRequest, Response, SocketCause, SocketData, SocketMessage, Sockets,
    Source, Store,
};
use std::time::Duration;

#[test]
fn timers_of_workers_are_events() {
    if !is_due(55) {
        return;
    }
    let page = "<script>const w = new Worker('/w.js'); w.onmessage = (e) => say(e.data);
        setTimeout(() => say('page'), 15)</script>";
    let worker = "importScripts('/lib.js'); postMessage(lib);
        const x = new XMLHttpRequest; x.open('GET', '/now', false); x.send();
        setTimeout(() => postMessage('twenty'), 20);
        setTimeout(() => postMessage('ten'), 10);
        let n = 0; const i = setInterval(() => { postMessage('i' + ++n);
          if (n === 2) clearInterval(i) }, 12); postMessage(x.responseText + Date.now() % 1000)";
    let site = || {
        let site = Site::saying(page).file("/w.js", worker).file("/lib.js", "var lib = 'lib'");
        site.file("/now", "now")
    };
    let ran = site().run();
    assert_eq!(ran.words(), "lib now0 ten i1 page twenty i2");
    let mut page = site().start();
    let twenty = "load/request@%2Fw.js/timeout@w.js:3";
    let plan = ["load", "load/request@%2Fw.js", "load/timeout@(page):3"];
    let ran = page.run(&plan).expect("it ends");
    assert!(ran.words().starts_with("page lib"), "{}", ran.words());
    assert!(ran.names.iter().any(|name| name == twenty), "{:#?}", ran.names);
}

#[test]
fn all_kinds_of_workers_are_controlled() {
    if !is_due(56) {
        return;
    }
    let page = "<script>const hear = (w) => { w.onmessage = (e) => say(e.data) };
        hear(new Worker('/module.js', { type: 'module' }));
        const text = `postMessage('blob'); setTimeout(() => postMessage('blob10'), 10)`;
        hear(new Worker(URL.createObjectURL(new Blob([text]))));
        hear(new SharedWorker('/shared.js').port); hear(new Worker('/outer.js'));
        const gone = new Worker('/w.js'); setTimeout(() => gone.terminate(), 1); hear(gone)</script>";
    let mut page = Site::saying(page)
        .file("/module.js", "import { x } from '/lib.js'; setTimeout(() => postMessage(x), 20)")
        .file("/lib.js", "export const x = 'module20'")
        .file(
            "/shared.js",
            "onconnect = (e) => setTimeout(() => e.ports[0].postMessage('shared30'), 30)",
        )
        .file("/outer.js", "new Worker('/sub/inner.js').onmessage = (e) => postMessage(e.data)")
        .file(
            "/sub/inner.js",
            "importScripts('lib.js'); let at = location.pathname;
            setTimeout(() => fetch('lib.js').then((r) => r.text()).then((text) =>
              postMessage('inner' + size + at.length + text.length)), 40)",
        )
        .file("/sub/lib.js", "var size = 40")
        .file("/w.js", "setTimeout(() => postMessage('NEVER'), 50)")
        .start();
    let ran = page.run(&[]).expect("it ends");
    let again = page.run(&[]).expect("it ends");
    assert_eq!(ran.names, again.names);
    assert_eq!(ran.outcome.difference(&again.outcome), []);
    let gaps = page.store.gaps();
    assert_eq!(gaps, [] as [String; 0]);
    assert_eq!(ran.words(), "blob blob10 module20 shared30 inner401313", "{:#?}", ran.names);
    assert_eq!(ran.late, 0);
}

/// Several workers answer one event at any times: their answers have the same names in all runs.
#[test]
fn answers_of_several_workers_are_placed_by_their_workers() {
    if !is_due(75) {
        return;
    }
    let page = "<script>const text = `onmessage = (e) => { let n = 0;
          for (let i = 0; i < (7 - e.data) * 3e6; i++) n ^= i;
          e.ports[0].postMessage('p' + e.data + (n ? '' : '')); postMessage('w' + e.data + (n ? '' : '')) }`;
        const url = URL.createObjectURL(new Blob([text]));
        const all = Array.from({ length: 6 }, () => new Worker(url));
        setTimeout(() => all.forEach((worker, at) => {
          const { port1, port2 } = new MessageChannel();
          worker.onmessage = port1.onmessage = (e) => say(e.data);
          worker.postMessage(at, [port2]); }), 10)</script>";
    let ran = Site::saying(page).run();
    assert_eq!(ran.words(), "p0 p1 p2 p3 p4 p5 w0 w1 w2 w3 w4 w5", "{:#?}", ran.names);
}

/// A page with a worker that opens a socket.
struct WithSocket;

impl Source for WithSocket {
    fn answer(&mut self, request: &PageRequest) -> Answer {
        let worker = "const s = new WebSocket('ws://localhost/chat');
            s.onopen = () => { postMessage('open'); s.send('hello') };
            s.onmessage = (e) => postMessage(e.data); s.onclose = () => postMessage('closed')";
        let page =
            "<script>const w = new Worker('/w.js'); w.onmessage = (e) => say(e.data)</script>";
        Answer::Response(match request.url.as_str() {
            "http://localhost/w.js" => Response::new(200, "text/javascript", worker.as_bytes()),
            _ => Response::new(200, "text/html", format!("{}{page}", super::site::SAY).as_bytes()),
        })
    }

    fn sockets(&self) -> Sockets {
        let message = |cause, data| SocketMessage { cause, data };
        let text = |text: &str| SocketData::Text(text.to_owned());
        let list = vec![
            message(SocketCause::After(0), text("first")),
            message(SocketCause::After(1), text("answer")),
            message(SocketCause::After(1), SocketData::Close(1000, String::new())),
        ];
        Sockets::from([("/chat".to_owned(), list)])
    }
}

#[test]
fn a_socket_of_a_worker_is_controlled() {
    if !is_due(66) {
        return;
    }
    let options = PageOptions { pixels: false, ..PageOptions::default() };
    let mut page = Page::start(options, Store::new(Box::new(WithSocket)));
    let ran = page.run(&[]).expect("it ends");
    assert_eq!(ran.words(), "open first answer closed", "{:#?}", ran.names);
    let again = page.run(&[]).expect("it ends");
    assert_eq!((ran.names.clone(), ran.late), (again.names, 0));
    assert_eq!(ran.part(["sent", "socket /chat hello"]), "1", "{:?}", ran.parts());
    let opens = "load/request@%2Fw.js/socket@%2Fchat%20open";
    assert!(ran.names.iter().any(|name| name == opens), "{:#?}", ran.names);
}

#[test]
fn a_worker_without_end_has_its_place() {
    if !is_due(67) {
        return;
    }
    let start = "<script>const w = new Worker('/w.js')</script>";
    let asked = "<script>const w = new Worker('/w.js'); w.postMessage(1)</script>";
    for (page, worker, line) in [
        (start, "\nlet i = 0; for (;;) i++;", 2),
        (start, "\n\nsetTimeout(() => { for (;;); }, 5)", 3),
        (asked, "onmessage = () => {\n  for (;;);\n}", 2),
        (start, "\nfetch('/a.txt').then(() => {\n for (;;); })", 3),
    ] {
        let site = Site::saying(page).file("/w.js", worker).file("/a.txt", "a");
        let mut page = site.reply_timeout(Duration::from_secs(5)).start();
        let error = page.run(&[]).expect_err(worker);
        assert!(matches!(error, RunError::TimedOut(_)), "{worker}: {error}");
        let place = format!("runs without end at http://localhost/w.js:{line}");
        assert!(error.to_string().contains(&place), "{worker}: {error}");
    }
}

#[test]
fn a_worker_that_does_not_begin_is_named() {
    if !is_due(68) {
        return;
    }
    let page = "<script>for (const n of ['/a.js', '/ever.js', '/bad.js', '/b.js']) {
        const w = new Worker(n); w.onmessage = (m) => say(m.data); }</script>";
    let site = Site::saying(page)
        .file("/a.js", "postMessage('a')")
        .file("/ever.js", "for (;;);")
        .file("/bad.js", "postMessage('bad'")
        .file("/b.js", "postMessage('b')");
    let mut page = site.start();
    let first = page.run(&[]).expect("it ends");
    assert_eq!(first.words(), "a b", "{:?}", page.store.gaps());
    let gaps = page.store.gaps();
    for (name, is_named) in
        [("/a.js", false), ("/ever.js", true), ("/bad.js", false), ("/b.js", false)]
    {
        let found = gaps.iter().any(|gap| gap.contains(name) && gap.contains("did not begin"));
        assert_eq!(found, is_named, "{name}: {gaps:?}");
    }
    assert_eq!(page.run(&[]).expect("it ends").outcome.difference(&first.outcome), []);
}
