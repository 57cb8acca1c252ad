//! Native binary files with right checksums around any contents, as no fuzzer guesses a checksum.

const MAGIC: &[u8; 8] = b"\x89AOT\r\n\x1a\n";

/// Reads `data` as blocks, each a byte for the kind, two for the number of events, two for the number
/// of bytes of contents, and the contents; the file they make has right heads, sums and trailer.
pub fn file(mut data: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([1, 0, 0, 0]);
    out.extend(crc32fast::hash(&out).to_le_bytes());
    let (mut first, mut last) = (0u64, 0u64);
    while let Some((head, rest)) = data.split_at_checked(5) {
        let events = u32::from(u16::from_le_bytes([head[1], head[2]]));
        let length = usize::from(u16::from_le_bytes([head[3], head[4]])).min(rest.len());
        let (contents, rest) = rest.split_at(length);
        let kind = 1 + head[0] % 3;
        let events = if kind == 2 { events } else { 0 };
        last = out.len() as u64;
        block(&mut out, kind, events, first, contents);
        first += u64::from(events);
        data = rest;
    }
    out.extend(last.to_le_bytes());
    out.extend(crc32fast::hash(&last.to_le_bytes()).to_le_bytes());
    out.extend(b"AOTE");
    out
}

fn block(out: &mut Vec<u8>, kind: u8, events: u32, first: u64, contents: &[u8]) {
    let packed = stored(contents);
    let start = out.len();
    out.extend([kind, 0, 0, 0]);
    out.extend((packed.len() as u32).to_le_bytes());
    out.extend((contents.len() as u32).to_le_bytes());
    out.extend(events.to_le_bytes());
    out.extend(first.to_le_bytes());
    out.extend(crc32fast::hash(&packed).to_le_bytes());
    out.extend(crc32fast::hash(&out[start..]).to_le_bytes());
    out.extend(packed);
}

/// A zstd frame (RFC 8878) of one raw block: unpacking costs nothing and mutations stay visible.
fn stored(contents: &[u8]) -> Vec<u8> {
    let mut out = 0xFD2F_B528u32.to_le_bytes().to_vec();
    // A single segment whose size stands in four bytes.
    out.push(0xA0);
    out.extend((contents.len() as u32).to_le_bytes());
    let header = 1 | (contents.len() as u32) << 3;
    out.extend(&header.to_le_bytes()[..3]);
    out.extend_from_slice(contents);
    out
}

/// The opposite of [`file`]: the blocks of a good file as data that makes it again, but for its index.
///
/// # Panics
///
/// Panics when the file is not good.
pub fn contents(file: &[u8]) -> Vec<u8> {
    let u32_at = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let mut out = Vec::new();
    let mut at = 16;
    while at + 32 < file.len() {
        let (packed, raw, events) =
            (u32_at(at + 4) as usize, u32_at(at + 8) as usize, u32_at(at + 12));
        let contents =
            zstd::bulk::decompress(&file[at + 32..at + 32 + packed], raw).expect("a good file");
        out.push(file[at] - 1);
        out.extend((events as u16).to_le_bytes());
        out.extend((contents.len() as u16).to_le_bytes());
        out.extend(contents);
        at += 32 + packed;
    }
    out
}
