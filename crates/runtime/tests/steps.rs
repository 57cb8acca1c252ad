//! A signal at each instruction of the runtime: no event is lost, torn, or written twice.

use crate::reader::{Event, kind};
use crate::run::{compile, recorded};

const STEPS: u64 = 300;

#[test]
fn a_signal_may_come_at_any_instruction() {
    let program = compile("steps.c", "gcc", &["-O1"]);
    // Every second or so a thread writes the whole time, with signals blocked. A step in there ends
    // the program: it is a rule of the kernel, and no mistake.
    let mut runs = (0..5).map(|_| recorded(&program, &[], &[]));
    let run = runs.find(|run| ![-5, 128 + 5].contains(&run.status)).expect("a run to its end");
    assert_eq!(run.status, 6, "{}", run.output);
    let words: Vec<&str> = run.output.split_whitespace().collect();
    let address = |word: &str| u64::from_str_radix(&word[2..], 16).expect("an address");
    let (written, marked) = (address(words[0]), address(words[1]));
    assert_eq!(words[2], "300", "each atomic operation is done once");
    assert_eq!(words[3], "0", "all calls have returned");
    let recording = &run.recordings[0];
    let main = &recording.events[&0];
    let writes = |address: u64| {
        let is_it = |event: &&Event| event.kind == kind::WRITE && event.address == address;
        main.iter().filter(is_it).count()
    };
    let mut interrupted = 0;
    for step in 0..STEPS {
        assert_eq!(writes(written + 64 * step), 1, "step {step}");
        interrupted += writes(marked + 8 * step);
    }
    let count = |kind: u8| recording.count(kind) as u64;
    assert_eq!(count(kind::LOCK), STEPS);
    assert_eq!(count(kind::UNLOCK), STEPS);
    assert_eq!(count(kind::ATOMIC_RMW), STEPS);
    assert_eq!(count(80), interrupted as u64);
    assert_eq!(count(81), interrupted as u64);
    assert!(interrupted > 150, "{interrupted} instructions were interrupted");
    // Each `work` and `mark` has its call and return, in which the depth comes back.
    let mut depth = 0_i64;
    for event in main {
        match event.kind {
            kind::CALL => depth += 1,
            kind::RETURN => depth -= 1,
            _ => {}
        }
        assert!(depth >= 0, "{event:?}");
    }
    assert_eq!(depth, 0);
    let calls = count(kind::CALL);
    assert!((STEPS..=STEPS + 3 * interrupted as u64).contains(&calls), "{calls}");
}
