//! Programs behind a pipe, given by a command. The command is split into words like a shell
//! command, but runs without a shell.

use super::program::Started;
use super::{ExploreOptions, ShrinkOptions, Shrunk, explore, replay_run, shrink};
use crate::failure::Request;
use crate::states::Replayed;
use crate::{Failure, JobControl, JobResult};
use anyorder_pipe::{ChildCommand, PipeFactory, PipeOptions};
use anyorder_system::Schedule;

/// A program behind a pipe.
pub type PipeProgram = Started<PipeFactory>;

/// Returns the program that a command starts. Blanks separate words; quotes and backslashes escape
/// blanks.
///
/// # Errors
///
/// Fails when a quote is not closed, and when there is no word.
pub fn pipe_program(command: &str) -> Result<PipeProgram, Failure> {
    let unclosed = || Request::UnclosedQuote { command: command.to_owned() };
    let words = words(command).ok_or_else(unclosed)?;
    let mut words = words.into_iter();
    let Some(program) = words.next() else {
        return Err(Request::NoCommand.into());
    };
    let command_words = ChildCommand::new(program).arguments(words);
    let factory = PipeFactory { command: command_words, options: PipeOptions::default() };
    Ok(Started { name: command.to_owned(), factory })
}

/// Explores the runs of a program behind a pipe: [`explore`], compiled once.
///
/// # Errors
///
/// Like [`explore`].
#[inline(never)]
pub fn explore_program(
    program: &PipeProgram,
    options: &ExploreOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    explore(program, options, control)
}

/// Replays a schedule of a program behind a pipe: [`replay_run`], compiled once.
///
/// # Errors
///
/// Like [`replay_run`].
#[inline(never)]
pub fn replay_program(program: &PipeProgram, schedule: &Schedule) -> Result<Replayed, Failure> {
    replay_run(program, schedule)
}

/// Shrinks a run of a program behind a pipe: [`shrink`](shrink()), compiled once.
///
/// # Errors
///
/// Like [`shrink`](shrink()).
#[inline(never)]
pub fn shrink_program(
    program: &PipeProgram,
    failing: &Schedule,
    options: &ShrinkOptions,
    control: &JobControl<'_, Schedule>,
) -> Result<Option<Shrunk>, Failure> {
    shrink(program, failing, options, control)
}

/// Makes this process the parent of what programs behind pipes leave behind, so that it ends with
/// them. For a process that has no other children.
pub fn adopt_orphans() {
    anyorder_pipe::adopt_orphans();
}

/// Returns the file of the program that a command starts: the first word after the interpreter that
/// names one, else the first word. `is_file` says which words do.
#[must_use]
pub fn program_file(command: &str, is_file: impl Fn(&str) -> bool) -> Option<String> {
    let words = words(command)?;
    let (first, rest) = words.split_first()?;
    rest.iter().chain([first]).find(|word| is_file(word)).cloned()
}

/// Ends all programs behind pipes, with their children, and all browsers. For a process that ends
/// in the middle of a job.
pub fn end_programs() {
    anyorder_web::end_all_browsers();
    anyorder_pipe::end_all_children();
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
        assert!(pipe_program("  ").is_err());
        let file = |command: &str| program_file(command, |word| word.contains('.'));
        assert_eq!(file("python3 -u 'a b.py' --fixed x.json").as_deref(), Some("a b.py"));
        assert_eq!(file("./run.sh --fast").as_deref(), Some("./run.sh"));
        assert_eq!(file("true"), None);
    }
}
