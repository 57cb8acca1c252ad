//! The text of an execution runs it again in every build, or says where it no longer fits.

use crate::failing::ALL;
use anyorder::sync::atomic::{AtomicUsize, Ordering};
use anyorder::sync::{Arc, Mutex};
use anyorder::{Builder, Failure, Replayed, Schedule, Summary, thread};
use anyorder_common::random::{Random, Rng};
use std::process::Command;

fn replay(text: &str, f: impl Fn() + Send + Sync + 'static) -> Summary {
    Builder::new().replay(text).explore(f)
}

/// The program in another build: what it allocates and what ran before are others, what its threads
/// do to shared objects is the same.
fn rebuilt(f: fn()) -> impl Fn() + Send + Sync + 'static {
    move || {
        let more = vec![1_u8; 1000];
        f();
        drop(more);
    }
}

#[test]
fn each_failure_comes_again_in_another_build() {
    let mut classes = std::collections::BTreeSet::new();
    for kind in ALL {
        let summary = Builder::new().explore(kind.wrong);
        assert!(!summary.failures.is_empty(), "{}", kind.name);
        for failure in &summary.failures {
            assert!(failure.is_confirmed, "{}:\n{summary}", kind.name);
            classes.insert(failure.class());
            let again = replay(&failure.replay(), rebuilt(kind.wrong));
            assert_eq!(again.replayed, Some(Replayed::Same), "{}:\n{again}", kind.name);
            assert_eq!(again.executions, 1);
            let same = |other: &&Failure| other.class() == failure.class();
            let same = again.failures.iter().find(same).expect("the same class");
            assert_eq!(same.replay(), failure.replay(), "{}", kind.name);
        }
    }
    let expected = ["data race", "deadlock", "leak", "livelock", "panic"];
    assert_eq!(Vec::from_iter(classes), expected);
}

/// Threads are counted as they are spawned in the execution, not as earlier executions met them.
#[test]
fn threads_are_those_of_the_execution_alone() {
    let program = || {
        let count = Arc::new(AtomicUsize::new(0));
        let spawn = |number: usize| {
            let count = Arc::clone(&count);
            thread::spawn(move || count.fetch_add(number, Ordering::SeqCst))
        };
        // The thread that fails is the first one, the second one, or there is none.
        let threads: Vec<_> = match anyorder::choose(3) {
            0 => vec![],
            1 => vec![spawn(1)],
            _ => vec![spawn(2), spawn(7)],
        };
        for thread in threads {
            assert_ne!(thread.join().unwrap(), 7, "seven was first");
        }
    };
    let summary = Builder::new().explore(program);
    assert_eq!(summary.failures.len(), 1, "{summary}");
    let text = summary.failures[0].replay();
    let again = replay(&text, program);
    assert_eq!(again.replayed, Some(Replayed::Same), "{text}\n{again}");
}

fn two(first: fn(&AtomicUsize), second: fn(&AtomicUsize)) {
    let count = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&count);
    let thread = thread::spawn(move || first(&other));
    second(&count);
    thread.join().unwrap();
}

/// What a summary says of a text that does not fit.
fn misfit(text: &str, f: fn()) -> String {
    let summary = replay(text, f);
    assert!(matches!(summary.replayed, Some(Replayed::Misfit(_))), "{text}: {summary}");
    assert!(!summary.is_ok());
    summary.to_string()
}

#[test]
fn a_text_that_no_longer_fits_says_where() {
    let f: fn() = || two(|count| assert_eq!(count.load(Ordering::SeqCst), 0), |_| ());
    let cases = [
        (
            "1:a2SbW",
            "after 2 operations, at `bW`, expected thread 1 (`b`) to store to an atomic, \
          but it is about to load an atomic",
        ),
        ("1:a2ScL", "at `cL`, expected thread 2 (`c`) to load an atomic, but only 1 were spawned"),
        ("1:a3J", "at `a3J`, expected the main thread (`a`) to join a thread, but it has to wait"),
        ("1:a2SbL1", "there is no way 1 to do that"),
        ("1:a2Sb9L", "it has ended"),
        ("1:bL", "after 0 operations"),
    ];
    for (text, expected) in cases {
        let told = misfit(text, f);
        assert!(told.contains(expected), "{text}:\n{told}");
        assert!(told.contains("is about to"), "{text}:\n{told}");
    }
}

#[test]
fn a_repaired_program_passes_and_another_failure_is_told_apart() {
    let text = Builder::new().explore(|| assert_eq!(anyorder::choose(3), 0)).failures[0].replay();
    let passed = replay(&text, || assert!(anyorder::choose(3) < 3));
    assert!(passed.replayed == Some(Replayed::Passed) && passed.is_ok(), "{passed}");
    // A repair may have further operations where the panic was.
    let moved = || assert!(thread::spawn(|| anyorder::choose(3)).join().unwrap() < 3);
    let other = replay(&text, moved);
    assert!(matches!(other.replayed, Some(Replayed::Misfit(_))), "{other}");
    let longer = || {
        let number = anyorder::choose(3);
        thread::spawn(move || assert!(number < 3)).join().unwrap();
    };
    let passed = replay(&text, longer);
    assert!(passed.replayed == Some(Replayed::Passed) && passed.is_ok(), "{passed}");
    let other = replay(&text, || assert!(anyorder::choose(3) == 7, "never"));
    assert!(other.replayed == Some(Replayed::Otherwise) && !other.is_ok(), "{other}");
    assert!(other.to_string().contains("in another way than before"), "{other}");
}

/// Texts of the grammar.
fn text(rng: &mut Rng) -> String {
    let mut text = String::from("1:");
    for _ in 0..rng.index(12) {
        for _ in 0..1 + rng.index(2) {
            text.push(char::from(b'a' + rng.index(4) as u8));
        }
        if rng.index(2) == 0 {
            text += &(2 + rng.index(300)).to_string();
        }
        text.push(char::from(b'A' + rng.index(26) as u8));
        if rng.index(4) == 0 {
            text += &(1 + rng.index(5)).to_string();
        }
    }
    if rng.index(2) == 0 {
        text +=
            &format!(".{}{:04x}", ["p", "d", "l", "r", "k", "e"][rng.index(6)], rng.index(65536));
    }
    text
}

#[test]
fn texts_are_read_as_they_are_written() {
    for seed in anyorder_testkit::effort::seeds(2_000) {
        let text = text(&mut Rng::new(seed));
        let schedule: Schedule = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(schedule.to_string(), text, "seed {seed}");
    }
}

#[test]
fn errors_have_a_place_and_say_what_was_expected() {
    let cases = [
        ("", 0, "version"),
        ("2:aL", 0, "version"),
        ("1:a", 3, "letter of an operation"),
        ("1:5L", 2, "a thread"),
        ("1:aL0", 4, "a number"),
        ("1:a99999999999L", 3, "a number"),
        ("1:aLé", 4, "a thread"),
        ("1:aL.", 5, "letter of a failure"),
        ("1:aL.p12", 6, "hexadecimal"),
        ("1:aL.p12345", 6, "hexadecimal"),
        ("1:aL.p1234x", 10, "end"),
        ("1:zzzzzzzzzL", 2, "a thread"),
    ];
    for (text, at, expected) in cases {
        let error = text.parse::<Schedule>().expect_err(text);
        assert!(error.at == at && error.expected.contains(expected), "{text}: {error:?}");
        let summary = replay(text, || ());
        assert!(matches!(summary.replayed, Some(Replayed::Invalid(_))) && !summary.is_ok());
        assert!(summary.to_string().contains(expected), "{summary}");
    }
}

/// Texts that were changed at random: each verdict is reached, and none is a panic of ours.
#[test]
fn any_text_has_a_verdict() {
    let mut seen = [0_u32; 5];
    let program = || {
        two(
            |count| assert!(count.fetch_add(1, Ordering::SeqCst) < 5),
            |count| {
                assert!(count.load(Ordering::SeqCst) + anyorder::choose(2) as usize != 2, "two")
            },
        );
    };
    let good = Builder::new().explore(program).failures[0].replay();
    for seed in anyorder_testkit::effort::seeds(3_000) {
        let mut rng = Rng::new(seed);
        let mut bytes = if rng.index(4) == 0 { text(&mut rng) } else { good.clone() }.into_bytes();
        for _ in 0..rng.index(4) {
            let at = rng.index(bytes.len());
            match rng.index(3) {
                0 => bytes[at] = b"abLSIUX1239.:~\xff"[rng.index(15)],
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"abLSIUX12.p"[rng.index(11)]),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let summary = Builder::new().steps_max(100).replay(&text).explore(program);
        let replayed = summary.replayed.clone().expect("a verdict");
        seen[match replayed {
            Replayed::Same => 0,
            Replayed::Otherwise => 1,
            Replayed::Passed => 2,
            Replayed::Misfit(misfit) => {
                assert!(misfit.fitted <= 100);
                3
            }
            Replayed::Invalid(error) => {
                assert!(error.at <= text.len());
                4
            }
        }] += 1;
        assert!(!summary.to_string().is_empty(), "seed {seed}");
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

/// Fails if it runs as a child of the test below.
#[test]
fn fails_as_a_child() {
    if std::env::var_os("ANYORDER_TEST_CHILD").is_none() {
        return;
    }
    anyorder::check(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = Arc::clone(&locks);
        let thread = thread::spawn(move || {
            let _second = other.1.lock().unwrap();
            let _first = other.0.lock().unwrap();
        });
        let first = locks.0.lock().unwrap();
        let second = locks.1.lock().unwrap();
        drop((first, second));
        thread.join().unwrap();
    });
}

fn child(replay: Option<&str>) -> String {
    let own = std::env::current_exe().expect("the test itself");
    let mut command = Command::new(own);
    command.args(["--exact", "replay::fails_as_a_child"]).env("ANYORDER_TEST_CHILD", "1");
    command.env_remove("ANYORDER_REPLAY").envs(replay.map(|text| ("ANYORDER_REPLAY", text)));
    let output = command.output().expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).expect("a text")
}

/// The line to paste is the last one of a failure; with it the test fails in the same way.
#[test]
fn the_variable_runs_one_execution() {
    let first = child(None);
    let line = first.lines().find(|line| line.starts_with("to replay: ")).expect("the line");
    assert!(line.ends_with("cargo test replay::fails_as_a_child"), "{line}");
    let text = line.split('\'').nth(1).expect("the text");
    let again = child(Some(text));
    assert!(again.contains("replay: it failed again, in the same way"), "{again}");
    assert!(again.contains("deadlock: main and thread 1 wait for each other"), "{again}");
    let passed = child(Some("1:a3M"));
    assert!(passed.contains("replay: this execution does not fail"), "{passed}");
    assert!(passed.contains("1 passed"), "{passed}");
    let wrong = child(Some("1:a2Q"));
    assert!(wrong.contains("the string no longer fits this program"), "{wrong}");
    let invalid = child(Some("nonsense"));
    assert!(invalid.contains("a replay string has \"nonsense\" at byte 0"), "{invalid}");
}
