//! Mutations of one input, with knowledge of its structure.

use crate::kind::Kind;
use crate::repair;
use anyorder_common::random::{Random as _, Rng};

mod blocks;
mod bytes;
mod grow;
mod json;
mod lines;

/// The bytes that a mutant may have. Larger ones are cut, so that a run stays short.
pub const BYTES_MAX: usize = 4 << 20;

/// Returns a mutant of `seed`. `other` is a second input of the same kind, for splices.
///
/// Checksums are right again in nine of ten mutants of formats that have them.
pub fn mutant(rng: &mut Rng, kind: Kind, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    // Gentle mutants get past the readers; wild ones test the readers.
    let gentle = rng.percent(60);
    for _ in 0..1 + rng.below(4) * rng.below(2) {
        if gentle && !kind.is_binary() {
            lines::gentle(rng, &mut bytes);
        } else {
            step(rng, kind, &mut bytes, other);
        }
        bytes.truncate(BYTES_MAX);
    }
    if rng.percent(90) {
        repair::repair(kind, &mut bytes);
    }
    bytes
}

fn step(rng: &mut Rng, kind: Kind, bytes: &mut Vec<u8>, other: &[u8]) {
    if kind == Kind::Binary && rng.percent(70) {
        return blocks::change(rng, bytes);
    }
    if kind.is_binary() {
        return bytes::change(rng, bytes, other);
    }
    if kind.is_json() && rng.percent(60) && json::change(rng, bytes) {
        return;
    }
    match rng.below(10) {
        0 | 1 => bytes::change(rng, bytes, other),
        2 => grow::change(rng, kind, bytes),
        3..=5 => lines::change(rng, bytes, other),
        _ => lines::tokens(rng, kind, bytes),
    }
}
