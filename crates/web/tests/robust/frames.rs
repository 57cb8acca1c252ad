//! What frames and workers access has the same name for all of them where it is the same thing, and
//! different names where it is not.

use super::site::{Logged, Site};
use crate::common::is_due;
use anyorder_system::{Choice, TaskSystem};
use anyorder_trace::Location;
use anyorder_web::{PageSystem, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Runs a site, and returns what each event accesses, without what every access of a script reads
/// too.
fn accessed(site: Site) -> BTreeMap<String, BTreeSet<String>> {
    let store = Store::new(site.source());
    let logged = Arc::new(Logged::default());
    let mut system = PageSystem::start(site.options, store, logged).expect("the page opens");
    system.reset().expect("it starts");
    let mut all = BTreeMap::new();
    while let Some(next) = system.enabled().expect("it goes on").into_iter().next() {
        let step = system.execute(&Choice::of(next.task.clone())).expect("it runs");
        let tables = system.tables();
        let names = step.accesses.as_slice().iter().filter_map(|access| {
            let Location::Named(name) = tables.locations[access.location.index()] else {
                return None;
            };
            Some(tables.names.get(name).to_owned())
        });
        all.insert(next.task.to_string(), names.collect());
    }
    all
}

/// Returns the names that events whose own name has a part in it access, among some.
fn of(all: &BTreeMap<String, BTreeSet<String>>, part: &str, wanted: &str) -> Vec<String> {
    let events = all.iter().filter(|(event, _)| event.contains(part));
    let names = events.flat_map(|(_, names)| names).filter(|name| name.contains(wanted));
    names.cloned().collect()
}

#[test]
fn frames_name_what_they_share_alike() {
    if !is_due(71) {
        return;
    }
    let page = "<div id=box></div><script>var count = 0, own = 1, list = [];
        setTimeout(() => { count; own; box.title; list.length; }, 50);
        addEventListener('load', () => setTimeout(() => {
          frames[0].document.getElementById('inner').title = 'x'; frames[0].kept.x = 1;
          document.getElementsByTagName('iframe')[1].contentWindow.own = 3; }, 60))</script>
        <iframe src=/a.html></iframe><iframe name=second src=/b.html></iframe>";
    let a = "<p id=inner></p><script>var own = 2, kept = { x: 0 };
        setTimeout(() => { parent.count = 1; own = 4; parent.document.getElementById('box').title = 'y';
          parent.list.push(1); document.getElementById('inner').title; kept.x }, 55)</script>";
    let b = "<script>var own = 5;\n\nsetTimeout(() => own, 57)</script>";
    let all = accessed(Site::saying(page).file("/a.html", a).file("/b.html", b));
    let (top, a, b) = ("load/timeout@(page):3", "timeout@a.html", "timeout@b.html");
    let late = all.keys().find(|event| event.contains("/timeout@(page):4"));
    let late = late.unwrap_or_else(|| panic!("{:#?}", all.keys()));
    for (event, wanted, names) in [
        (top, "count", vec!["global.count"]),
        (a, "count", vec!["global.count"]),
        (top, "own", vec!["global.own"]),
        (a, "own", vec!["frame 0>global.own"]),
        (b, "own", vec!["frame second>global.own"]),
        (late, "own", vec!["frame second>global.own"]),
        (top, ".@title", vec!["DIV[box].@title"]),
        (a, ".@title", vec!["DIV[box].@title", "frame 0>P[inner].@title"]),
        (late, ".@title", vec!["frame 0>P[inner].@title"]),
        (a, "kept", vec!["frame 0>global.kept"]),
        (late, "kept", vec!["frame 0>global.kept"]),
    ] {
        assert_eq!(of(&all, event, wanted), names, "{event} {wanted}: {all:#?}");
    }
    let lists = [of(&all, top, ".length"), of(&all, a, ".length")];
    assert_eq!(lists[0].len(), 1, "{lists:?}");
    assert!(lists[1].contains(&lists[0][0]), "{lists:?}");
    let kept = [of(&all, a, ".x"), of(&all, late, ".x")];
    assert!(kept[0].len() == 1 && kept[0] == kept[1], "{kept:?}");
}

#[test]
fn workers_name_what_is_theirs() {
    if !is_due(72) {
        return;
    }
    let blob = "var state = 0; onmessage = (e) => { state = e.data; postMessage(state) }";
    let page = format!(
        "<script>var state = 0; const text = `{blob}`;
        const one = new Worker('/w.js'), two = new Worker('/w.js');
        const three = new Worker(URL.createObjectURL(new Blob([text])));
        const four = new Worker('data:text/javascript,' + encodeURIComponent(text));
        let five; setTimeout(() => {{ five = new Worker('/w.js') }}, 5);
        setTimeout(() => one.postMessage(1), 50);
        setTimeout(() => two.postMessage(2), 60);
        setTimeout(() => three.postMessage(3), 70);
        setTimeout(() => four.postMessage(4), 80);
        setTimeout(() => five.postMessage(5), 90);
        setTimeout(() => {{ state = 1 }}, 100)</script>"
    );
    let site = || Site::saying(&page).file("/w.js", blob);
    let all = accessed(site());
    let expected = [
        (7, "worker /w.js>global.state"),
        (8, "worker /w.js~1>global.state"),
        (9, "worker (blob)>global.state"),
        (10, "worker (data)>global.state"),
        (11, "worker /w.js of load/timeout@(page):6>global.state"),
        (12, "global.state"),
    ];
    for (line, name) in expected {
        let names = of(&all, &format!("load/timeout@(page):{line}"), "global.state");
        assert_eq!(names, [name], "{all:#?}");
    }
    assert_eq!(accessed(site()), all, "a second run has the same names");
}

/// A frame that is taken away, and one that shows another page later, keep no names.
#[test]
fn frames_that_go_away_end_their_logs() {
    if !is_due(73) {
        return;
    }
    let page = "<script>var seen = 0; setTimeout(() => { for (let i = 0; i < 3; i++) {
          const f = document.createElement('iframe'); document.body.append(f);
          f.contentWindow.x = { y: i }; f.contentDocument.title = 'a'; f.remove(); } }, 1);
        setTimeout(() => { frames[0].location = '/b.html' }, 5);
        setTimeout(() => { frames[0].own }, 50)</script><iframe src=/a.html></iframe>";
    let site = || {
        let site = Site::saying(page).file("/a.html", "<script>var own = 1</script>");
        site.file("/b.html", "<script>var own = 2; setTimeout(() => { own = 3 }, 40)</script>")
    };
    let all = accessed(site());
    let own = vec!["frame 0>global.own".to_owned()];
    assert_eq!(of(&all, "timeout@b.html", "own"), own, "{all:#?}");
    assert_eq!(of(&all, "load/timeout@(page):6", "own"), own, "{all:#?}");
    assert_eq!(accessed(site()), all, "a second run has the same names");
}
