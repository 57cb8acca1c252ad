//! `anyorder explain`: what the words of the reports mean.

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::output::to_stdout;
use anyorder_common::text::escape;
use anyorder_finding::{TOPICS, explain};
use std::process::ExitCode;

/// Prints one text, or the list of topics.
pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let Some(topic) = &args.topic else {
        to_stdout(|out| {
            writeln!(out, "Topics of `anyorder explain`:")?;
            TOPICS.iter().try_for_each(|topic| writeln!(out, "  {topic}"))
        })?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some(text) = explain(topic) else {
        let failure = Failure::new(format!("no topic is called `{}`", escape(topic)));
        return Err(match nearest(topic) {
            Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
            None => failure.with_hint("`anyorder explain` lists all topics"),
        });
    };
    to_stdout(|out| writeln!(out, "{}", text.trim_end()))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the topic that differs least from what was typed, if it is near enough for a typing
/// error.
fn nearest(typed: &str) -> Option<&'static str> {
    const DISTANCE_MAX: usize = 3;
    let typed: Vec<char> = typed.chars().take(64).collect();
    let distance = |topic: &str| edit_distance(&typed, &topic.chars().collect::<Vec<char>>());
    TOPICS
        .iter()
        .copied()
        .map(|topic| (distance(topic), topic))
        .min()
        .filter(|(distance, _)| *distance <= DISTANCE_MAX)
        .map(|(_, topic)| topic)
}

/// The least number of characters to insert, delete or replace.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_definition() {
        let distance = |a: &str, b: &str| {
            edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("race", "race"), 0);
        assert_eq!(distance("rcae", "race"), 2);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
