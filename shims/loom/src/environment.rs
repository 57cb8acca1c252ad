//! The variables of loom: which are obeyed, and which are reported.

use std::env;
use std::io::{self, Write};
use std::str::FromStr;
use std::sync::Once;

/// Variables that have no effect, and what happens instead.
const IGNORED: [(&str, &str); 5] = [
    (
        "LOOM_MAX_PREEMPTIONS",
        "every number of preemptions is explored, unless ANYORDER_PREEMPTIONS bounds it",
    ),
    ("LOOM_MAX_BRANCHES", "an execution may have 100,000 operations"),
    ("LOOM_CHECKPOINT_FILE", "nothing is saved"),
    ("LOOM_CHECKPOINT_INTERVAL", "nothing is saved"),
    ("LOOM_LOCATION", "failures always have positions"),
];

/// Says something on standard error, also in a test whose output is captured.
pub(crate) fn say(text: &str) {
    // Nobody reads it if it cannot be written.
    let _ = writeln!(io::stderr(), "anyorder: {text}");
}

pub(crate) fn is_set(name: &str) -> bool {
    env::var_os(name).is_some()
}

/// Returns the number in a variable, if it is set.
///
/// # Panics
///
/// If it is no number.
pub(crate) fn number<T: FromStr>(name: &str) -> Option<T> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("invalid value for `{name}`: `{text}`")))
}

/// Reports the variables that have no effect, once.
pub(crate) fn report_ignored() {
    static REPORTED: Once = Once::new();
    REPORTED.call_once(|| {
        for (name, instead) in IGNORED {
            if is_set(name) {
                say(&format!("{name} is not used: {instead}"));
            }
        }
    });
}
