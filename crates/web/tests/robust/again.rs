//! A tab that was used for a run is as good as a new one.

use super::site::{Site, headed};
use crate::common::{has_browser, is_due};

/// Stores wherever a page can, also while it ends, and says what it finds.
const STORES: &str = r#"<script>
const found = [];
const note = (word, there) => { if (there) found.push(word); };
note('local', localStorage.a); note('session', sessionStorage.a); note('cookie', document.cookie);
note('name', window.name); note('history', history.length !== 1 || history.state !== null);
note('kind', performance.getEntriesByType('navigation')[0].type !== 'navigate');
note('referrer', document.referrer); note('scrolled', scrollY);
note('activation', navigator.userActivation.hasBeenActive);
say(found.length ? found.join() : 'clean');
const keep = () => {
  localStorage.a = sessionStorage.a = 1; document.cookie = 'a=1'; window.name = 'a';
};
keep(); history.pushState(1, '', '/elsewhere');
for (const kind of ['pagehide', 'unload', 'visibilitychange', 'beforeunload']) {
  addEventListener(kind, keep); document.addEventListener(kind, keep);
}
customElements.define('x-kept', class extends HTMLElement {
  disconnectedCallback() { keep(); fetch('/gone'); }
});
// The parser tells observers of what it adds in as many parts as it likes.
onload = () => new MutationObserver(() => { keep(); fetch('/gone'); })
  .observe(document, { childList: true, subtree: true });
</script><style>a { color: blue } a:visited, #b:hover { color: red }</style>
<x-kept></x-kept><a href="/">itself</a><a href="/elsewhere">elsewhere</a>
<button id=b onclick="say(matches(':hover') ? 'hover' : 'press')">press</button>
<script>say(document.querySelector('#b').matches(':hover') ? 'hovered' : 'cold')</script>
<div style="height: 3000px"></div><input id=q>"#;

#[test]
fn nothing_is_left_in_a_tab() {
    if !has_browser() || !is_due(63) {
        return;
    }
    let mut site =
        Site::saying(STORES).steps(r##"{"click": "#b"}, {"type": {"into": "#q", "text": "x"}}"##);
    site.options.pixels = true;
    let mut page = site.start();
    let runs: Vec<_> = (0..4).map(|_| page.run(&[]).expect("it ends")).collect();
    assert_eq!(runs[0].words(), "clean cold hover", "{:#?} {:#?}", runs[0].names, runs[0].parts());
    for run in &runs {
        assert_eq!((&run.names, run.late), (&runs[0].names, 0));
        assert_eq!(run.outcome.difference(&runs[0].outcome), []);
    }
    assert_eq!(page.system.stats().tabs, 1, "it is used again");
}

#[test]
fn what_outlasts_a_document_has_a_new_tab() {
    if !has_browser() || !is_due(64) {
        return;
    }
    let open = "const open = indexedDB.open('a', 1); open.onupgradeneeded = () => say('new');
        open.onsuccess = () => say('open')";
    let cache = "caches.open('a').then(async (a) => { say(await a.match('/x') ? 'old' : 'new');
        await a.put('/x', new Response('x')) })";
    let worker = "const w = new SharedWorker('/w.js'); w.port.onmessage = (e) => say(e.data)";
    let frame = "</script><iframe src=/f.html></iframe><script>";
    for (script, said) in
        [(open, "new open"), (cache, "new"), (worker, "1"), (frame, "x"), ("open('/x')", "")]
    {
        let site = Site::saying(&format!("<script>{script}</script>"))
            .file("/w.js", "let n = 0; onconnect = (e) => e.ports[0].postMessage(++n)")
            .file("/f.html", "x");
        let mut page = site.start();
        for _ in 0..2 {
            let run = page.run(&[]).expect("it ends");
            assert_eq!(run.words(), said, "{script}");
        }
        let needs = !script.starts_with("open(");
        assert_eq!(page.system.stats().tabs == 2, needs, "{script}: {:?}", page.system.stats());
    }
}

#[test]
fn answers_of_other_origins_are_not_kept() {
    if !has_browser() || !is_due(67) {
        return;
    }
    // The second one asks first whether it may, and the browser keeps the answer for a time.
    for (options, tabs) in [("", 1), (", { method: 'PUT', body: '{}' }", 3)] {
        let page = format!(
            "<script>document.cookie = 'a=1'; fetch('http://other.test/api'{options})
              .then((r) => r.text()).then(say, () => say('failed'))</script>"
        );
        let allow = [("Access-Control-Allow-Origin", "*"), ("Set-Cookie", "b=2")];
        let response = headed(200, "text/plain", &allow, "x");
        let mut page = Site::saying(&page).with("http://other.test/api", response).start();
        let runs: Vec<_> = (0..3).map(|_| page.run(&[]).expect("it ends")).collect();
        assert!(!runs[0].words().is_empty(), "{options}");
        for run in &runs {
            assert_eq!((&run.names, run.words()), (&runs[0].names, runs[0].words()));
            assert_eq!(run.outcome.difference(&runs[0].outcome), []);
        }
        assert_eq!(page.system.stats().tabs, tabs, "{options}: {:?}", page.system.stats());
    }
}
