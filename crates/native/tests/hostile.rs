//! Recordings with wrong bytes: an error or a part, and never more.

use crate::simulated::run;
use crate::synthetic::{MAPS, Writer};
use anyorder_common::random::{Random, Rng};
use anyorder_native::recording::{BadRecording, CHUNK_BYTES, Modules, Recording};
use anyorder_native::{NoNames, Options, to_trace};
use anyorder_testkit::effort::sampled;
use anyorder_trace::wellformed;

fn file(seed: u64) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.packs = seed.is_multiple_of(2);
    run(seed, 500).into_iter().for_each(|(thread, event)| writer.push(thread, event));
    writer.bytes()
}

#[test]
fn any_change_of_a_recording_gives_an_error_or_a_well_formed_trace() {
    let (mut errors, mut traces, mut odd, mut unknown) = (0, 0, 0, 0);
    for seed in sampled(1_000, 10_000) {
        let mut rng = Rng::new(seed);
        let mut bytes = file(seed % 7);
        for _ in 0..1 + rng.below(40) {
            let used = 64 + rng.below(1500) as usize;
            let chunk = rng.index(bytes.len() / CHUNK_BYTES) * CHUNK_BYTES;
            let at = chunk + rng.below(used as u64) as usize;
            match rng.below(4) {
                0 => bytes[at] ^= 1 << rng.below(8),
                1 => bytes[at] = rng.below(256) as u8,
                2 => bytes[at & !7..(at & !7) + 8].copy_from_slice(&rng.bits().to_le_bytes()),
                _ => bytes[at & !7..(at & !7) + 8].fill(0xff),
            }
        }
        if rng.percent(20) {
            bytes.truncate(rng.index(bytes.len()));
        }
        let Ok(recording) = Recording::read(&bytes[..], MAPS.as_bytes(), 1 << 24) else {
            errors += 1;
            continue;
        };
        let traced = to_trace(&recording, &mut NoNames, &Options::default(), &mut || true);
        let traced = traced.expect("small tables");
        let problems = wellformed::check(&traced.trace);
        assert_eq!(problems.errors_total, 0, "seed {seed}: {problems:?}");
        traces += 1;
        odd += u64::from(traced.stats.odd > 0);
        unknown += u64::from(traced.stats.unknown + traced.stats.unreadable > 0);
    }
    println!("{errors} errors, {traces} traces, {odd} odd, {unknown} unknown");
    assert!(errors > 10 && traces > 100 && odd > 10 && unknown > 20);
}

#[test]
fn what_is_no_recording_says_so() {
    let read = |bytes: &[u8]| Recording::read(bytes, b"", u64::MAX).map(|_| ());
    assert!(matches!(read(b""), Err(BadRecording::NotARecording)));
    assert!(matches!(read(b"ANYOREC"), Err(BadRecording::NotARecording)));
    assert!(matches!(read(b"ANYOREC\n"), Err(BadRecording::Version(0))));
    let mut bytes = file(1);
    bytes[12] = 1;
    assert!(matches!(read(&bytes), Err(BadRecording::ChunkSize(_))));
    bytes = file(1);
    bytes[8] = 3;
    assert!(matches!(read(&bytes), Err(BadRecording::Version(3))));
}

#[test]
fn sizes_in_the_file_are_not_believed() {
    let mut bytes = file(1);
    bytes[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
    let recording = Recording::read(&bytes[..], b"", u64::MAX).expect("the chunks that are there");
    assert_eq!(recording.size() as usize, bytes.len() - CHUNK_BYTES);
    assert!(recording.damage.chunks_missing > 1 << 40);
    let cut = Recording::read(&bytes[..], b"", CHUNK_BYTES as u64).expect("one chunk");
    assert_eq!(cut.size() as usize, CHUNK_BYTES);
}

#[test]
fn maps_may_be_any_text() {
    let mut rng = Rng::new(3);
    for _ in 0..2_000 {
        let mut text = MAPS.as_bytes().to_vec();
        for _ in 0..rng.below(8) {
            let at = rng.index(text.len());
            text[at] = rng.pick(b"0f- /\n\xff:x(");
        }
        let modules = Modules::parse(&text);
        let _ = modules.complete(0x1005).count();
        let _ = modules.find(0x5555_0000_1005);
    }
    let modules = Modules::parse(MAPS.as_bytes());
    assert_eq!(modules.complete(0x1005).collect::<Vec<_>>(), [0x5555_0000_1005]);
    assert_eq!(modules.complete(0xf005).count(), 0);
    let path = |address| modules.find(address).map(|piece| piece.path.as_str());
    assert_eq!(path(0x5555_0000_1005), Some("/none/prog"));
    assert_eq!(path(0x5555_0000_9000), None);
}
