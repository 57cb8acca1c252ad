//! What bounds a result and what cut a search, in sentences.
//!
//! A result names both by words: mostly options, but not every command has each option, and some
//! words are none. A report shows a word as an option only for a command that has it.

use anyorder_common::numbers::count;
use anyorder_finding::{OptionValue, Outcome, option};

/// The words that are options, with the commands that have them.
pub const OPTIONS: &[(&str, &[&str])] = &[
    ("algorithm", &["explore"]),
    ("alternatives", &["explore"]),
    ("attempts", &["explore"]),
    ("bound", &["explore"]),
    ("budget", &["check", "explore"]),
    ("first", &["check", "explore"]),
    ("max-candidates", &["check", "predict"]),
    ("max-classed-tasks", &["robust"]),
    ("max-conflicts", &["check", "predict", "consistency"]),
    ("max-cycles", &["robust"]),
    ("max-depth", &["check", "graph"]),
    ("max-events", &["check", "predict"]),
    ("max-executions", &["explore", "shrink"]),
    ("max-findings", &["check", "predict", "explore", "robust"]),
    ("max-pairs", &["check", "predict", "robust", "run"]),
    ("max-states", &["check", "explore", "graph", "robust"]),
    ("max-steps", &["explore", "simulate"]),
    ("max-tries", &["check", "predict"]),
    ("max-work", &["check", "predict"]),
    ("no-confirm", &["predict"]),
    ("pairs", &["predict"]),
    ("repeat", &["robust"]),
    ("repeats", &["explore"]),
    ("salvage", &["check", "predict", "consistency", "explore", "robust", "simulate", "graph"]),
    ("stops", &["robust"]),
    ("storage", &["check"]),
    ("user-events", &["explore"]),
    ("window", &["check", "predict"]),
];

/// The options of every command.
const EVERYWHERE: &[&str] = &["memory-limit", "time-limit"];

/// The words for a search that Ctrl-C ended, and for one to which the system gave no more memory.
const INTERRUPT: &str = "interrupt";
const OUT_OF_MEMORY: &str = "out-of-memory";

/// Returns whether a command has the option `word`.
fn is_option(command: &str, word: &str) -> bool {
    let has = |(option, commands): &(&str, &[&str])| *option == word && commands.contains(&command);
    EVERYWHERE.contains(&word) || OPTIONS.iter().any(has)
}

/// Returns whether the search ended because the system had no more memory.
fn is_out_of_memory(outcome: &Outcome) -> bool {
    outcome.limits.iter().any(|limit| limit == OUT_OF_MEMORY)
}

/// Returns whether Ctrl-C ended the search.
fn is_interrupted(outcome: &Outcome) -> bool {
    outcome.limits.iter().any(|limit| limit == INTERRUPT)
}

/// States what ended the search early: `the search was cut by --max-states`. One phrase each.
pub(crate) fn cuts(outcome: &Outcome) -> Vec<String> {
    let mut phrases = Vec::new();
    if is_out_of_memory(outcome) {
        phrases.push("the search ended when the system had no more memory".to_owned());
    }
    if is_interrupted(outcome) {
        phrases.push("the search was interrupted (Ctrl-C)".to_owned());
    }
    let apart = [INTERRUPT, OUT_OF_MEMORY, option::NOT_UNDERSTOOD.word()];
    let others = || outcome.limits.iter().filter(|it| !apart.contains(&&***it));
    let options: Vec<String> = others()
        .filter(|word| is_option(&outcome.command, word))
        .map(|word| format!("--{word}"))
        .collect();
    if !options.is_empty() {
        phrases.push(format!("the search was cut by {}", options.join(", ")));
    }
    let no_options = others().filter(|word| !is_option(&outcome.command, word));
    phrases.extend(no_options.map(|word| cut_by_word(outcome, word)));
    phrases
}

/// States a cut by something that is no option of the command.
fn cut_by_word(outcome: &Outcome, word: &str) -> String {
    match word {
        "run-interrupt" => {
            "a signal (Ctrl-C) ended the program, and only what it did until then was checked"
                .to_owned()
        }
        "run-time-limit" => {
            "`--run-time-limit` ended the program, and only what it did until then was checked"
                .to_owned()
        }
        "max-recording" => {
            "the recording reached its greatest size (`--max-recording`), and what the program did \
             later was not checked"
                .to_owned()
        }
        "max-trace" => {
            "the program did more than the trace may have events (`--max-trace`), and what it did \
             later was not checked"
                .to_owned()
        }
        "waiting" => {
            "orders may be missing, because the program does not report what its tasks wait for"
                .to_owned()
        }
        "bitstate" => {
            "`--storage bitstate` may have taken two states for one and missed the second"
                .to_owned()
        }
        _ => match OPTIONS.iter().find(|(option, _)| *option == word) {
            Some((_, commands)) => {
                let command = commands.first().copied().unwrap_or_default();
                format!(
                    "the search was cut by the limit that `anyorder {command} --{word}` sets{}",
                    value(outcome, word).map(|value| format!(" ({value})")).unwrap_or_default()
                )
            }
            None => format!("the search was cut by the limit `{word}`"),
        },
    }
}

/// Returns the value of an option as text.
fn value(outcome: &Outcome, option: &str) -> Option<String> {
    match outcome.options.get(option)? {
        OptionValue::Integer(value) => Some(count(*value)),
        OptionValue::Text(value) => Some(value.clone()),
        _ => None,
    }
}

/// States what was asked and tried where there is more: `only runs of at most 20 steps were
/// searched`. One phrase each.
pub(crate) fn bounds(outcome: &Outcome) -> Vec<String> {
    outcome.bounds.iter().map(|word| bound(outcome, word)).collect()
}

fn bound(outcome: &Outcome, word: &str) -> String {
    let text = value(outcome, word).unwrap_or_default();
    let many = |noun: &str| match text.as_str() {
        "" => format!("a limited number of {noun}s"),
        "1" => format!("at most 1 {noun}"),
        _ => format!("at most {text} {noun}s"),
    };
    match word {
        "algorithm" => "response properties were not checked: they need all states".to_owned(),
        "bound" => format!("only runs with {} were tried", many("reversal")),
        "budget" if text == "0ns" => {
            "no further orders were tried".to_owned() + &raise(outcome, word)
        }
        "budget" => format!("more orders were tried for {text} only") + &raise(outcome, word),
        "max-depth" => format!("only runs of {} were searched", many("step")),
        "repeats" | "repeat" => {
            format!("each event that can repeat came {} only", many("time"))
        }
        "stops" => format!("only runs in which {} stopped half-way were searched", many("further task")),
        "max-states" => "only a part of the states was searched".to_owned() + &raise(outcome, word),
        "max-cycles" => format!("{} of each kind are listed, and there are more", many("cycle")),
        "max-classed-tasks" => {
            format!("cycles of {} were classed; the others count", many("task"))
        }
        "user-events" => "inputs were tried in some orders only".to_owned() + &raise(outcome, word),
        "optional-ends" => {
            "ends before something optional were tried in a part of the runs only".to_owned()
        }
        "time-limit" | "memory-limit" => format!("what is open was cut by `--{word}`"),
        INTERRUPT => "what is open was interrupted (Ctrl-C)".to_owned(),
        "no-confirm" => "no candidate was tried: other orders may not exist".to_owned(),
        "pairs" if is_option(&outcome.command, word) => {
            "only the candidates of the analysis were tried; `--pairs all` tries all pairs".to_owned()
        }
        "pairs" => {
            "only the candidates of the analysis were tried; `anyorder predict --pairs all` tries all \
             pairs"
                .to_owned()
        }
        _ if is_option(&outcome.command, word) => {
            let text = if text.is_empty() { text } else { format!(" {text}") };
            format!("only what `--{word}{text}` allows was tried")
        }
        _ => {
            let text = if text.is_empty() { text } else { format!(" ({text})") };
            format!("only what the bound `{word}`{text} allows was tried")
        }
    }
}

/// Names the option that gives more, where the command has it.
fn raise(outcome: &Outcome, word: &str) -> String {
    if is_option(&outcome.command, word) { format!(" (`--{word}`)") } else { String::new() }
}

/// A phrase as a sentence.
pub(crate) fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(command: &str) -> Outcome {
        Outcome { command: command.to_owned(), ..Outcome::new(command, "1") }
    }

    #[test]
    fn bounds_are_sentences_without_an_option_that_the_command_lacks() {
        let mut explored = outcome("explore");
        explored.options.set(option::BOUND, 2_u64);
        explored.bounded_by(option::BOUND);
        assert_eq!(bounds(&explored), ["only runs with at most 2 reversals were tried"]);
        let mut checked = outcome("check");
        checked.bounded_by(option::PAIRS);
        let said = bounds(&checked).concat();
        assert!(said.contains("`anyorder predict --pairs all`"), "{said}");
        checked.bounds = vec!["something-new".to_owned()];
        assert!(!bounds(&checked).concat().contains("--"));
    }

    #[test]
    fn what_is_no_option_is_not_shown_as_one() {
        for word in ["waiting", "attempts", "alternatives", "max-steps", "something-new"] {
            let mut checked = outcome("check");
            checked.limits = vec![word.to_owned()];
            let said = cuts(&checked).concat();
            assert!(!said.contains(&format!("by --{word}")), "{said}");
            assert!(!said.contains("--waiting"), "{said}");
        }
        let mut cut = outcome("check");
        cut.cut_by(option::MAX_STATES);
        cut.cut_by(option::TIME_LIMIT);
        assert_eq!(cuts(&cut), ["the search was cut by --max-states, --time-limit"]);
        cut.cut_by(option::INTERRUPT);
        assert_eq!(cuts(&cut).len(), 2);
        assert_eq!(sentence("only this"), "Only this.");
    }
}
