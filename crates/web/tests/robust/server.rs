//! A real server of a few lines, with sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

/// Starts a server that answers each path as the function writes it; it gets the headers, too.
/// Returns its address, which ends with `/`.
pub(super) fn server(answer: fn(&str, &[String], &mut TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
                let first = lines.next().and_then(Result::ok).unwrap_or_default();
                let heads = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
                let heads: Vec<String> = heads.collect();
                answer(first.split(' ').nth(1).unwrap_or_default(), &heads, &mut stream);
            });
        }
    });
    format!("http://{address}/")
}

/// Returns a whole response.
pub(super) fn whole(kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Accepts a socket (RFC 6455, 4.2.2).
pub(super) fn accept_socket(heads: &[String], stream: &mut TcpStream) {
    let value = |wanted: &str| {
        heads.iter().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned())
        })
    };
    let key = value("sec-websocket-key").expect("a key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    let protocol = value("sec-websocket-protocol").unwrap_or_default();
    let named = (!protocol.is_empty()).then(|| format!("Sec-WebSocket-Protocol: {protocol}\r\n"));
    let named = named.unwrap_or_default();
    let accept = base64(&sha1(key.as_bytes()));
    let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    let _ =
        stream.write_all(format!("{head}{named}Sec-WebSocket-Accept: {accept}\r\n\r\n").as_bytes());
}

/// Sends a frame: 1 is a text, 2 are bytes, 8 closes.
pub(super) fn send_frame(stream: &mut TcpStream, code: u8, data: &[u8]) -> bool {
    let length = u8::try_from(data.len()).expect("a short message");
    let bytes = [&[0x80 | code, length], data].concat();
    stream.write_all(&bytes).is_ok()
}

/// Reads a frame of a page; `None` at its end.
pub(super) fn read_frame(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = [0; 6];
    stream.read_exact(&mut head).ok()?;
    let mut data = vec![0; usize::from(head[1] & 0x7f)];
    stream.read_exact(&mut data).ok()?;
    data.iter_mut().enumerate().for_each(|(at, byte)| *byte ^= head[2 + at % 4]);
    (head[0] & 15 != 8).then_some(data)
}

/// SHA-1 (RFC 3174).
fn sha1(data: &[u8]) -> [u8; 20] {
    let mut text = data.to_vec();
    text.push(0x80);
    while text.len() % 64 != 56 {
        text.push(0);
    }
    text.extend((data.len() as u64 * 8).to_be_bytes());
    let mut state = [0x6745_2301_u32, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
    for block in text.chunks(64) {
        let mut words: Vec<u32> = block
            .chunks(4)
            .map(|word| word.iter().fold(0, |all, byte| all << 8 | u32::from(*byte)))
            .collect();
        for at in 16..80 {
            let mixed = words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16];
            words.push(mixed.rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (at, word) in words.iter().enumerate() {
            let (f, k) = match at / 20 {
                0 => ((b & c) | (!b & d), 0x5A82_7999),
                1 => (b ^ c ^ d, 0x6ED9_EBA1),
                2 => ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC),
                _ => (b ^ c ^ d, 0xCA62_C1D6_u32),
            };
            let sum = a.rotate_left(5).wrapping_add(f).wrapping_add(e);
            let next = sum.wrapping_add(k).wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        for (old, new) in state.iter_mut().zip([a, b, c, d, e]) {
            *old = old.wrapping_add(new);
        }
    }
    let mut out = [0; 20];
    out.chunks_mut(4).zip(state).for_each(|(to, word)| to.copy_from_slice(&word.to_be_bytes()));
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for part in bytes.chunks(3) {
        let at = |index: usize| u32::from(part.get(index).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let value = (word >> (18 - 6 * digit)) & 63;
            let is_there = digit <= part.len();
            out.push(if is_there { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    out
}

#[test]
fn the_example_of_the_standard() {
    let accept = sha1(b"dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    assert_eq!(base64(&accept), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}
