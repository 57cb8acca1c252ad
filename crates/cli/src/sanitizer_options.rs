//! The environment variables `TSAN_OPTIONS` and `ANYORDER_OPTIONS`.
//!
//! The syntax is that of the sanitizers' runtimes: `NAME=VALUE`, separated by blanks, commas,
//! colons or line ends; a value may stand in quotes. Of `TSAN_OPTIONS`, what means the same here is
//! taken, and everything else is for ThreadSanitizer. What stands in `ANYORDER_OPTIONS` must be
//! known, and comes first.

use crate::failure::Usage;
use std::path::{Path, PathBuf};

/// The variables, the one that counts more first.
const OWN: &str = "ANYORDER_OPTIONS";
const TSAN: &str = "TSAN_OPTIONS";

/// What the variables say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct SanitizerOptions {
    /// Files with suppressions.
    pub(crate) suppressions: Vec<PathBuf>,
    /// The exit status where there are findings that count; 0 is that of the program.
    pub(crate) exit_code: Option<u8>,
}

impl SanitizerOptions {
    /// Reads both variables. A file of suppressions that is not in the current folder may be beside
    /// the program.
    ///
    /// # Errors
    ///
    /// Fails for what `ANYORDER_OPTIONS` has and nobody knows, and for a bad number.
    pub(crate) fn read(program: &Path) -> Result<SanitizerOptions, Usage> {
        let mut options = SanitizerOptions::default();
        for variable in [TSAN, OWN] {
            let Some(text) = std::env::var_os(variable) else { continue };
            options.take(variable, &text.to_string_lossy())?;
        }
        for path in &mut options.suppressions {
            let beside = program.parent().map(|folder| folder.join(&path));
            if let Some(beside) = beside.filter(|beside| !path.exists() && beside.exists()) {
                *path = beside;
            }
        }
        Ok(options)
    }

    fn take(&mut self, variable: &'static str, text: &str) -> Result<(), Usage> {
        let bad = |what: String| Usage::Variable { variable, what };
        for (name, value) in pairs(text) {
            match name.as_str() {
                "suppressions" if value.is_empty() => {}
                "suppressions" if variable == OWN => self.suppressions.push(value.into()),
                // The last one counts, as for ThreadSanitizer.
                "suppressions" => self.suppressions = vec![value.into()],
                "exitcode" => {
                    let code = value.parse();
                    let expected = || format!("exitcode={value}: expected a number from 0 to 255");
                    self.exit_code = Some(code.map_err(|_| bad(expected()))?);
                }
                _ if variable == OWN => {
                    let what = format!("unknown option `{name}`, expected suppressions, exitcode");
                    return Err(bad(what));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Splits a text into names and values.
fn pairs(text: &str) -> Vec<(String, String)> {
    let is_separator = |c: char| matches!(c, ' ' | ',' | ':' | '\n' | '\t' | '\r');
    let (mut rest, mut found) = (text, Vec::new());
    loop {
        rest = rest.trim_start_matches(is_separator);
        let end = rest.find(|c| c == '=' || is_separator(c)).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        rest = &rest[end..];
        let Some(value) = rest.strip_prefix('=') else {
            if name.is_empty() {
                return found;
            }
            found.push((name, String::new()));
            continue;
        };
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, after) = match quote {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => value.split_at(value.find(is_separator).unwrap_or(value.len())),
        };
        found.push((name, value.to_owned()));
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_separated_and_quoted_as_the_sanitizers_have_it() {
        let text =
            "exitcode=0:history_size=7 suppressions='a b:c.txt',halt_on_error log_path=\"x\"";
        let found = pairs(text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [
            ("exitcode", "0"),
            ("history_size", "7"),
            ("suppressions", "a b:c.txt"),
            ("halt_on_error", ""),
            ("log_path", "x"),
        ];
        assert_eq!(found, expected);
        for odd in ["", ":::", "=", "a='", "=x", "'"] {
            assert!(pairs(odd).len() <= 2, "{odd}");
        }
    }

    #[test]
    fn what_means_something_else_is_left_to_the_sanitizer() {
        let mut options = SanitizerOptions::default();
        options
            .take(TSAN, "suppressions=a suppressions=b exitcode=66 detect_deadlocks=1")
            .expect("known");
        options.take(OWN, "suppressions=c").expect("known");
        let paths: Vec<PathBuf> = ["b", "c"].map(PathBuf::from).into();
        assert_eq!(options, SanitizerOptions { suppressions: paths, exit_code: Some(66) });
        assert!(options.take(OWN, "detect_deadlocks=1").is_err());
        assert!(options.take(TSAN, "exitcode=x").is_err());
        assert!(options.take(TSAN, "exitcode=256").is_err());
    }
}
