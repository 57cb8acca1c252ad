//! Dialogs, other documents, popups and downloads.

use super::site::{SAY, Site, headed};
use crate::common::is_due;

#[test]
fn dialogs_are_answered() {
    if !is_due(46) {
        return;
    }
    let page = "<script>alert('a'); say(confirm('c')); say(prompt('p', 'd')); print(); say('end')
        addEventListener('beforeunload', (e) => { e.preventDefault(); e.returnValue = 'x' })
        </script><a id=a href=/next.html>go</a>";
    assert_eq!(Site::saying(page).run().words(), "true d end");
    let ran = Site::saying(page).file("/next.html", "x").steps(r##"{"click": "#a"}"##).run();
    let said = ran.part(["page", "dialogs"]);
    // Not whether it asked before it was left.
    assert_eq!(said, "alert: a\nconfirm: c\nprompt: p");
    assert_eq!(ran.names, ["load", "click@%23a", "click@%23a/leave@%2Fnext.html"]);
}

#[test]
fn a_form_that_is_sent_is_a_request() {
    if !is_due(47) {
        return;
    }
    let page = "<form method=post action=/next.html><input name=q value=1><button id=b>go</button>";
    let ran = Site::saying(page).file("/next.html", "x").steps(r##"{"click": "#b"}"##).run();
    assert_eq!(ran.names, ["load", "click@%23b", "click@%23b/leave@%2Fnext.html"]);
    assert_eq!(ran.part(["requests", "POST http://localhost/next.html q=1"]), "1");
}

#[test]
fn the_same_document_is_not_left() {
    if !is_due(48) {
        return;
    }
    let page = "<script>onhashchange = () => say('hash'); onpopstate = () => say('pop');
        history.pushState(1, '', '/p'); history.replaceState(1, '', '/q'); location.hash = 'x';
        history.back()</script>";
    let ran = Site::saying(page).run();
    assert_eq!(ran.part(["page", "left for"]), "", "{:?}", ran.parts());
    let ran = Site::saying("<script>location.reload()</script>").run();
    assert_eq!(ran.part(["page", "left for"]), "http://localhost/");
}

#[test]
fn a_document_that_has_moved_is_followed() {
    if !is_due(49) {
        return;
    }
    let to = |url: &str| headed(302, "text/html", &[("Location", url)], "");
    let site = Site::new(b"").with("/", to("/a")).with("/a", to("/next.html"));
    let ran = site.file("/next.html", &format!("{SAY}<script>say('came')</script>")).run();
    assert_eq!((ran.words().as_str(), ran.names.len()), ("came", 1));
    let mut page = Site::new(b"").with("/", to("/")).start();
    let error = page.run(&[]).expect_err("it never comes").to_string();
    assert!(error.contains("redirected without end") || error.contains("no document"), "{error}");
}
