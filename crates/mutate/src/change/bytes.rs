//! Mutations that know nothing of the format.

use anyorder_common::random::{Random as _, Rng};

/// Numbers at which arithmetic goes wrong.
const EXTREMES: [u64; 9] = [
    0,
    1,
    0x7f,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
];

/// Changes some bytes.
pub(super) fn change(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    if bytes.is_empty() {
        bytes.extend_from_slice(other);
        return;
    }
    let at = rng.index(bytes.len());
    let end = at + rng.index((bytes.len() - at).min(64)) + 1;
    match rng.below(8) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.bits() as u8,
        2 => drop(bytes.drain(at..end)),
        3 => {
            let part = bytes[at..end].to_vec();
            let to = rng.index(bytes.len());
            bytes.splice(to..to, part);
        }
        4 => bytes.truncate(at),
        5 => {
            let width = rng.pick(&[1, 2, 4, 8]).min(bytes.len() - at);
            let number = rng.pick(&EXTREMES).to_le_bytes();
            bytes[at..at + width].copy_from_slice(&number[..width]);
        }
        6 => {
            let from = rng.index(other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(other.get(from..).unwrap_or_default());
        }
        _ => {
            let part: Vec<u8> = (0..rng.below(16)).map(|_| rng.bits() as u8).collect();
            bytes.splice(at..at, part);
        }
    }
}
