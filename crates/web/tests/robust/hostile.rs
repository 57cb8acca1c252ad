//! Pages that want to read the tool's files, or to break or read its log.

use super::site::{SAY, Site, headed};
use crate::common::is_due;

#[test]
fn files_cannot_be_read() {
    if !is_due(52) {
        return;
    }
    let page = "<img src=file:///etc/passwd onerror=\"say('img')\">
        <script>const all = async () => {
          for (const url of ['file:///etc/passwd', '/to']) {
            await fetch(url).then(() => say('READ'), () => say('refused'));
          }
          say((await fetch('/%2e%2e/%2e%2e/%2e%2e/etc/passwd')).status);
          try {
            const x = new XMLHttpRequest; x.open('GET', 'file:///etc/passwd', false); x.send();
            say('READ');
          } catch { say('refused') }
        }; all()</script>";
    let to = headed(302, "text/plain", &[("Location", "file:///etc/passwd")], "");
    let ran = Site::saying(page).with("/to", to).run();
    assert!(!ran.words().contains("READ"), "{}", ran.words());
    assert_eq!(ran.words().matches("refused").count(), 3, "{}", ran.words());
}

#[test]
fn the_runtime_needs_no_natives_of_the_page() {
    if !is_due(53) {
        return;
    }
    let page = "<script>const bad = () => { throw new Error('bad') };
        const all = Object.getOwnPropertyNames.bind(Object);
        for (const home of [Array, Map, Set, WeakMap, String, RegExp, Promise]) {
          for (const name of all(home.prototype)) {
            if (name !== 'constructor' && name !== 'size' && typeof home.prototype[name] === 'function') {
              home.prototype[name] = bad;
            }
          }
        }
        Array.prototype[Symbol.iterator] = bad; Object.prototype.toJSON = bad;
        JSON.stringify = JSON.parse = Object.keys = Object.defineProperty = Reflect.apply = bad;
        Math.max = Math.floor = Math.trunc = bad; Reflect.construct = bad;
        setTimeout(() => { document.title = 'timed' }, 5);
        document.body.onclick = () => { window.clicked = 1; location.hash = 'clicked' };</script>";
    // Some of these cannot be read without their objects.
    let page = page.replace(
        "&& typeof home.prototype[name]",
        "&& typeof \
        Object.getOwnPropertyDescriptor(home.prototype, name).value",
    );
    let site =
        Site::new(format!("{SAY}<b id=b>b</b>{page}").as_bytes()).steps(r##"{"click": "#b"}"##);
    let ran = site.run();
    let errors: Vec<String> =
        ran.parts().into_iter().filter(|part| part.starts_with("errors")).collect();
    assert_eq!(ran.part(["page", "title"]), "timed", "{errors:?} {:?}", ran.names);
    assert!(ran.part(["page", "url"]).ends_with("#clicked"), "{errors:?} {:?}", ran.names);
    assert!(ran.names.iter().any(|name| name.contains("timeout@(page):")), "{:?}", ran.names);
}

#[test]
fn the_page_cannot_use_the_runtime() {
    if !is_due(54) {
        return;
    }
    let page = "<script>setTimeout(() => say('timed'), 5);
        const names = Object.getOwnPropertyNames(window).filter((name) => /anyorder/.test(name));
        for (const name of names) {
          const found = window[name];
          for (const key of [undefined, '', 'k', found]) {
            try { const api = found(key); if (api) say('GOT'); } catch { say('thrown') }
          }
          try { window[name] = null } catch { }
          if (delete window[name]) say('DELETED');
        }</script>";
    let ran = Site::saying(page).run();
    assert_eq!(ran.words(), "timed");
}
