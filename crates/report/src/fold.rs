//! Critical sections of a run as one step each: from the step that takes a lock to the one that
//! releases it.

use anyorder_finding::run::{Run, RunPlace, RunStep};

/// Returns the run with one step for each critical section that no other lane interrupts. A section
/// stays unfolded if one of its steps is marked, fails, has omitted steps before it, or is where
/// the run begins to repeat. All steps keep their numbers.
pub(crate) fn folded(run: &Run) -> Run {
    if run.steps.iter().all(|step| step.takes.is_none()) {
        return run.clone();
    }
    let mut steps = Vec::with_capacity(run.steps.len());
    let (mut at, mut repeats_from) = (0, run.repeats_from);
    while at < run.steps.len() {
        if run.repeats_from == Some(at) {
            repeats_from = Some(steps.len());
        }
        let length = section(&run.steps[at..], at, run.repeats_from).unwrap_or(1);
        let section = &run.steps[at..at + length];
        let first = run.first + at + 1;
        steps.push(if length == 1 { numbered(&section[0], first) } else { one(section, first) });
        at += length;
    }
    if run.repeats_from == Some(run.steps.len()) {
        repeats_from = Some(steps.len());
    }
    Run { steps, repeats_from, ..run.clone() }
}

/// The number of a step, which folding must not change.
fn number(step: &RunStep, at: usize) -> String {
    step.number.clone().unwrap_or_else(|| at.to_string())
}

fn numbered(step: &RunStep, at: usize) -> RunStep {
    RunStep { number: Some(number(step, at)), ..step.clone() }
}

/// Returns the number of steps of the section that some steps begin with.
fn section(steps: &[RunStep], at: usize, repeats_from: Option<usize>) -> Option<usize> {
    let first = steps.first()?;
    let lock = first.takes.as_ref()?;
    let joins = |(number, step): &(usize, &RunStep)| {
        (&step.lane, &step.what) == (&first.lane, &first.what)
            && step.mark.is_none()
            && step.failure.is_none()
            && (*number == at || (step.left_out == 0 && repeats_from != Some(*number)))
    };
    let mut section = (at..).zip(steps).take_while(joins);
    section.position(|(_, step)| step.releases.as_ref() == Some(lock)).map(|last| last + 1)
}

/// A critical section as one step, with its source lines.
fn one(section: &[RunStep], at: usize) -> RunStep {
    let (Some(first), Some(last)) = (section.first(), section.last()) else {
        return RunStep::default();
    };
    let lock = first.takes.clone().unwrap_or_default();
    let own = format!("lock {lock}");
    let mut phrases: Vec<String> = Vec::new();
    for step in section {
        let mut shown = step.clone();
        shown.changes.retain(|change| change.name != own);
        shown.posts.clear();
        phrases.extend(shown.effects());
    }
    match phrases.first_mut() {
        Some(phrase) => *phrase = format!("with {lock}: {phrase}"),
        None => phrases.push(format!("with {lock}: nothing")),
    }
    phrases.extend(lines(section).map(|lines| format!("at {lines}")));
    RunStep {
        lane: first.lane.clone(),
        what: first.what.clone(),
        number: Some(format!("{}–{}", number(first, at), number(last, at + section.len() - 1))),
        posts: section.iter().flat_map(|step| step.posts.clone()).collect(),
        inside: phrases,
        left_out: first.left_out,
        ..RunStep::default()
    }
}

/// The lines of some steps of one file: `lock.any:10-12`.
fn lines(section: &[RunStep]) -> Option<RunPlace> {
    let places: Vec<&RunPlace> = section.iter().filter_map(|step| step.place.as_ref()).collect();
    let file = &places.first()?.file;
    if places.iter().any(|place| place.file != *file || place.line.is_none()) {
        return None;
    }
    let lines = || places.iter().filter_map(|place| place.line);
    let (line, last_line) = (lines().min(), lines().max());
    Some(RunPlace { file: file.clone(), line, column: None, last_line })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::run::{Change, Mark};

    fn step(lane: &str, name: &str, (old, new): (&str, &str), line: u32) -> RunStep {
        let (old, new) = (Some(old.to_owned()), Some(new.to_owned()));
        RunStep {
            lane: lane.to_owned(),
            what: lane.to_owned(),
            changes: vec![Change { name: name.to_owned(), old, new }],
            place: Some(RunPlace {
                file: "a.any".to_owned(),
                line: Some(line),
                column: Some(5),
                last_line: None,
            }),
            ..RunStep::default()
        }
    }

    fn sections() -> Vec<RunStep> {
        let take = |lane, line| RunStep {
            takes: Some("m".to_owned()),
            ..step(lane, "lock m", ("free", "held"), line)
        };
        let release = |lane, line| RunStep {
            releases: Some("m".to_owned()),
            ..step(lane, "lock m", ("held", "free"), line)
        };
        vec![
            step("a", "x", ("0", "1"), 2),
            take("a", 3),
            step("a", "x", ("1", "2"), 4),
            step("a", "y", ("0", "2"), 5),
            release("a", 3),
            take("b", 8),
            step("b", "x", ("2", "3"), 9),
            release("b", 8),
        ]
    }

    fn rows(run: &Run) -> Vec<(String, String)> {
        let row =
            |one: &RunStep| (one.number.clone().unwrap_or_default(), one.effects().join("; "));
        run.steps.iter().map(row).collect()
    }

    #[test]
    fn a_section_is_one_step_with_its_lines_and_numbers() {
        let run = folded(&Run { steps: sections(), repeats_from: Some(5), ..Run::default() });
        let expected = [
            ("1", "x: 0 -> 1"),
            ("2–5", "with m: x: 1 -> 2; y: 0 -> 2; at a.any:3-5"),
            ("6–8", "with m: x: 2 -> 3; at a.any:8-9"),
        ];
        let expected = expected.map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(rows(&run), expected);
        assert_eq!(run.repeats_from, Some(2));
    }

    #[test]
    fn what_is_marked_or_interrupted_stays_whole() {
        let mut steps = sections();
        steps.insert(3, step("b", "z", ("0", "1"), 7));
        steps[7].mark = Some(Mark::First);
        let run = folded(&Run { steps, ..Run::default() });
        assert_eq!(run.steps.len(), 9);
        let run = folded(&Run { steps: sections(), repeats_from: Some(2), ..Run::default() });
        assert_eq!((run.steps.len(), run.repeats_from), (6, Some(2)));
    }
}
