//! Policies, frames, popups, modules, encodings and other ways to make a document.

use super::site::{SAY, Site, headed};
use crate::common::is_due;
use anyorder_web::Response;

#[test]
fn policies_do_not_stop_the_runtime() {
    if !is_due(57) {
        return;
    }
    let policy = "default-src 'self'; script-src 'nonce-abc' 'strict-dynamic'; \
        require-trusted-types-for 'script'";
    let page = "<!DOCTYPE html><body><p id=log></p><script nonce=abc>
        function say(w) { document.getElementById('log').textContent += w + ' ' }
        say('nonce'); const d = document.createElement('script'); d.src = '/y.js';
        document.body.append(d); setTimeout(() => say('timed'), 5);
        navigator.serviceWorker.register('/sw.js').then(() => say('NEVER'));
        </script><script nonce=abc src=/sri.js crossorigin
        integrity='sha256-BOaShuU6Ryqcpj/z4rSDtGgWNzRRIpltU/DLUH/zRqE='></script>";
    let site = Site::new(b"")
        .with("/", headed(200, "text/html", &[("Content-Security-Policy", policy)], page))
        .file("/y.js", "say('inserted')")
        .file("/sri.js", "say('integrity')");
    let mut page = site.start();
    let ran = page.run(&[]).expect("it ends");
    assert_eq!(ran.words(), "nonce inserted integrity timed");
    let gaps = page.store.gaps();
    assert!(gaps.iter().any(|gap| gap.contains("service worker `/sw.js`")), "{gaps:?}");
    assert!(gaps.iter().any(|gap| gap.contains("is switched off")), "{gaps:?}");
}

#[test]
fn frames_of_all_kinds_are_controlled() {
    if !is_due(58) {
        return;
    }
    let timed = "setTimeout(() => top.postMessage('NAME10', '*'), 10)";
    let script = |name: &str| format!("<script>{}</script>", timed.replace("NAME", name));
    let page = format!(
        "<script>onmessage = (e) => say(e.data)</script>
        <iframe srcdoc=\"{}\"></iframe><iframe sandbox=allow-scripts srcdoc=\"{}\"></iframe>
        <iframe src=\"data:text/html,{}\"></iframe><iframe src=http://other.test/f.html></iframe>
        <iframe src=/f1.html></iframe><script>const f = document.createElement('iframe');
        f.src = URL.createObjectURL(new Blob(['{}'], {{ type: 'text/html' }}));
        document.body.append(f); const g = document.createElement('iframe');
        document.body.append(g); g.contentWindow.setTimeout(() => say('blank10'), 10)</script>",
        script("srcdoc"),
        script("sandbox"),
        script("data"),
        script("blob")
            .replace("</script>", "</' + 'script>")
            .replace("'blob10', '*'", "\"blob10\", \"*\""),
    );
    let ran = Site::saying(&page)
        .file("http://other.test/f.html", &script("cross"))
        .file("/f1.html", "<iframe src=/f2.html></iframe>")
        .file("/f2.html", &script("inner"))
        .run();
    let mut words: Vec<String> = ran.words().split(' ').map(str::to_owned).collect();
    words.sort();
    let expected = ["blank10", "blob10", "cross10", "data10", "inner10", "sandbox10", "srcdoc10"];
    assert_eq!(words, expected, "{:#?}", ran.names);
    let timers = ran
        .names
        .iter()
        .filter(|name| name.rsplit('/').next().is_some_and(|last| last.starts_with("timeout@")));
    assert_eq!(timers.count(), 7, "{:#?}", ran.names);
}

#[test]
fn windows_and_downloads_are_refused() {
    if !is_due(59) {
        return;
    }
    let page =
        "<a id=a target=_blank href=/next.html>a</a> <b id=b onclick=\"say(window.open('/n'))\">b</b>
        <a id=c target=_blank rel=noopener href=/next.html>c</a> <a id=d download href=/a.txt>d</a>
        <a id=e href=/a.bin>e</a><script>say('n' + name + opener)</script>";
    let bin = headed(200, "x/y", &[("Content-Disposition", "attachment")], "x");
    let steps = r##"{"click":"#a"},{"click":"#b"},{"click":"#c"},{"click":"#d"}"##;
    let ran = Site::saying(page).with("/a.bin", bin).file("/a.txt", "x").steps(steps).run();
    assert!(ran.words().starts_with("nnull null"), "{}", ran.words());
    let parts = ran.parts();
    assert!(parts.contains(&"refused/a window: 2".to_owned()), "{parts:#?}");
    assert!(parts.iter().any(|part| part.contains("a download of ~1a.txt")), "{parts:#?}");
}

#[test]
fn a_document_that_is_opened_again_is_still_controlled() {
    if !is_due(60) {
        return;
    }
    let page = "<script>setTimeout(() => { document.open();
        document.write('<p id=log></p><b id=b onclick=\"say(1)\">b</b>'); document.close();
        onmessage = () => say('message'); say('written'); postMessage(1, '*');
        setTimeout(() => say('timed'), 4) }, 5)</script>";
    let ran = Site::saying(page).steps(r##"{"click": "#b"}"##).run();
    assert_eq!(ran.words(), "written message timed 1");
    assert!(ran.names.iter().any(|name| name.contains("message@window")), "{:?}", ran.names);
}

#[test]
fn modules_and_elements() {
    if !is_due(61) {
        return;
    }
    let page = "<div id=h></div><script type=importmap>{\"imports\": {\"lib\": \"/lib.js\"}}</script>
        <script type=module>import { x } from 'lib'; say(x);
        say(await fetch('/a.txt').then((r) => r.text())); say((await import('/y.js')).y);
        class X extends HTMLElement { connectedCallback() {
          this.attachShadow({ mode: 'closed' }).innerHTML = '<b onclick=1>in</b>'; say('connected') } }
        customElements.define('x-x', X); document.body.append(new X);
        h.attachShadow({ mode: 'open' }).innerHTML = '<input id=i value=v>'</script><x-x></x-x>";
    let ran = Site::saying(page)
        .file("/lib.js", "export const x = 'lib'")
        .file("/y.js", "export const y = 'imported'")
        .file("/a.txt", "awaited")
        .run();
    assert_eq!(ran.words(), "lib awaited imported connected connected");
    assert_eq!(ran.part(["fields", "#i"]), "\"v\"");
}

#[test]
fn pages_and_scripts_have_encodings() {
    if !is_due(62) {
        return;
    }
    let page = [
        b"<!DOCTYPE html><meta charset=iso-8859-1><body><p id=log></p><script>function say(w) {
        document.getElementById('log').textContent += w + ' ' }; say('caf\xe9')</script>"
            .as_slice(),
        b"<script src=/l.js></script><script src=/s.js></script><script src=/u.js></script>",
    ]
    .concat();
    let utf16: Vec<u8> =
        "\u{feff}say('\u{4f60}')".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let ran = Site::new(&page)
        .with("/l.js", Response::new(200, "text/javascript", b"say('na\xefve')"))
        .with("/s.js", Response::new(200, "text/javascript; charset=shift_jis", b"say('\x83e')"))
        .with("/u.js", Response::new(200, "text/javascript", &utf16))
        .run();
    assert_eq!(ran.words(), "caf\u{e9} na\u{ef}ve \u{30c6} \u{4f60}");
    let text = format!("\u{feff}{SAY}<script>say('\u{e9}x')</script>");
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(Site::new(&utf16).run().words(), "\u{e9}x");
}
