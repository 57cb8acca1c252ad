//! Findings that are one mistake.
//!
//! **Problem.** A mistake shows itself once for each pair of events that makes it: a field into
//! which a user types ten characters has nine pairs of answers that overtake each other, and a
//! library that comes too late throws several exceptions.
//! **Method.** Where the words of the program say what kind of difference a reversal makes
//! ([`TaskWords::effect_kind`](super::TaskWords::effect_kind)), these findings are one:
//!
//! - reversals whose two sites and kinds of difference are equal;
//! - reversals that share a task and end the same way, in all that counts;
//! - failures that come when the same two tasks are reversed;
//! - a failure, and a reversal of which one run has that failure, and the other one has not;
//! - a difference between two orders of which no conflict is known, and one that ends the same way.
//!
//! The first stays, which has the fewest reversals, unless a later one has fewer inputs in its
//! pair: two responses say more than a response and a click. A failure says more than a difference.
//! It lists the pairs of the others, or names their failures.

use super::findings::UNREPORTED;
use super::races::CAN_CHANGE;
use crate::Reported;
use anyorder_common::numbers::plural;
use anyorder_finding::{ExplanationStep, Finding, Severity, Site};
use anyorder_system::{Failure, Hash128, Level, Observation, TaskName};

/// The most pairs, or failures, that a finding lists.
const PAIRS_MAX: usize = 1_000;

/// The most findings of one mistake that others are compared with.
const MEMBERS_MAX: usize = 100;

/// The place of a site: its file, line and column.
type Place = (String, u32, u32);

/// What the findings of one mistake have in common.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Group {
    /// The two tasks of the reversal, sorted; none for a failure of the recorded run.
    tasks: Option<[TaskName; 2]>,
    /// How many of them are inputs.
    inputs: usize,
    shows: Symptom,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Symptom {
    /// A difference of two runs: its kind, the two places if both are known, and what counts of the
    /// end.
    Difference {
        kind: String,
        places: Option<[Place; 2]>,
        end: Hash128,
        /// The failures of one of the two runs.
        failures: Vec<Failure>,
        /// No conflict of the two tasks is known.
        is_unreported: bool,
    },
    Failure(Failure),
}

impl Group {
    /// Returns the group of a finding that compares two runs, by the end of the second of them. The
    /// order of its tasks does not matter.
    pub(super) fn of(
        finding: &Finding,
        kind: String,
        (tasks, inputs): ([TaskName; 2], usize),
        (end, failures): (&Observation, Vec<Failure>),
    ) -> Group {
        let place =
            |site: &Site| Some((site.file.clone()?, site.line?, site.column.unwrap_or_default()));
        let places = match finding.sites.as_slice() {
            [first, second] => place(first).zip(place(second)),
            _ => None,
        };
        let places = places.map(|(first, second)| {
            let mut places = [first, second];
            places.sort();
            places
        });
        let end = counting(end);
        let is_unreported = finding.category.as_deref() == Some(UNREPORTED);
        let shows = Symptom::Difference { kind, places, end, failures, is_unreported };
        Group { tasks: Some(tasks), inputs, shows }
    }

    /// Returns the group of a failure.
    pub(super) fn of_failure(tasks: Option<[TaskName; 2]>, failure: Failure) -> Group {
        Group { tasks, inputs: 0, shows: Symptom::Failure(failure) }
    }

    fn is_unreported(&self) -> bool {
        matches!(self.shows, Symptom::Difference { is_unreported: true, .. })
    }

    fn is_failure(&self) -> bool {
        matches!(self.shows, Symptom::Failure(_))
    }

    /// Whether the findings of both are one mistake.
    fn is_same(&self, other: &Group) -> bool {
        match (&self.shows, &other.shows) {
            (
                Symptom::Difference { kind, places, end, is_unreported, .. },
                Symptom::Difference {
                    kind: kind_2,
                    places: places_2,
                    end: end_2,
                    is_unreported: is_unreported_2,
                    ..
                },
            ) => {
                let others = other.tasks.as_ref();
                let shares = |task| others.is_some_and(|others| others.contains(task));
                let are_near =
                    *is_unreported || *is_unreported_2 || self.tasks.iter().flatten().any(shares);
                let is_place = places.is_some() && places == places_2 && kind == kind_2;
                is_place || end == end_2 && are_near
            }
            (Symptom::Failure(one), Symptom::Failure(other_one)) => {
                self.tasks.is_some() && self.tasks == other.tasks || one == other_one
            }
            (Symptom::Failure(one), Symptom::Difference { failures, .. })
            | (Symptom::Difference { failures, .. }, Symptom::Failure(one)) => {
                failures.contains(one)
            }
        }
    }
}

/// Returns the hash of what counts of an end: what a user sees, and what survives.
fn counting(end: &Observation) -> Hash128 {
    let counts = |level: Level| {
        matches!(level, Level::Output | Level::Failure | Level::Request | Level::Persistent)
    };
    let parts = end.parts().filter(|(_, part)| counts(part.level));
    parts.fold(Hash128::new(), |hash, (path, part)| {
        hash.part(path.to_string().as_bytes()).part(&part.hash.0.to_le_bytes())
    })
}

/// One mistake.
struct Mistake {
    /// Where its finding is in the list.
    at: usize,
    /// The groups of the findings that it was merged of; the first is that of the finding shown.
    members: Vec<Group>,
    /// How many there are.
    count: u64,
    severity: Severity,
    pairs: Vec<[String; 2]>,
    /// What other failures say.
    also: Vec<String>,
    /// Two events of which the other order does not fail, with the fewest inputs, and how many.
    cure: Option<(usize, String)>,
}

impl Mistake {
    fn new(at: usize, group: Group, one: &Reported) -> Mistake {
        let severity = one.finding.severity;
        let pairs = pair(&one.finding).into_iter().collect();
        let cure = named(&one.finding).map(|both| (group.inputs, both));
        Mistake { at, members: vec![group], count: 1, severity, pairs, also: vec![], cure }
    }

    /// Adds a finding. Returns it if it is to be shown instead of the one before.
    fn add(&mut self, group: Group, one: Reported) -> Option<Reported> {
        self.count += 1;
        self.severity = self.severity.max(one.finding.severity);
        if self.pairs.len() < PAIRS_MAX {
            self.pairs.extend(pair(&one.finding));
        }
        let shown = &self.members[0];
        let is_better = match (group.is_failure(), shown.is_failure()) {
            (true, true) => false,
            (true, false) | (false, true) => group.is_failure(),
            (false, false) => match (group.is_unreported(), shown.is_unreported()) {
                (one, other) if one != other => other,
                _ => group.inputs < shown.inputs,
            },
        };
        let cure = named(&one.finding).map(|both| (group.inputs, both));
        let is_less =
            |cure: &(usize, String)| self.cure.as_ref().is_none_or(|known| cure.0 < known.0);
        if let Some(cure) = cure.filter(is_less) {
            self.cure = Some(cure);
        }
        if group.is_failure() && !is_better && self.also.len() < PAIRS_MAX {
            self.also.push(one.finding.title.clone());
        }
        if self.members.len() < MEMBERS_MAX {
            self.members.push(group);
            let last = self.members.len() - 1;
            if is_better {
                self.members.swap(0, last);
            }
        }
        is_better.then_some(one)
    }

    /// Writes into the finding that is shown what the others say.
    fn finish(self, finding: &mut Finding) {
        let more = self.count - 1;
        if more == 0 {
            return;
        }
        finding.severity = self.severity;
        let failures = self.also.len() as u64;
        let mut what = Vec::new();
        if failures > 0 {
            what.push(plural(failures, "more failure"));
        }
        if failures < more {
            finding.pairs = self.pairs;
            finding.pairs_total = self.count - failures;
            what.push(format!("{} like this", plural(more - failures, "more pair")));
        }
        let also = |text: String| ExplanationStep::new(format!("also: {text}"));
        finding.explanation.extend(self.also.into_iter().map(also));
        finding.title.push_str(&match self.cure {
            // The recorded run fails: no pair says yet when.
            Some((_, cure)) if self.members[0].tasks.is_none() => {
                format!(", but not in the other order of {cure}")
            }
            _ => format!(" (and {})", what.join(", ")),
        });
    }
}

/// Merges the findings of one group, with the highest severity. Quadratic in the number of
/// findings, with a bound on the members of each group.
pub(super) fn grouped(all: impl Iterator<Item = (Option<Group>, Reported)>) -> Vec<Reported> {
    let mut merged: Vec<Reported> = Vec::new();
    let mut mistakes: Vec<Mistake> = Vec::new();
    for (group, one) in all {
        let Some(group) = group else {
            merged.push(one);
            continue;
        };
        let known = mistakes
            .iter_mut()
            .find(|mistake| mistake.members.iter().any(|member| member.is_same(&group)));
        match known {
            None => {
                mistakes.push(Mistake::new(merged.len(), group, &one));
                merged.push(one);
            }
            Some(mistake) => {
                if let Some(better) = mistake.add(group, one) {
                    merged[mistake.at] = better;
                }
            }
        }
    }
    for mistake in mistakes {
        let at = mistake.at;
        mistake.finish(&mut merged[at].finding);
    }
    merged
}

/// Returns the two events of a reversal that changes an end, in words.
fn named(finding: &Finding) -> Option<String> {
    finding.title.split_once(CAN_CHANGE).map(|(both, _)| both.to_owned())
}

/// Returns the names of the two tasks.
fn pair(finding: &Finding) -> Option<[String; 2]> {
    let [first, second] = finding.sites.as_slice() else { return None };
    Some([first.task.clone()?, second.task.clone()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::Kind;
    use anyorder_system::PartPath;

    fn reported(places: [(u32, &str); 2], severity: Severity) -> Reported {
        let site = |(line, task): (u32, &str)| Site {
            file: Some("a.js".to_owned()),
            line: Some(line).filter(|line| *line > 0),
            task: Some(task.to_owned()),
            ..Site::default()
        };
        let finding = Finding {
            title: "a race".to_owned(),
            severity,
            sites: places.map(site).to_vec(),
            ..Finding::new(Kind::Race)
        };
        Reported { finding, run: None }
    }

    fn tasks(names: [&str; 2]) -> [TaskName; 2] {
        let mut tasks = names.map(TaskName::root);
        tasks.sort();
        tasks
    }

    fn end(shown: &str, heap: &str) -> Observation {
        let mut end = Observation::new();
        end.set(PartPath::new(["page", "text"]), Level::Output, shown.as_bytes());
        end.set(PartPath::new(["page", "html"]), Level::Bookkeeping, heap.as_bytes());
        end
    }

    /// The places and tasks of a finding, its kind, and what is shown in the end.
    type Shown<'a> = ([(u32, &'static str); 2], &'a str, &'a str);

    #[test]
    fn a_chance_difference_gives_way_to_a_known_conflict_that_ends_the_same_way() {
        let of = |names: [&str; 2], shown: &str, is_unreported: bool| {
            let mut one = reported([(0, names[0]), (0, names[1])], Severity::Warning);
            one.finding.title = if is_unreported { "chance" } else { "conflict" }.to_owned();
            one.finding.category = is_unreported.then(|| UNREPORTED.to_owned());
            let end = (&end(shown, ""), Vec::new());
            (Some(Group::of(&one.finding, "text".to_owned(), (tasks(names), 0), end)), one)
        };
        let titles = |all: Vec<(Option<Group>, Reported)>| {
            let merged = grouped(all.into_iter());
            merged.into_iter().map(|one| one.finding.title).collect::<Vec<_>>()
        };
        let all = vec![of(["a", "b"], "wrong", true), of(["c", "d"], "wrong", false)];
        assert_eq!(titles(all), ["conflict (and 1 more pair like this)"]);
        let all = vec![of(["a", "b"], "wrong", true), of(["c", "d"], "other", false)];
        assert_eq!(titles(all), ["chance", "conflict"]);
    }

    /// Merges findings.
    fn merged(all: &[Shown<'_>]) -> Vec<Reported> {
        let with_group = |(number, (places, kind, shown)): (usize, &Shown<'_>)| {
            let one = reported(*places, Severity::Warning);
            let heap = number.to_string();
            let tasks = tasks(places.map(|(_, task)| task));
            let inputs = tasks.iter().filter(|task| task.segment().kind == "input").count();
            let pair = (tasks, inputs);
            let end = end(shown, &heap);
            let group = Group::of(&one.finding, (*kind).to_owned(), pair, (&end, Vec::new()));
            (Some(group), one)
        };
        grouped(all.iter().enumerate().map(with_group))
    }

    #[test]
    fn findings_at_the_same_places_with_the_same_effect_are_one() {
        let merged = merged(&[
            ([(3, "a"), (5, "b")], "text", "1"),
            ([(5, "c"), (3, "a")], "text", "2"),
            ([(3, "a"), (5, "b")], "request", "3"),
            ([(3, "a"), (6, "b")], "text", "4"),
            ([(0, "a"), (5, "b")], "text", "5"),
            ([(0, "a"), (5, "b")], "text", "6"),
        ]);
        let pairs: Vec<u64> = merged.iter().map(|one| one.finding.pairs_total).collect();
        assert_eq!(pairs, [2, 0, 0, 0, 0]);
        let first = &merged[0].finding;
        assert_eq!(first.title, "a race (and 1 more pair like this)");
        let names = |pair: [&str; 2]| pair.map(str::to_owned);
        assert_eq!(first.pairs, [names(["a", "b"]), names(["c", "a"])]);
    }

    #[test]
    fn findings_that_share_a_task_and_end_the_same_way_are_one() {
        let merged = merged(&[
            ([(1, "a"), (2, "b")], "text", "wrong"),
            // Another end; no task in common; in common with the last, but not with the first.
            ([(3, "a"), (4, "c")], "text", "right"),
            ([(5, "d"), (6, "e")], "text", "wrong"),
            ([(7, "b"), (0, "d")], "stored", "wrong"),
        ]);
        let pairs: Vec<u64> = merged.iter().map(|one| one.finding.pairs_total).collect();
        assert_eq!(pairs, [2, 0, 0]);
    }

    #[test]
    fn the_pair_with_the_fewest_inputs_is_shown() {
        let merged = merged(&[
            ([(1, "a"), (2, "input")], "text", "wrong"),
            ([(1, "a"), (2, "b")], "text", "wrong"),
            ([(1, "a"), (2, "c")], "text", "wrong"),
        ]);
        let names = |finding: &Finding| pair(finding).expect("a pair");
        assert_eq!(merged.len(), 1);
        assert_eq!(names(&merged[0].finding), ["a", "b"]);
        assert_eq!(merged[0].finding.pairs_total, 3);
        assert_eq!(merged[0].finding.pairs[0], ["a", "input"]);
    }

    #[test]
    fn failures_of_one_reversal_are_one_and_the_highest_severity_stays() {
        let failure = |names: [&str; 2], title: &str, severity| {
            let mut one = reported([(1, "a"), (2, "b")], severity);
            one.finding.title = title.to_owned();
            (Some(Group::of_failure(Some(tasks(names)), Failure::from(title))), one)
        };
        let all = [
            failure(["a", "b"], "no x", Severity::Warning),
            failure(["b", "a"], "no y", Severity::Error),
            failure(["a", "c"], "no z", Severity::Error),
        ];
        let merged = grouped(all.into_iter());
        let titles: Vec<&str> = merged.iter().map(|one| one.finding.title.as_str()).collect();
        assert_eq!(titles, ["no x (and 1 more failure)", "no z"]);
        assert_eq!(merged[0].finding.severity, Severity::Error);
        assert_eq!(merged[0].finding.explanation[0].text, "also: no y");
    }

    #[test]
    fn a_failure_is_shown_instead_of_the_reversals_that_cure_it() {
        let failed = || Failure::from("no x");
        let cure = |names: [&str; 2], failures: Vec<Failure>| {
            let mut one = reported([(1, "a"), (0, "b")], Severity::Warning);
            one.finding.title = "cured".to_owned();
            let end = (&end(names[0], names[1]), failures);
            (Some(Group::of(&one.finding, "text".to_owned(), (tasks(names), 0), end)), one)
        };
        let failure = || {
            let mut one = reported([(1, "a"), (2, "b")], Severity::Error);
            one.finding.title = "no x".to_owned();
            (Some(Group::of_failure(None, failed())), one)
        };
        let titles = |all: Vec<(Option<Group>, Reported)>| {
            let merged = grouped(all.into_iter());
            merged.into_iter().map(|one| one.finding.title).collect::<Vec<_>>()
        };
        let cured = || cure(["c", "d"], vec![failed()]);
        let shown = ["no x (and 1 more pair like this)"];
        assert_eq!(titles(vec![cured(), failure()]), shown);
        assert_eq!(titles(vec![failure(), cured()]), shown);
        let mut named = cured();
        named.1.finding.title = "x and y can come in either order: z".to_owned();
        let shown = ["no x, but not in the other order of x and y"];
        assert_eq!(titles(vec![failure(), named]), shown);
        let other = cure(["c", "d"], vec![Failure::from("no y")]);
        assert_eq!(titles(vec![failure(), other]), ["no x", "cured"]);
        assert_eq!(titles(vec![failure(), cure(["c", "d"], vec![])]), ["no x", "cured"]);
    }
}
