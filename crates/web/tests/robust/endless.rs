//! Pages that never become idle.

use super::site::Site;
use crate::common::is_due;
use anyorder_system::RunError;
use std::time::Duration;

/// Long enough for what ends, also on a busy machine.
const SHORT: Duration = Duration::from_secs(5);

#[test]
fn what_repeats_itself_is_left_after_a_while_and_named() {
    if !is_due(42) {
        return;
    }
    let page = "<script>(function f() { requestAnimationFrame(f) })();
        (function f() { setTimeout(f, 5) })();
        setInterval(() => say('i'), 5);
        (function f() { fetch('/a.txt').then(f) })();
        const c = new MessageChannel(); c.port1.onmessage = () => c.port2.postMessage(1);
        c.port2.postMessage(1); onmessage = () => postMessage(1, '*'); postMessage(1, '*');
        document.onclick = () => say('clicked')</script>";
    let site = Site::saying(page).file("/a.txt", "x").steps(r##"{"click": "#log"}"##);
    let mut page = site.start();
    let ran = page.run(&[]).expect("it ends");
    assert!(ran.words().contains("clicked"), "the user has a turn: {}", ran.words());
    let at = |part: &str| ran.names.iter().position(|name| name.contains(part)).expect(part);
    assert!(at("click@") < at("fetch@%2Fa.txt/fetch@"), "polling comes after the user");
    let gaps = page.store.gaps();
    for kind in ["frame `", "timeout `", "interval `", "fetch `/a.txt`", "message `port`"] {
        let is_named = gaps.iter().any(|gap| gap.starts_with(kind) && gap.contains("without end"));
        assert!(is_named, "{kind}: {gaps:#?}");
    }
}

/// Returns the error of a page whose script does not end.
fn error_of(site: Site) -> String {
    let mut page = site.reply_timeout(SHORT).start();
    let error = page.run(&[]).expect_err("it does not end");
    assert!(matches!(error, RunError::TimedOut(_)), "{error}");
    error.to_string()
}

#[test]
fn a_script_without_end_has_its_place() {
    if !is_due(43) {
        return;
    }
    let handler =
        "<script>\nfunction spin() {\n  for (;;);\n}</script><b onclick=spin() id=b>b</b>";
    let error = error_of(Site::saying(handler).steps(r##"{"click": "#b"}"##));
    assert!(error.contains("runs without end at http://localhost/:4"), "{error}");
}

#[test]
fn a_chain_of_promises_without_end_has_its_place() {
    if !is_due(44) {
        return;
    }
    let chain = "<script src=/loop.js></script>";
    let script = "\nfunction again() { return Promise.resolve().then(again) }\nagain()";
    let error = error_of(Site::saying(chain).file("/loop.js", script));
    assert!(error.contains("runs without end at http://localhost/loop.js:2"), "{error}");
}

#[test]
fn an_event_that_uses_very_many_objects_does_not_take_long_to_log() {
    if !is_due(69) {
        return;
    }
    let page = "<script>let table = null;
        setTimeout(() => { table = {}; for (let i = 0; i < 30000; i++) {
          (table['k' + i] ??= new Set()).add({ i }) } say(Object.keys(table).length) }, 1);
        setTimeout(() => say(table.k7.size), 2);</script>";
    let mut page = Site::saying(page).start();
    let first = page.run(&[]).expect("it ends");
    assert_eq!(first.words(), "30000 1");
    let gaps = page.store.gaps();
    assert!(gaps.iter().any(|gap| gap.contains("more than 40,000 locations")), "{gaps:?}");
}
