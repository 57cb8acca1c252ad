//! Packed events: what the runtime packs is what the reader unpacks.

use crate::synthetic::{MAPS, Writer};
use anyorder_common::random::{Random, Rng};
use anyorder_native::recording::words;
use anyorder_native::recording::{Event, Recording};
use anyorder_testkit::effort::sampled;

#[allow(dead_code, reason = "the runtime's own file, which the runtime uses as a whole")]
#[path = "../../runtime/src/pack.rs"]
mod pack;
#[path = "../src/recording/unpack.rs"]
mod unpack;

use pack::{PACKED_ROOM, Packer};
use unpack::{Input, Unpacker};

/// The words of events that a chunk has room for.
const WORDS: usize = 8184;

/// A thread that runs in loops: places, each with its kind and the step of its address.
struct Thread {
    rng: Rng,
    /// The first word without the address, the code address, the address, its step.
    places: Vec<[u64; 4]>,
    time: u64,
    at: usize,
    /// How many of a hundred events go somewhere else.
    wild: u32,
}

const KINDS: [u8; 20] =
    [2, 3, 4, 8, 8, 9, 9, 10, 12, 16, 18, 24, 25, 32, 33, 40, 57, 140, 170, 200];

impl Thread {
    fn new(seed: u64) -> Thread {
        let mut rng = Rng::new(seed);
        let most = [4, 30, 400, 3000][rng.index(4)];
        let count = 1 + rng.index(most);
        let place = |rng: &mut Rng| {
            let kind = u64::from(KINDS[rng.index(KINDS.len())]);
            let step = [0, 4, 8, u64::MAX - 63, 1 << 40][rng.index(5)];
            [kind << 48 | rng.below(256) << 56, rng.bits() & 0xffff_ffff, rng.bits() >> 17, step]
        };
        let places = (0..count).map(|_| place(&mut rng)).collect();
        let wild = [0, 1, 10, 100][rng.index(4)];
        Thread { rng, places, time: seed << 20, at: 0, wild }
    }

    /// Adds an event.
    fn push(&mut self, to: &mut Vec<u64>) {
        let rng = &mut self.rng;
        if rng.percent(self.wild) {
            self.at = rng.index(self.places.len());
        }
        self.at = (self.at + 1) % self.places.len();
        let [head, pc, address, step] = &mut self.places[self.at];
        *address = address.wrapping_add(*step);
        if rng.percent(self.wild) {
            *address = rng.bits() >> [16, 40, 60][rng.index(3)];
        }
        if rng.percent(self.wild.max(5)) {
            let most = [100, 1 << 20, 1 << 34][rng.index(3)];
            self.time += rng.below(most);
        }
        let length = words((*head >> 48) as u8).expect("a length");
        to.push(*head | (*address & ((1 << 48) - 1)));
        if length > 1 {
            to.push(*pc | self.time << 32);
        }
        if length > 2 {
            to.push(if self.wild == 0 { 80 } else { rng.bits() >> rng.below(64) });
        }
    }
}

pub(crate) fn packed(packer: &mut Packer, words: &[u64]) -> Option<Vec<u8>> {
    let mut bytes = vec![0_u8; PACKED_ROOM];
    let ends = words.as_ptr_range();
    // SAFETY: these are whole events, and there is as much room as it says.
    let length = unsafe { pack::pack(packer, ends.start, ends.end, bytes.as_mut_ptr() as usize) };
    bytes.truncate(length);
    (length > 0).then_some(bytes)
}

pub(crate) fn new_packer() -> Box<Packer> {
    // SAFETY: all zero is how a packer begins.
    Box::new(unsafe { std::mem::zeroed() })
}

/// Unpacks a piece. Returns its words, and whether it is right.
fn unpacked(unpacker: &mut Unpacker, bytes: &[u8]) -> (Vec<u64>, bool) {
    let (mut input, mut read) = (Input(bytes), Vec::new());
    unpacker.begin(WORDS);
    loop {
        match unpacker.next(&mut input, words) {
            Ok(Some(one)) => {
                read.extend(&[one.first, one.second, one.third][..one.length]);
            }
            end => return (read, end.is_ok()),
        }
    }
}

#[test]
fn what_is_packed_is_unpacked_as_it_was() {
    let (mut pieces, mut whole, mut small, mut changed, mut same) = (0, 0, 0, 0, 0);
    for seed in sampled(300, 20_000) {
        let mut thread = Thread::new(seed);
        let (mut packer, mut unpacker) = (new_packer(), Unpacker::new());
        for _ in 0..4 {
            let mut events = vec![1 << 48, thread.time];
            while events.len() < WORDS - 3 {
                thread.push(&mut events);
            }
            let Some(bytes) = packed(&mut packer, &events) else {
                (packer, unpacker) = (new_packer(), Unpacker::new());
                whole += 1;
                continue;
            };
            let mut other = unpacker.clone();
            assert!(unpacked(&mut unpacker, &bytes) == (events.clone(), true), "seed {seed}");
            pieces += 1;
            small += u64::from(bytes.len() < 8192);
            // Any other bytes give other events, or none, and never more than there is room for.
            let mut wrong = bytes;
            let at = thread.rng.index(wrong.len());
            wrong[at] ^= 1 << thread.rng.below(8);
            let (read, is_right) = unpacked(&mut other, &wrong);
            assert!(read.len() <= WORDS + 2, "seed {seed}");
            *if is_right && read == events { &mut same } else { &mut changed } += 1;
        }
    }
    println!("{pieces} pieces, {small} small, {whole} left whole; {changed} changed, {same} same");
    assert!(pieces > 100 && small > 10 && whole > 10 && changed > 10 * same);
}

#[test]
fn kinds_have_the_same_length_on_both_sides() {
    for kind in 0..=255 {
        if let Some(length) = words(kind) {
            assert_eq!(pack::words(kind), length, "kind {kind}");
        }
    }
}

#[test]
fn a_packed_recording_has_the_same_events() {
    let mut cuts = 0;
    for seed in sampled(6, 200) {
        let mut rng = Rng::new(seed);
        let mut writer = Writer::default();
        let count = 1 + rng.below(40_000);
        for index in 0..count {
            let event = Event {
                kind: [8, 9, 10, 2, 3, 16][rng.index(6)],
                arg: 8,
                address: 0x7f00_0000_0000 + rng.below(9) * 64,
                pc: rng.below(5) as u32,
                time: index << 20,
                third: 1 + rng.below(100),
            };
            writer.push(rng.below(3) as u32, event);
        }
        let plain = writer.recording();
        writer.packs = true;
        let bytes = writer.bytes();
        let packed = Recording::read(&bytes[..], MAPS.as_bytes(), u64::MAX).expect("a recording");
        assert!(packed.damage.is_none(), "seed {seed}: {:?}", packed.damage);
        if count > 20_000 {
            // The limit is one of the events as they are when they are unpacked.
            let limit = plain.size() / 2;
            let cut = Recording::read(&bytes[..], b"", limit).expect("a recording");
            let kept: usize = (0..cut.threads.len()).map(|at| cut.events(at).count()).sum();
            assert!(cut.damage.chunks_missing > 0 && kept < count as usize, "seed {seed}: {kept}");
            cuts += 1;
        }
        assert_eq!(packed.threads.len(), plain.threads.len());
        for thread in 0..plain.threads.len() {
            let mut events = packed.events(thread);
            assert!(events.by_ref().eq(plain.events(thread)), "seed {seed}");
            assert_eq!(events.unreadable(), 0, "seed {seed}");
        }
    }
    assert!(cuts > 0);
}
