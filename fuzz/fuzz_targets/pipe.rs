//! Replies of a child: none makes us panic, wait for ever, or say much.
//!
//! The first line says what we ask, a letter each; every other line is a reply: what stands behind `+` as a good one, behind
//! `-` as an error, both with the id that was asked; `!` a line too long, `?` none in time; anything else as it is.
#![no_main]

use anyorder_pipe::{PipeOptions, PipeSystem, Received, Transport};
use anyorder_system::{Choice, RunError, TaskName, TaskSystem};
use libfuzzer_sys::fuzz_target;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A connection in memory; all starts of the child share its lines.
struct Scripted {
    lines: Arc<Mutex<VecDeque<Vec<u8>>>>,
    id: String,
}

impl Transport for Scripted {
    fn send(&mut self, line: Vec<u8>) {
        let request = String::from_utf8(line).expect("requests are UTF-8");
        let id = request.strip_prefix("{\"id\":").and_then(|rest| rest.split(',').next());
        id.expect("requests have ids").clone_into(&mut self.id);
    }

    fn receive(&mut self, _timeout: Duration) -> Received {
        let line = self.lines.lock().expect("one thread").pop_front();
        let wrapped = |word: &str, rest: &[u8]| {
            let head = format!("{{\"id\":{},\"{word}\":", self.id);
            Received::Line([head.as_bytes(), rest, b"}"].concat())
        };
        match line.as_deref() {
            None => Received::Closed,
            Some([b'+', rest @ ..]) => wrapped("ok", rest),
            Some([b'-', rest @ ..]) => wrapped("error", rest),
            Some(b"!") => Received::TooLong,
            Some(b"?") => Received::Nothing,
            Some(line) => Received::Line(line.to_vec()),
        }
    }

    fn end(&mut self, _patience: Duration) -> String {
        String::new()
    }
}

/// Looks at an error: its message must be short, whatever the child said.
fn told<T>(result: Result<T, RunError>) -> Option<T> {
    result.map_err(|error| assert!(error.to_string().len() < 2_000, "{error}")).ok()
}

fuzz_target!(|data: &[u8]| {
    let mut lines: VecDeque<Vec<u8>> =
        data.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let questions = lines.pop_front().unwrap_or_default();
    let lines = Arc::new(Mutex::new(lines));
    let connect = move |_| -> Result<Box<dyn Transport>, RunError> {
        Ok(Box::new(Scripted { lines: lines.clone(), id: String::new() }))
    };
    let options = PipeOptions {
        start_timeout: Duration::from_millis(1),
        reply_timeout: Duration::from_millis(1),
        ..PipeOptions::default()
    };
    let Some(mut system) = told(PipeSystem::over(Box::new(connect), options)) else { return };
    let mut choice = Choice::of(TaskName::root("a"));
    for question in questions.into_iter().take(40) {
        match question {
            b'e' => {
                let enabled = told(system.enabled());
                if let Some(task) = enabled.and_then(|tasks| tasks.into_iter().next_back()) {
                    choice = Choice::of(task.task);
                }
            }
            b'x' => drop(told(system.execute(&choice))),
            b'o' => drop(told(system.observe())),
            _ => drop(told(system.reset())),
        }
    }
});
