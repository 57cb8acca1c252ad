//! The command of a program behind a pipe: words as a shell would split them, but no shell.

use crate::failure::Failure;
use anyorder_common::text::escape;
use anyorder_pipe::{ChildCommand, PipeOptions};

/// Takes a command apart: blanks separate words, quotes and backslashes keep them together.
pub(crate) fn command_of(text: &str) -> Result<ChildCommand, Failure> {
    let words = words(text).ok_or_else(|| {
        let what = format!("`{}`: a quote without its partner", escape(text));
        Failure::new(format!("--program {what}"))
    })?;
    let mut words = words.into_iter();
    match words.next() {
        Some(program) => Ok(ChildCommand::new(program).arguments(words)),
        None => {
            let failure = Failure::new("--program: a command that starts the program was expected");
            Err(failure.with_hint("such as `--program 'node app.js'`"))
        }
    }
}

/// Returns how long the program may take, and how much it may say.
pub(crate) fn pipe_options() -> PipeOptions {
    PipeOptions::default()
}

fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let (mut quote, mut chars) = (None, text.chars());
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().push(chars.next()?),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_taken_apart() {
        let split = |text: &str| words(text).unwrap_or_else(|| vec!["?".to_owned()]);
        assert_eq!(split("node app.js"), ["node", "app.js"]);
        assert_eq!(split("  a 'b c' \"d \\\" e\" f\\ g '' "), ["a", "b c", "d \" e", "f g", ""]);
        assert_eq!(split("a'b'\"c\""), ["abc"]);
        assert_eq!(split("$(rm) | ;"), ["$(rm)", "|", ";"]);
        for bad in ["'a", "a \"b", "a\\"] {
            assert_eq!(words(bad), None, "{bad}");
        }
        assert!(command_of("  ").is_err());
    }
}
