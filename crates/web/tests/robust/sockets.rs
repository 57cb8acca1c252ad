//! Sockets and streams of a real server are recorded once and then repeated.

use super::server::{accept_socket, read_frame, send_frame, server, whole};
use super::site::{Page, SAY};
use crate::common::is_due;
use anyorder_web::{PageOptions, SocketCause, SocketData, Store};
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How many sockets were opened.
static OPENED: AtomicUsize = AtomicUsize::new(0);

const CHAT: &str = "<script>
    const c = new WebSocket(origin.replace('http', 'ws') + '/chat', 'talk'); let word = 'early';
    c.binaryType = 'arraybuffer';
    c.onopen = () => { say('open-' + c.protocol); c.send('a'); c.send(new Uint8Array([7, 200])) };
    c.onmessage = (e) => {
      const text = typeof e.data === 'string' ? e.data : 'bytes' + new Uint8Array(e.data);
      say(text); if (text === 'A2') c.send(word); if (text === 'early!') c.send('bye') };
    c.onclose = (e) => say('closed' + e.code + e.reason + e.wasClean);
    setTimeout(() => { word = 'late' }, 5);
    const n = new WebSocket('ws://' + location.host + '/none');
    n.onerror = () => say('error'); n.onclose = (e) => say('none' + e.code)</script>";

fn chat(path: &str, heads: &[String], stream: &mut TcpStream) {
    match path {
        "/" => {
            let _ = stream.write_all(whole("text/html", &format!("{SAY}{CHAT}")).as_bytes());
        }
        "/chat" => {
            OPENED.fetch_add(1, Ordering::SeqCst);
            accept_socket(heads, stream);
            send_frame(stream, 1, b"welcome");
            while let Some(data) = read_frame(stream) {
                match &data[..] {
                    b"a" => {
                        send_frame(stream, 1, b"A1");
                        // Not at once, but before the server is silent.
                        std::thread::sleep(Duration::from_millis(50));
                        send_frame(stream, 1, b"A2");
                    }
                    [7, 200] => drop(send_frame(stream, 2, &[1, 255])),
                    b"bye" => drop(send_frame(stream, 8, b"\x0f\xa0done")),
                    other => drop(send_frame(stream, 1, &[other, b"!"].concat())),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn a_real_socket_is_recorded_once_and_repeated() {
    if !is_due(63) {
        return;
    }
    let options = PageOptions { url: server(chat), pixels: false, ..PageOptions::default() };
    let mut page = Page::start(options.clone(), Store::new(Box::new(())));
    let first = page.run(&[]).expect("it ends");
    let said = "open-talk welcome A1 A2 bytes1,255 early! closed4000donetrue error none1006";
    let sorted = |text: &str| {
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        words.sort();
        words
    };
    assert_eq!(sorted(&first.words()), sorted(said), "{:?}", page.store.gaps());
    let again = page.run(&[]).expect("it ends");
    assert_eq!(first.names, again.names);
    assert_eq!(first.outcome.difference(&again.outcome), [], "all was recorded");
    assert_eq!(OPENED.load(Ordering::SeqCst), 1, "the second run asks nobody");
    assert_eq!(page.store.gaps(), [""; 0]);
    // What was recorded can be saved, and is enough without the server.
    let kept = page.store.sockets();
    let causes = kept["/chat"].iter().filter(|one| one.cause == SocketCause::After(0));
    let data: Vec<&SocketData> = causes.map(|one| &one.data).collect();
    assert_eq!(data, [&SocketData::Text("welcome".to_owned())]);
    // Another order: the page sends what it never sent before.
    let early = "load/socket@%2Fchat%20open";
    let late = first.names.iter().find(|name| name.contains("timeout@")).expect("a timer");
    let other = page.run(&["load", late, early]).expect("it ends");
    assert!(other.words().contains("A2") && !other.words().contains("early!"), "{other:?}");
    let gaps = page.store.gaps();
    let is_named = gaps.iter().any(|gap| gap.starts_with("`late` is sent over the socket `/chat`"));
    assert!(is_named, "{gaps:?}");
    assert_eq!(OPENED.load(Ordering::SeqCst), 1);
}
