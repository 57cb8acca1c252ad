//! Where responses come from: a real server, an archive, a closure; and texts of real size.

use crate::common::{is_due, run, text};
use anyorder_system::{Choice, Observation, TaskSystem};
use anyorder_web::{
    Answer, Archive, PageOptions, PageRequest, PageSystem, Response, Rewriter, RewrittenPage,
    Source, Store, Unchanged,
};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn words(outcome: &Observation) -> String {
    text(outcome, ["page", "text"]).trim().to_owned()
}

fn start(url: &str, source: Box<dyn Source>, rewriter: Arc<dyn Rewriter>) -> PageSystem {
    let options = PageOptions { url: url.to_owned(), ..PageOptions::default() };
    PageSystem::start(options, Store::new(source), rewriter).expect("the page opens")
}

/// Returns a source with these files.
fn files(all: &[(&str, String)]) -> Box<dyn Source> {
    let all: BTreeMap<String, String> =
        all.iter().map(|(path, text)| (format!("http://localhost{path}"), text.clone())).collect();
    Box::new(move |request: &PageRequest| match all.get(&request.url) {
        Some(text) if request.url.ends_with(".js") => {
            Answer::Response(Response::new(200, "text/javascript", text.as_bytes()))
        }
        Some(text) => Answer::Response(Response::new(200, "text/html", text.as_bytes())),
        None => Answer::Fail,
    })
}

const SAY: &str = "<!DOCTYPE html><body><p id=log></p><script>function say(word) {
    document.getElementById('log').textContent += word + ' '; }</script>";

/// A server that counts: each response is another one.
fn counting_server(count: Arc<AtomicU32>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            let first = lines.next().and_then(Result::ok).unwrap_or_default();
            // Browsers open connections that they then do not use.
            if first.is_empty() {
                continue;
            }
            while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
            let number = count.fetch_add(1, Ordering::SeqCst);
            let path = first.split(' ').nth(1).unwrap_or_default();
            let (head, body) = match path {
                "/" => {
                    let ask = "<script>fetch('/old').then(r => r.text()).then(say)</script>";
                    ("200 OK\r\nContent-Type: text/html", format!("{SAY}{ask}"))
                }
                "/old" => ("302 Found\r\nLocation: /new", String::new()),
                _ => ("200 OK\r\nContent-Type: text/plain", format!("number-{number}")),
            };
            let length = body.len();
            let response = format!(
                "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(response.as_bytes());
        }
    });
    format!("http://{address}/")
}

#[test]
fn what_a_server_said_once_it_says_again() {
    if !is_due(13) {
        return;
    }
    let count = Arc::new(AtomicU32::new(0));
    let url = counting_server(count.clone());
    let mut page = start(&url, Box::new(()), Arc::new(Unchanged));
    let (names, first) = run(&mut page, &[]);
    assert_eq!(names, ["load", "load/fetch@%2Fold", "load/fetch@%2Fold/fetch@%2Fnew"]);
    assert_eq!((words(&first).as_str(), count.load(Ordering::SeqCst)), ("number-2", 3));
    for _ in 0..3 {
        let (_, other) = run(&mut page, &[]);
        assert_eq!(first.difference(&other), []);
    }
    assert_eq!(count.load(Ordering::SeqCst), 3, "the server is asked once for each");
}

#[test]
fn an_archive_is_a_server() {
    if !is_due(14) {
        return;
    }
    let page = format!(
        "{SAY}<script src=a.js async></script><script src=none.js async onerror=\"say('none')\"></script>"
    );
    let entry = |url: &str, kind: &str, text: &str| {
        serde_json::json!({
            "request": {"method": "GET", "url": url},
            "response": {"status": 200, "headers": [], "content": {"mimeType": kind, "text": text}},
        })
    };
    let archive = serde_json::json!({"log": {"entries": [
        entry("https://example.test/", "text/html", &page),
        entry("https://example.test/a.js", "text/javascript", "say('a')"),
    ]}});
    let archive = Archive::parse(archive.to_string().as_bytes()).expect("an archive");
    let url = archive.first_url().to_owned();
    let mut page = start(&url, Box::new(archive), Arc::new(Unchanged));
    let (_, outcome) = run(&mut page, &[]);
    assert_eq!(words(&outcome), "a none");
    let (_, outcome) = run(&mut page, &["load", "load/script@%2Fnone.js"]);
    assert_eq!(words(&outcome), "none a");
}

/// Scripts of real size run in the event of their response, although the browser reads and
/// compiles them on other threads.
#[test]
fn large_scripts_run_in_their_events() {
    if !is_due(15) {
        return;
    }
    let script = |name: &str, size: usize| {
        let line = "function f() { return [1, 2, 3].map((x) => x * x).join('-'); }\n";
        format!("{}say('{name}');", line.repeat(size / line.len()))
    };
    let page = format!("{SAY}<script src=1.js async></script><script src=2.js async></script>");
    let all = [("/", page), ("/1.js", script("one", 2_000_000)), ("/2.js", script("two", 300_000))];
    let mut page = start("http://localhost/", files(&all), Arc::new(Unchanged));
    for round in 0..anyorder_testkit::effort::cases(8) {
        let orders = [["1", "2"], ["2", "1"]];
        let order = orders[(round % 2) as usize];
        page.reset().expect("a new run");
        page.execute(&Choice::of("load".parse().expect("a name"))).expect("a step");
        let mut said = String::new();
        for number in order {
            let task = format!("load/script@%2F{number}.js").parse().expect("a name");
            page.execute(&Choice::of(task)).expect("a step");
            said += if number == "1" { " one" } else { " two" };
            assert_eq!(words(&page.observe().expect("an outcome")), said.trim(), "{round}");
        }
    }
    assert_eq!(page.stats().late_requests, 0);
}

#[test]
fn many_requests_at_once_are_all_held() {
    if !is_due(16) {
        return;
    }
    let images: String = (0..60).map(|at| format!("<img src=i{at}.png>")).collect();
    let asks =
        "<script>for (let i = 0; i < 40; i++) fetch('f' + i + '.js').then(() => say(i))</script>";
    let page = format!("{SAY}{asks}{images}");
    let mut all = vec![("/".to_owned(), page)];
    all.extend((0..40).map(|at| (format!("/f{at}.js"), String::new())));
    let all: Vec<(&str, String)> =
        all.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    let mut page = start("http://localhost/", files(&all), Arc::new(Unchanged));
    page.reset().expect("a new run");
    page.execute(&Choice::of("load".parse().expect("a name"))).expect("a step");
    let enabled = crate::common::enabled(&mut page);
    let of = |kind: &str| enabled.iter().filter(|task| task.contains(kind)).count();
    assert_eq!((of("fetch@"), of("image@")), (40, 60), "{enabled:?}");
    let last = "load/fetch@%2Ff39.js".parse().expect("a name");
    page.execute(&Choice::of(last)).expect("a step");
    assert_eq!(words(&page.observe().expect("an outcome")), "39");
    assert_eq!(page.stats().late_requests, 0);
}

/// Rewrites dynamic code.
struct Dynamic;

impl Rewriter for Dynamic {
    fn script(&self, text: &str, _url: &str, is_module: bool) -> String {
        format!("{text};say('{}')", if is_module { "module" } else { "classic" })
    }

    fn html(&self, bytes: &[u8], content_type: &str, _url: &str) -> RewrittenPage {
        assert_eq!(content_type, "text/html");
        bytes.to_vec().into()
    }

    fn dynamic(&self, text: &str, kind: &str) -> String {
        format!("say('{kind}'), {text}")
    }

    fn log(&self) -> String {
        "Object.defineProperty(window, '__anyorder', {value: {
            begin() {}, end() { return [['x', 3, 7]]; }, rewrite: (text) => text }});"
            .to_owned()
    }
}

#[test]
fn scripts_are_rewritten_also_those_that_a_page_makes() {
    if !is_due(17) {
        return;
    }
    let page = format!(
        "{SAY}<script src=a.js></script><script type=module src=b.js></script>
        <script>eval(__anyorder.rewrite(\"say('code')\", 'eval'))</script>"
    );
    let all = [("/", page), ("/a.js", "1".to_owned()), ("/b.js", "export default 1".to_owned())];
    let mut page = start("http://localhost/", files(&all), Arc::new(Dynamic));
    let (_, outcome) = run(&mut page, &[]);
    assert_eq!(words(&outcome), "classic eval code module");
    page.reset().expect("a new run");
    let step = page.execute(&Choice::of("load".parse().expect("a name"))).expect("a step");
    let named = |access: &anyorder_system::Access| {
        matches!(
            page.tables().locations[access.location.index()],
            anyorder_trace::Location::Named(_)
        )
    };
    assert_eq!(step.accesses.as_slice().iter().filter(|access| named(access)).count(), 1);
}

#[test]
fn requests_of_workers_are_held() {
    if !is_due(18) {
        return;
    }
    let page = format!(
        "{SAY}<script>const w = new Worker('w.js'); w.onmessage = (e) => say(e.data);
        w.postMessage(1)</script>"
    );
    let worker = "onmessage = () => fetch('data.js').then((r) => r.text()).then(postMessage)";
    let all = [("/", page), ("/w.js", worker.to_owned()), ("/data.js", "data".to_owned())];
    let mut page = start("http://localhost/", files(&all), Arc::new(Unchanged));
    for _ in 0..3 {
        let (names, outcome) = run(&mut page, &[]);
        assert_eq!(words(&outcome), "data", "{names:?}");
        let fetch = "load/request@%2Fw.js/fetch@%2Fdata.js".to_owned();
        assert_eq!(names, ["load", "load/request@%2Fw.js", &fetch, &format!("{fetch}/worker")]);
    }
    assert_eq!(page.stats().late_requests, 0);
}
