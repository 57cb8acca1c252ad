//! What a browser has before a page is loaded, and what is added to its requests.

use super::server::{server, whole};
use super::site::{Page, SAY, Site};
use crate::common::is_due;
use anyorder_web::{PageOptions, Store, read_storage_state};
use std::io::Write;

const STATE: &str = r#"{"cookies": [{"name": "who", "value": "me", "domain": "127.0.0.1", "path": "/"},
    {"name": "secret", "value": "x", "domain": "127.0.0.1", "path": "/", "httpOnly": true}],
    "origins": [{"origin": "ORIGIN", "localStorage": [{"name": "theme", "value": "dark"}]},
                {"origin": "http://other", "localStorage": [{"name": "theme", "value": "light"}]}]}"#;

const PAGE: &str = "<script>say(document.cookie); say(localStorage.theme + localStorage.length);
    localStorage.clear(); localStorage.own = 1; document.cookie = 'who=other';
    fetch('/headers').then((r) => r.text()).then(say)</script>";

#[test]
fn each_run_begins_with_what_is_given() {
    if !is_due(65) {
        return;
    }
    let url = server(|path, heads, stream| {
        let value = |name: &str| {
            let found = heads.iter().find(|line| line.to_ascii_lowercase().starts_with(name));
            found.and_then(|line| line.split_once(": ")).map_or("none", |(_, value)| value)
        };
        let text = match path {
            "/" => whole("text/html", &format!("{SAY}{PAGE}")),
            _ => whole("text/plain", &format!("{}/{}", value("x-who"), value("accept-language"))),
        };
        let _ = stream.write_all(text.as_bytes());
    });
    let origin = url.trim_end_matches('/');
    let options = PageOptions {
        url: url.clone(),
        stored: read_storage_state(&STATE.replace("ORIGIN", origin)).expect("a state"),
        headers: vec![("X-Who".into(), "tester".into()), ("accept-language".into(), "eo".into())],
        pixels: false,
        ..PageOptions::default()
    };
    let store = Store::new(Box::new(()));
    let mut page = Page::start(options, store);
    for _ in 0..3 {
        assert_eq!(page.run(&[]).expect("it ends").words(), "who=me dark1 tester/eo");
    }
    assert_eq!(page.system.stats().tabs, 1, "{:?}", page.system.stats());
}

#[test]
fn a_cookie_that_the_browser_refuses_is_an_error() {
    if !is_due(66) {
        return;
    }
    let mut site = Site::saying("");
    let text =
        r#"{"cookies": [{"name": "a", "value": "b", "path": "no path", "url": "no address"}]}"#;
    site.options.stored = read_storage_state(text).expect("its form is right");
    let store = Store::new(site.source());
    let logged = std::sync::Arc::new(anyorder_web::Unchanged);
    let error = anyorder_web::PageSystem::start(site.options, store, logged).expect_err("refused");
    assert!(error.to_string().contains("Storage.setCookies"), "{error}");
}
