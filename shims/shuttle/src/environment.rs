//! The variables of shuttle, which have no effect.

use std::env;
use std::io::{self, Write};
use std::str::FromStr;
use std::sync::Once;

/// Variables that have no effect, and what happens instead.
const IGNORED: [(&str, &str); 4] = [
    ("SHUTTLE_RANDOM_SEED", "every execution is explored"),
    ("SHUTTLE_ALWAYS_PERSIST_SEED", "every execution is explored"),
    ("SHUTTLE_CAPTURE_BACKTRACE", "failures have the positions of all operations"),
    ("SHUTTLE_ANNOTATION_FILE", "no annotations are written"),
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
