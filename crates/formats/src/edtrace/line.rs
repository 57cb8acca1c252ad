//! Parses one line of the format.

use crate::fault::Fault;

/// A word and its place in the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) offset: usize,
}

/// The operation of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation<'a> {
    /// Reads a variable from the write of this name, or from `init`.
    Read { variable: &'a str, from: Word<'a> },
    /// Writes a variable.
    Write { variable: &'a str },
    /// Creates a message.
    Post { message: &'a str },
    /// Begins its own message.
    Get,
}

/// The content of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Statement<'a> {
    /// Nothing but blanks or a comment.
    Nothing,
    /// An event.
    Event { id: &'a str, handler: &'a str, message: Word<'a>, operation: Operation<'a> },
    /// The order of a variable's writes.
    Coherence { variable: Word<'a>, writes: Vec<Word<'a>> },
}

/// The message name of a handler's initial code.
pub(super) const INITIAL_MESSAGE: &str = "-";

/// The word for the initial value where a read names its write.
pub(super) const INITIAL_VALUE: &str = "init";

/// The word that begins a coherence line.
pub(super) const COHERENCE: &str = "co";

/// The first line of every file.
pub(super) const HEADER: &str = "edtrace 1";

/// Checks that a line is text, and removes its comment.
///
/// # Errors
///
/// Fails when the line is not UTF-8.
pub(super) fn without_comment(line: &[u8]) -> Result<&str, Fault> {
    let line = std::str::from_utf8(line)
        .map_err(|error| Fault::new(error.valid_up_to(), "expected text in UTF-8"))?;
    Ok(line.split_once('#').map_or(line, |(text, _)| text))
}

/// Returns the words of a line.
pub(super) fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let blank = |c: char| c == ' ' || c == '\t' || c == '\r';
        at += line[at..].len() - line[at..].trim_start_matches(blank).len();
        if at == line.len() {
            return None;
        }
        let length = line[at..].find(blank).unwrap_or(line.len() - at);
        let word = Word { text: &line[at..at + length], offset: at };
        at += length;
        Some(word)
    })
}

/// Parses a line without comment.
///
/// # Errors
///
/// Fails when a word is missing, too many, or not the expected one.
pub(super) fn parse(line: &str) -> Result<Statement<'_>, Fault> {
    let mut words = words(line);
    let Some(id) = words.next() else { return Ok(Statement::Nothing) };
    let mut next = |expected: &str| {
        words.next().ok_or_else(|| {
            let message = format!("expected {expected}, found the end of the line");
            Fault::new(line.trim_end().len(), message)
        })
    };
    if id.text == COHERENCE {
        let variable = next("a variable")?;
        return Ok(Statement::Coherence { variable, writes: words.collect() });
    }
    if id.text == INITIAL_VALUE {
        return Err(Fault::new(id.offset, "no event may be called `init`"));
    }
    let handler = next("a handler")?.text;
    let message = next("a message, or `-`")?;
    let word = next("one of `r`, `w`, `post`, `get`")?;
    let operation = match word.text {
        "r" => Operation::Read {
            variable: next("a variable")?.text,
            from: next("the write that is read, or `init`")?,
        },
        "w" => Operation::Write { variable: next("a variable")?.text },
        "post" => {
            let posted = next("a message")?;
            if posted.text == INITIAL_MESSAGE {
                let message = "the initial message `-` cannot be posted";
                return Err(Fault::new(posted.offset, message));
            }
            Operation::Post { message: posted.text }
        }
        "get" => Operation::Get,
        other => {
            let message =
                format!("unknown operation `{other}`, expected one of `r`, `w`, `post`, `get`");
            return Err(Fault::new(word.offset, message));
        }
    };
    if let Some(extra) = words.next() {
        let message = format!("expected the end of the line, found `{}`", extra.text);
        return Err(Fault::new(extra.offset, message));
    }
    Ok(Statement::Event { id: id.text, handler, message, operation })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_comments() {
        let line = without_comment("a\t b  c# d".as_bytes()).unwrap();
        let all: Vec<(&str, usize)> = words(line).map(|word| (word.text, word.offset)).collect();
        assert_eq!(all, [("a", 0), ("b", 3), ("c", 6)]);
        assert_eq!(without_comment(b"ab\xff").unwrap_err().column, 2);
        assert_eq!(parse(" \t"), Ok(Statement::Nothing));
        assert_eq!(parse("a h - get x").unwrap_err().column, 10);
        assert_eq!(parse("a h - w").unwrap_err().column, 7);
        assert_eq!(parse("a h - x y").unwrap_err().column, 6);
        assert_eq!(parse("init h - w x").unwrap_err().column, 0);
        assert_eq!(parse("a h - post -").unwrap_err().column, 11);
    }
}
