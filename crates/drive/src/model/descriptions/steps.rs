//! Converts a path of a machine into a run for display: lanes, tasks, changes and posts.

use super::findings::{condition_of, failure_title};
use crate::states::RunEnd;
use anyorder_finding::run::{Change, Run, RunPlace, RunPost, RunStep};
use anyorder_search::Path;
use anyorder_system::{Failure, FailureSite};
use anyorder_vm::{Machine, PathWords, StepFacts, StepPlace};
use std::collections::BTreeMap;

/// The maximum number of values shown for the initial state.
const START_MAX: usize = 40;

/// The maximum number of reads shown for a step.
const READS_MAX: usize = 8;

/// Returns a path as a run: its steps with their changes or reads, and the violation at its end.
pub(in crate::model) fn run_of(machine: &Machine, path: &Path<Machine>, end: &RunEnd) -> Run {
    let mut words = PathWords::new(machine, &path.initial);
    let mut start = words.values();
    start.truncate(START_MAX);
    let mut steps = Vec::with_capacity(path.steps.len());
    for step in &path.steps {
        let facts = words.step(&step.action, &step.state, step.failure.is_some());
        let alternative = Some(step.action.alternative()).filter(|number| *number > 0);
        let failure = step.failure.as_ref().map(failure_words);
        steps.push(RunStep { alternative, failure, ..run_step(facts) });
    }
    note_old_reads(&mut steps);
    let mut text = end.text.clone();
    let condition = end.property.as_ref().and_then(|property| condition_of(machine, property));
    let reads = condition.map_or_else(Vec::new, |function| words.reads_of(function));
    let reads: Vec<String> =
        reads.iter().take(READS_MAX).map(|(name, value)| format!("{name} = {value}")).collect();
    if !reads.is_empty() {
        text.push_str(&format!(": {}", reads.join(", ")));
    }
    Run { start, steps, repeats_from: path.repeats_from, end: text, ..Run::default() }
}

fn run_step(facts: StepFacts) -> RunStep {
    let takes = facts.changes.iter().find_map(|one| one.takes()).map(str::to_owned);
    let releases = facts.changes.iter().find_map(|one| one.releases()).map(str::to_owned);
    let changes = facts.changes.into_iter();
    let mut changes: Vec<Change> =
        changes.map(|one| Change { name: one.name, old: one.old, new: one.new }).collect();
    changes.extend(facts.waits.into_iter().map(|(who, cond)| {
        let name = format!("{who} waits for {cond}");
        Change { name, ..Change::default() }
    }));
    changes.extend(facts.same_writes.into_iter().map(|(name, value)| {
        let (old, new) = (Some(value.clone()), Some(value));
        Change { name, old, new }
    }));
    let mut reads = facts.reads;
    reads.truncate(READS_MAX);
    let posts = facts.posts.into_iter().map(|post| RunPost { to: post.to, what: post.what });
    RunStep {
        lane: facts.lane,
        what: facts.what,
        place: facts.place.map(run_place),
        changes,
        posts: posts.collect(),
        reads,
        chosen: facts.chosen,
        takes,
        releases,
        ..RunStep::default()
    }
}

/// The position of a step, as a run names it.
fn run_place(place: StepPlace) -> RunPlace {
    match place {
        StepPlace::Position(FailureSite { file, line, column }) => {
            RunPlace { file, line: Some(line), column: Some(column), last_line: None }
        }
        place @ StepPlace::Instruction(..) => {
            RunPlace { file: place.to_string(), ..RunPlace::default() }
        }
    }
}

/// Marks changes that rest on an old value: the lane read it in an earlier step, and another lane
/// has changed it since. A thread reads and writes in two steps, in `seen.add(i)` too.
fn note_old_reads(steps: &mut [RunStep]) {
    let mut reads: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut changed: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (number, step) in (1..).zip(steps) {
        for (name, _) in &step.reads {
            reads.insert((step.lane.clone(), name.clone()), number);
        }
        for change in step.changes.iter().filter(|change| change.old != change.new) {
            let read = reads.remove(&(step.lane.clone(), change.name.clone()));
            let since = changed.insert(change.name.clone(), (number, step.lane.clone()));
            let (Some(read), Some((at, by))) = (read, since) else { continue };
            if at > read && by != step.lane {
                step.note = Some(format!(
                    "lost update: step {read} read `{}` before step {at} changed it (reading and \
                     writing are two steps here)",
                    change.name
                ));
            }
        }
    }
}

/// A failure with its position.
fn failure_words(failure: &Failure) -> String {
    let title = failure_title(failure);
    failure.site.as_ref().map_or_else(|| title.clone(), |site| format!("{title} at {site}"))
}
