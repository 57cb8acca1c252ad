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

#[test]
fn a_page_goes_on_by_itself_when_its_time_has_come() {
    if !is_due(64) {
        return;
    }
    let meta = "<meta http-equiv=refresh content=\"5; url=/next.html\">";
    let page = |head: &str| {
        let script = "<script>setTimeout(() => say('t'), 9); say('loaded')</script>";
        Site::new(format!("<!DOCTYPE html><head>{head}</head>{}{script}", &SAY[15..]).as_bytes())
            .file("/next.html", "next")
    };
    let ran = page(meta).run();
    let timers = ["load", "load/timeout@(page):2", "load/timeout@refresh"];
    assert_eq!(ran.names[..3], timers);
    assert_eq!(ran.names[3], "load/timeout@refresh/leave@%2Fnext.html");
    assert_eq!(ran.part(["page", "left for"]), "http://localhost/next.html");
    // It may come first: the time is that of the page, not that of the machine.
    let site = page(&meta.replace("5;", "0;"));
    let mut page = site.start();
    let ran = page.run(&["load", "load/timeout@refresh"]).expect("it ends");
    assert_eq!(ran.names[1], "load/timeout@refresh");
    // A page that loads itself again and again ends its run with the first time.
    let again = "<meta http-equiv='Refresh' content='3'>";
    let ran = Site::saying(&format!("{again}<script>say(1)</script>")).run();
    assert_eq!(ran.part(["page", "left for"]), "http://localhost/");
    let headed = headed(200, "text/html", &[("Refresh", "0; url=/next.html")], SAY);
    let mut page = Site::new(b"").with("/", headed).start();
    let ran = page.run(&[]).expect("it ends");
    assert_eq!(ran.part(["page", "left for"]), "");
    assert!(page.store.gaps().iter().any(|gap| gap.contains("header Refresh")));
}

#[test]
fn links_that_are_scripts_run_in_their_clicks() {
    if !is_due(65) {
        return;
    }
    let page = "<a id=a href=\"javascript:say('a'); void 0\">a</a>
        <a id=b href=\"javascript:setTimeout(() => say('b'), 5); void 0\">b</a>
        <a id=c href=\"javascript:'<p>gone'\">c</a>";
    let steps = r##"{"click": "#a"}, {"click": "#b"}"##;
    let ran = Site::saying(page).steps(steps).run();
    assert_eq!(ran.words(), "a b");
    let timer = "click@%23b/timeout@";
    assert!(ran.names.iter().any(|name| name.starts_with(timer)), "{:?}", ran.names);
    // The text is another document.
    let ran = Site::saying(page).steps(r##"{"click": "#c"}"##).run();
    assert!(["gone", ""].contains(&ran.words().as_str()), "{}", ran.words());
}
