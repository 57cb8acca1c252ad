//! Mutations of native binary files inside their compressed blocks.

use super::bytes;
use crate::repair::{join, split};
use anyorder_common::random::{Random as _, Rng};

/// Changes the contents, the head or the order of blocks. The checksums are right afterwards.
pub(super) fn change(rng: &mut Rng, file: &mut Vec<u8>) {
    let mut blocks = split(file);
    if blocks.is_empty() {
        return bytes::change(rng, file, &[]);
    }
    let at = rng.index(blocks.len());
    match rng.below(10) {
        0..=5 => {
            if let Some(mut contents) = blocks[at].contents() {
                for _ in 0..1 + rng.below(3) {
                    bytes::change(rng, &mut contents, &[]);
                }
                blocks[at].set_contents(&contents);
            }
        }
        6 => {
            let block = &mut blocks[at];
            match rng.below(4) {
                0 => block.kind = rng.below(5) as u8,
                1 => block.events = rng.pick(&[0, 1, 2, 65_535, 65_536, 65_537, u32::MAX]),
                2 => block.first = rng.pick(&[0, 1, u64::from(u32::MAX), u64::MAX]),
                _ => block.unpacked = rng.pick(&[0, 1, 1 << 20, 64 << 20, u32::MAX]),
            }
        }
        7 => drop(blocks.remove(at)),
        8 => {
            let block = blocks[at].clone();
            let times = 1 << rng.below(11);
            blocks.splice(at..at, std::iter::repeat_n(block, times));
        }
        _ => {
            // Contents of zeros pack to nothing and unpack to much.
            let size = 1 << rng.within(4, 21);
            blocks[at].set_contents(&vec![rng.pick(&[0, 1, 0xff]); size]);
        }
    }
    *file = join(&blocks);
}
