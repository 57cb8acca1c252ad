//! The timers and requests of workers are events.

use super::site::Site;
use crate::common::is_due;

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
        .file("/outer.js", "new Worker('/inner.js').onmessage = (e) => postMessage(e.data)")
        .file("/inner.js", "setTimeout(() => postMessage('inner40'), 40)")
        .file("/w.js", "setTimeout(() => postMessage('NEVER'), 50)")
        .start();
    let ran = page.run(&[]).expect("it ends");
    let again = page.run(&[]).expect("it ends");
    assert_eq!(ran.names, again.names);
    assert_eq!(ran.outcome.difference(&again.outcome), []);
    let gaps = page.store.gaps();
    assert!(gaps.iter().any(|gap| gap.contains("blob or data reports no accesses")), "{gaps:?}");
    assert_eq!(ran.words(), "blob blob10 module20 shared30 inner40", "{:#?}", ran.names);
    assert_eq!(ran.late, 0);
}
