//! The process in which a check runs: its variables, the name of the test, and words to the user.

use super::engine::Engine;
use super::weak::Memory;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _, Write as _};
use std::thread;
use std::time::Duration;

/// Returns a variable that is not empty.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the memory that the variable `ANYORDER_MEMORY` asks for.
///
/// # Panics
///
/// If there is none of that name.
pub(super) fn memory() -> Memory {
    match variable("ANYORDER_MEMORY").as_deref() {
        None | Some("sequential") => Memory::Sequential,
        Some("rc11") => Memory::Rc11,
        Some(other) => panic!("ANYORDER_MEMORY is {other:?}, expected \"sequential\" or \"rc11\""),
    }
}

/// Returns the engine that the variable `ANYORDER_ENGINE` asks for.
///
/// # Panics
///
/// If there is none of that name.
pub(super) fn engine() -> Engine {
    let Some(name) = variable("ANYORDER_ENGINE") else { return Engine::default() };
    match Engine::of_name(&name) {
        Some(engine) => engine,
        None => panic!(
            "ANYORDER_ENGINE is {name:?}, expected \"learning\", \"optimal\" or \"reads-from\""
        ),
    }
}

/// Returns the bound of preemptions that the variable `ANYORDER_PREEMPTIONS` asks for.
///
/// # Panics
///
/// If it is no number.
pub(super) fn preemptions() -> Option<u32> {
    number("ANYORDER_PREEMPTIONS")
}

/// Returns the most turns in vain of a loop that the variable `ANYORDER_TURNS` asks for.
///
/// # Panics
///
/// If it is no number.
pub(super) fn turns() -> Option<u32> {
    number("ANYORDER_TURNS")
}

/// Returns the cores that the variable `ANYORDER_CORES` asks for.
///
/// # Panics
///
/// If it is no number.
pub(super) fn cores() -> Option<usize> {
    number("ANYORDER_CORES").map(|cores| cores as usize)
}

/// Returns the most time that the variable `ANYORDER_TIME_MAX` allows a check, in seconds.
///
/// # Panics
///
/// If it is no number.
pub(super) fn time_max() -> Option<Duration> {
    number("ANYORDER_TIME_MAX").map(|seconds| Duration::from_secs(seconds.into()))
}

/// Adds a line for a check that a limit cut to the file that the variable `ANYORDER_INCOMPLETE`
/// names, if it does.
pub(super) fn note_incomplete(line: &str) {
    let Some(file) = variable("ANYORDER_INCOMPLETE") else { return };
    // Tests run side by side, and in several processes: each line is one write. Without the file
    // the check still says itself that it was cut.
    if let Ok(mut file) = OpenOptions::new().append(true).open(file) {
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}

/// The time after which a check says on a terminal that it is not done.
const SILENCE: Duration = Duration::from_secs(5);

/// Returns how long a check says nothing, first: what the variable `ANYORDER_PROGRESS` asks for in
/// seconds, or some time on a terminal. `None` if it never says anything, as for 0.
///
/// # Panics
///
/// If the variable is no number.
pub(super) fn silence() -> Option<Duration> {
    match number("ANYORDER_PROGRESS") {
        Some(seconds) => (seconds > 0).then(|| Duration::from_secs(seconds.into())),
        None => io::stderr().is_terminal().then_some(SILENCE),
    }
}

fn number(name: &str) -> Option<u32> {
    let text = variable(name)?;
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => panic!("{name} is {text:?}, expected a number"),
    }
}

/// Returns the name of the test that runs: that of the thread, as the test harness sets it.
pub(super) fn test_name() -> Option<String> {
    let name = thread::current().name()?.to_owned();
    let is_path = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
    (name != "main" && is_path).then_some(name)
}

/// Tells the user something, even if the harness keeps what a passing test prints.
pub(super) fn tell(text: &str) {
    // Without an output there is nobody to tell.
    let _ = writeln!(io::stderr(), "{}", text.trim_end());
}
