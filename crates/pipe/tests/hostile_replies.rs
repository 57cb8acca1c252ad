//! Malicious replies: none causes a panic, and the system stays usable after all of them.

use anyorder_common::random::{Random, Rng};
use anyorder_pipe::{PipeOptions, PipeSystem, Received, Transport};
use anyorder_system::{Choice, RunError, TaskName, TaskSystem};
use std::collections::VecDeque;
use std::time::Duration;

/// A connection in memory; the other end corrupts some replies.
struct Hostile {
    random: Rng,
    /// One reply in this many is corrupted.
    spoils: usize,
    replies: VecDeque<Received>,
}

impl Transport for Hostile {
    fn send(&mut self, line: Vec<u8>) {
        let request = String::from_utf8(line).expect("requests are UTF-8");
        let reply = good_reply(&request, &mut self.random);
        if self.random.index(self.spoils) > 0 {
            self.replies.push_back(Received::Line(reply.into_bytes()));
            return;
        }
        match self.random.index(9) {
            0 => self.replies.push_back(Received::TooLong),
            1 => self.replies.push_back(Received::Closed),
            2 => {
                let other = self.random.index(9);
                let bytes = format!(r#"{{"id":{other},"ok":{{}}}}"#).into_bytes();
                self.replies.push_back(Received::Line(bytes));
            }
            3 => {
                let length = self.random.index(60);
                let bytes = (0..length).map(|_| self.random.bits() as u8).collect();
                self.replies.push_back(Received::Line(bytes));
            }
            _ => {
                let bytes = mutated(reply.into_bytes(), &mut self.random);
                self.replies.push_back(Received::Line(bytes));
            }
        }
    }

    fn receive(&mut self, _timeout: Duration) -> Received {
        self.replies.pop_front().unwrap_or(Received::Closed)
    }

    fn end(&mut self, _patience: Duration) -> String {
        String::new()
    }
}

const KINDS: [&str; 6] = ["crashed", "unstable", "timed_out", "unsupported", "diverged", "odd"];

/// A well-formed reply, not always meaningful.
fn good_reply(request: &str, random: &mut Rng) -> String {
    let id = request.trim_start_matches("{\"id\":").split(',').next().expect("an id");
    let name = ["a", "a/b@c#1", "%2F", "a#0", "a/b/c/d", "//", "a#x", "%", "a#4294967295"];
    let number =
        ["0", "1", "-1", "1.5", "18446744073709551615", "1e400", "null", "\"x\"", "true", "[]"];
    let word = ["read", "write", "rmw", "heap", "output", "bookkeeping", "none"];
    let ok = if request.contains("\"op\":\"hello\"") {
        // A program that keeps its name, so that restarts succeed.
        let capabilities =
            r#"{"enabled":"exact","deterministic":true,"values":true,"accesses":"list"}"#;
        format!(r#"{{"version":1,"program":{{"name":"x"}},"capabilities":{capabilities}}}"#)
    } else if request.contains("\"op\":\"enabled\"") {
        let alternatives = random.pick(&["0", "1", "2", "4294967296"]);
        let (a, b) = (random.pick(&name), random.pick(&name));
        let role = random.pick(&["task", "input", "timer"]);
        format!(
            r#"{{"tasks":[{{"task":"{a}"}},{{"task":"{b}","handler":"h","alternatives":{alternatives},"role":"{role}"}}]}}"#
        )
    } else if request.contains("\"op\":\"execute\"") {
        let location =
            random.pick(&["\"x\"", "\"\"", "{\"task\":\"a/b\"}", "{\"task\":\"\"}", "7"]);
        let site = random.pick(&[
            "\"s\"",
            "{\"file\":\"f\",\"line\":3}",
            "{\"file\":\"f\",\"line\":-3}",
            "null",
        ]);
        let (kind, read, written) =
            (random.pick(&word), random.pick(&number), random.pick(&number));
        let (posted, cancelled) = (random.pick(&name), random.pick(&name));
        format!(
            r#"{{"accesses":[{{"location":{location},"kind":"{kind}","read":{read},"written":{written},"site":{site}}}],"posted":[{{"task":"{posted}","handler":"h","delay":{}}}],"cancelled":["{cancelled}"],"failures":["f"]}}"#,
            random.pick(&number)
        )
    } else if request.contains("\"op\":\"observe\"") {
        let level = random.pick(&word);
        format!(
            r#"{{"parts":[{{"path":["a","b"],"level":"{level}","content":"c"}},{{"path":[],"level":"heap"}}]}}"#
        )
    } else {
        "{}".to_owned()
    };
    match random.index(12) {
        0 => format!(
            r#"{{"id":{id},"error":{{"kind":"diverged","enabled":["{}"]}}}}"#,
            random.pick(&name)
        ),
        1 if !request.contains("hello") => {
            format!(r#"{{"id":{id},"error":{{"kind":"{}"}}}}"#, random.pick(&KINDS))
        }
        _ => format!(r#"{{"id":{id},"ok":{ok},"unknown":[{{"deep":null}}]}}"#),
    }
}

fn mutated(mut bytes: Vec<u8>, random: &mut Rng) -> Vec<u8> {
    const TOKENS: [&str; 12] =
        ["{", "}", "[", "]", "\"", ",", ":", "null", "-", "1e999", "\\ud800", "\u{0}"];
    for _ in 0..1 + random.index(4) {
        let at = random.index(bytes.len().max(1)).min(bytes.len());
        match random.index(5) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << random.index(8),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => {
                let token = random.pick(&TOKENS).repeat(1 + random.index(40));
                bytes.splice(at..at, token.into_bytes());
            }
            _ => {
                let end = (at + random.index(30)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

fn hostile(seed: u64, spoils: usize) -> Result<PipeSystem, RunError> {
    let connect = move |start: u64| -> Result<Box<dyn Transport>, RunError> {
        let seed = (seed ^ (start << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Ok(Box::new(Hostile { random: Rng::new(seed), spoils, replies: VecDeque::new() }))
    };
    PipeSystem::over(Box::new(connect), PipeOptions::default())
}

#[derive(Default, Debug)]
struct Count {
    answers: u32,
    crashed: u32,
    unstable: u32,
    timed_out: u32,
    unsupported: u32,
    diverged: u32,
    no_start: u32,
    resets: u32,
}

impl Count {
    fn note<T>(&mut self, result: Result<T, RunError>) {
        match result {
            Ok(_) => self.answers += 1,
            Err(RunError::Crashed(text)) => {
                assert!(text.len() < 1_000, "a message must not be as long as the line: {text}");
                self.crashed += 1;
            }
            Err(RunError::Unstable(_)) => self.unstable += 1,
            Err(RunError::Diverged(_)) => self.diverged += 1,
            Err(RunError::TimedOut(_)) => self.timed_out += 1,
            Err(RunError::Unsupported(_)) => self.unsupported += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn spoiled_replies_never_panic_and_resets_help() {
    let mut count = Count::default();
    for seed in 1..=400 {
        let Ok(mut system) = hostile(seed, 3) else {
            count.no_start += 1;
            continue;
        };
        let mut random = Rng::new(seed);
        for _ in 0..60 {
            let choice = Choice::of(TaskName::root("a"));
            match random.index(3) {
                0 => count.note(system.enabled().map(drop)),
                1 => count.note(system.execute(&choice).map(drop)),
                _ => count.note(system.observe().map(drop)),
            }
            if random.index(2) == 0 && system.reset().is_ok() {
                count.resets += 1;
            }
        }
    }
    println!("seeds 1 to 400: {count:?}");
    let Count { answers, crashed, unstable, timed_out, unsupported, diverged, no_start, resets } =
        count;
    for (what, times) in [
        ("answers", answers),
        ("crashes", crashed),
        ("unstable", unstable),
        ("time-outs", timed_out),
        ("unsupported", unsupported),
        ("divergences", diverged),
        ("failed starts", no_start),
        ("resets", resets),
    ] {
        assert!(times >= 20, "{what}: only {times}");
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut refused = 0;
    for seed in 1..=2_000_u64 {
        let connect = move |_| -> Result<Box<dyn Transport>, RunError> {
            let mut random = Rng::new(seed);
            let alphabet: &[u8] = b"{}[]\",:0123456789.eE+-truefalsnidok \\u\xff\x00";
            let length = random.index(200);
            let bytes = (0..length).map(|_| alphabet[random.index(alphabet.len())]).collect();
            let replies = VecDeque::from([Received::Line(bytes)]);
            Ok(Box::new(Fixed(replies)))
        };
        refused += u32::from(PipeSystem::over(Box::new(connect), PipeOptions::default()).is_err());
    }
    assert_eq!(refused, 2_000, "no random text is a hello");
}

/// Sends fixed replies whatever the requests are.
struct Fixed(VecDeque<Received>);

impl Transport for Fixed {
    fn send(&mut self, _line: Vec<u8>) {}

    fn receive(&mut self, _timeout: Duration) -> Received {
        self.0.pop_front().unwrap_or(Received::Closed)
    }

    fn end(&mut self, _patience: Duration) -> String {
        String::new()
    }
}
