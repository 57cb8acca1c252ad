//! Natives that answer from other threads and processes: their answers belong to the event that
//! asks, in the order of asking.

use super::site::Site;
use crate::common::is_due;

#[test]
fn answers_of_natives_come_in_the_order_of_asking() {
    if !is_due(76) {
        return;
    }
    let page = r#"<canvas id=c width=900 height=900></canvas><script>
        const all = [];
        const later = (word, promise) => all.push(promise.then(
          () => Promise.resolve().then(() => say(word)), (error) => say(word + error)));
        setTimeout(() => {
          const data = new Uint8Array(3e6);
          later('digest', crypto.subtle.digest('SHA-512', data));
          later('cookie', cookieStore.set('a', '1'));
          later('get', cookieStore.get('a').then((a) => { if (a.value !== '1') throw a.value }));
          later('text', new Blob([data]).text());
          later('bitmap', createImageBitmap(c));
          later('persisted', navigator.storage.persisted());
          later('small', crypto.subtle.digest('SHA-1', new Uint8Array(1)));
          later('wrong', crypto.subtle.digest('SHA-0', new Uint8Array(1)).catch(() => 0));
          later('wasm', WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])));
          later('cache', caches.open('a').then((a) => a.put('/x', new Response('x'))));
        }, 5);
        setTimeout(() => { const reader = new FileReader; reader.onload = () => say('read');
          reader.readAsText(new Blob(['x'])) }, 10);
        setTimeout(() => c.toBlob((blob) => say('blob' + (blob.size > 0))), 20);
        setTimeout(() => say('end'), 30)</script>"#;
    // Their order in the run tells whether an event waits, and that within it whose turn it is.
    let expected =
        "digest cookie get text bitmap persisted small wrong wasm cache read blobtrue end";
    let ran = Site::saying(page).run();
    let sorted = |words: &str| {
        let mut words: Vec<&str> = words.split(' ').collect();
        words.sort_unstable();
        words.join(" ")
    };
    assert_eq!(sorted(&ran.words()), sorted(expected), "{:#?}", ran.parts());
    let place = |word: &str| {
        let words = ran.words();
        words.split(' ').position(|one| one == word).unwrap_or_else(|| panic!("{word}: {words}"))
    };
    for pair in
        ["digest", "cookie", "text", "bitmap", "persisted", "small", "wrong", "wasm"].windows(2)
    {
        assert!(place(pair[0]) < place(pair[1]), "{pair:?}: {}", ran.words());
    }
    assert!(ran.words().ends_with("read blobtrue end"), "{}", ran.words());
}
