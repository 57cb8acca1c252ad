//! Responses of all kinds, and servers that are slow or break.

use super::server::{server, whole};
use super::site::{Page, SAY, Site, headed};
use crate::common::is_due;
use anyorder_web::{Answer, PageOptions, PageRequest, Response, Source, Store};
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

/// A page that asks another origin, with what the browser must ask for first.
fn asking(other: &str) -> String {
    format!(
        "<script>const all = async () => {{
          const send = (way, options) => fetch('{other}' + way, options)
            .then((r) => r.text()).then(say, () => say(way + '-refused'));
          const headers = {{'Content-Type': 'application/json', 'X-Own': '1'}};
          await send('put', {{method: 'PUT', headers, body: '{{}}'}});
          await send('patch', {{method: 'PATCH', headers, body: '{{}}'}});
          await send('known', {{method: 'DELETE', headers, credentials: 'include'}});
          const x = new XMLHttpRequest; x.open('POST', '{other}known', false);
          x.withCredentials = true; x.setRequestHeader('X-Own', '1'); x.send('b');
          say(x.responseText);
          await send('own', {{method: 'OPTIONS'}});
          await send('silent', {{method: 'PUT'}});
        }}; all()</script>"
    )
}

#[test]
fn what_the_browser_asks_another_origin_first_is_no_event() {
    if !is_due(50) {
        return;
    }
    let at = |way: &str| format!("http://api.test/{way}");
    let mut site = Site::saying(&asking("http://api.test/"));
    for way in ["put", "patch", "known", "own", "silent"] {
        site = site.file(&at(way), way);
    }
    let ran = site.run();
    assert_eq!(ran.words(), "put patch known known own silent");
    // Each was sent once, and none of the questions counts as sent.
    for request in ["PUT put {}", "PATCH patch {}", "DELETE known", "POST known b"] {
        let (method, rest) = request.split_once(' ').expect("a method");
        let line = format!("{method} {}", at(rest));
        assert_eq!(ran.part(["requests", &line]), "1", "{:?}", ran.parts());
    }
    let is_asked = |name: &&String| name.rsplit('/').next().unwrap_or_default().contains("OPTIONS");
    let asked: Vec<_> = ran.names.iter().filter(is_asked).collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
}

/// Another origin, which lets scripts send only some requests.
fn permits(path: &str, heads: &[String], stream: &mut TcpStream) {
    if path == "/silent" {
        return std::thread::sleep(Duration::from_secs(60));
    }
    let named = |name: &str| heads.iter().any(|line| line.to_ascii_lowercase().starts_with(name));
    let origin = heads.iter().find_map(|line| line.strip_prefix("Origin: ")).unwrap_or("*");
    let allowed = match (named("access-control-request-method"), path) {
        (true, "/patch") => "",
        (true, _) => {
            "Access-Control-Allow-Methods: PUT, DELETE, OPTIONS\r\n\
             Access-Control-Allow-Headers: content-type, x-own\r\n"
        }
        _ => "",
    };
    let body = path.trim_start_matches('/');
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n{allowed}\
         Access-Control-Allow-Origin: {origin}\r\nAccess-Control-Allow-Credentials: true\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

#[test]
fn another_origin_may_refuse_what_the_browser_asks_first() {
    if !is_due(51) {
        return;
    }
    let other = server(permits);
    let store = Store::new(Box::new(Beside { page: asking(&other) }));
    let url = "http://localhost/".to_owned();
    let reply_timeout = Duration::from_secs(5);
    let options = PageOptions { url, pixels: false, reply_timeout, ..PageOptions::default() };
    let mut page = Page::start(options, store);
    let first = page.run(&[]).expect("it ends");
    let gaps = page.store.gaps();
    assert!(gaps.iter().any(|gap| gap.contains("silent") && gap.contains("OPTIONS")), "{gaps:?}");
    assert_eq!(first.words(), "put patch-refused known known own", "{:?}", page.store.gaps());
    let again = page.run(&[]).expect("it ends");
    assert_eq!(first.outcome.difference(&again.outcome), [], "all was recorded");
    assert_eq!(first.names, again.names);
}

/// A page beside a real server.
struct Beside {
    page: String,
}

impl Source for Beside {
    fn answer(&mut self, request: &PageRequest) -> Answer {
        match request.url.as_str() {
            "http://localhost/" => {
                let page = format!("{SAY}{}", self.page);
                Answer::Response(Response::new(200, "text/html", page.as_bytes()))
            }
            _ => Answer::Server,
        }
    }

    fn has_server(&self) -> bool {
        true
    }
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
