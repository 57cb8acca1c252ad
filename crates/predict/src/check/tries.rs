//! Chooses which candidates to try, in which order, and when to stop.

use super::candidate::Candidate;
use super::groups::Group;
use super::options::{CheckOptions, Cut};
use super::witness_store::WitnessStore;
use crate::confirm::{Form, GaveUp, Together, Witness};
use anyorder_system::{Cancel, Control, StopReason};
use anyorder_trace::EventId;

/// The result of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PairResult {
    /// It was not tried.
    Untried,
    /// There is a witness.
    Confirmed(Witness),
    /// There is a witness of this form, and this is known of the two together, but it was not
    /// stored. Other pairs of its group have better ones, or it has too many events.
    Shown(Form, Together),
    /// The pair is proved to have no witness.
    Impossible,
    /// The search gave up.
    GaveUp(GaveUp),
    /// The search claimed a witness that the checker refused, for this reason. This is a bug.
    Rejected(String),
}

/// A search for witnesses, together with their checker.
pub trait Confirms {
    /// Tries a pair, `first` before `second` in the trace. Never returns [`PairResult::Untried`] or
    /// [`PairResult::Shown`].
    fn confirm(&mut self, first: EventId, second: EventId, cancel: &Cancel) -> PairResult;

    /// Returns the work so far, in visited events. Equal calls give equal numbers.
    fn work(&self) -> u64;

    /// Does other work with the same search. Called once: when each group has had its first try, or
    /// the tries have visited [`SHARE`] events.
    fn between_turns(&mut self, _control: &Control<'_>) {}
}

/// The events that the tries visit at most before the search does other work.
pub const SHARE: u64 = 50_000_000;

/// The results of all tries.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TriedPairs {
    /// In the order of the candidates.
    pub(crate) pair_results: Vec<PairResult>,
    /// The names of the options whose limits left pairs without an answer.
    pub(crate) cuts: Vec<Cut>,
    /// The reason why the tries stopped.
    pub(crate) stopped: Option<StopReason>,
}

/// Tries one pair of each group, then the next pair of each group. Stops after the last pair or at
/// a limit. `pass_on` takes the results so far: before the first try, before and after the search
/// does other work, and when the number of confirmed pairs has doubled.
pub(crate) fn try_all(
    (candidates, groups): (&[Candidate], &[Group]),
    confirms: &mut dyn Confirms,
    options: &CheckOptions,
    control: &Control<'_>,
    pass_on: &mut dyn FnMut(&[PairResult]),
) -> TriedPairs {
    let mut tried = TriedPairs {
        pair_results: vec![PairResult::Untried; candidates.len()],
        ..TriedPairs::default()
    };
    let mut done = 0;
    let mut keeper = WitnessStore::new(groups.len());
    control.progress.phase("confirming");
    if !candidates.is_empty() && control.check().is_ok() {
        pass_on(&tried.pair_results);
    }
    let mut confirmed = 0_u64;
    let mut between = Some(confirms.work().saturating_add(SHARE));
    for (turn, group, member) in in_turns(groups) {
        if between.is_some_and(|work| turn > 0 || confirms.work() > work) {
            between = None;
            pass_on(&tried.pair_results);
            confirms.between_turns(control);
            pass_on(&tried.pair_results);
        }
        let candidate = candidates[member];
        // A trace in memory has 32-bit numbers.
        let ids = [candidate.first, candidate.second].map(u32::try_from);
        let [Ok(first), Ok(second)] = ids else { continue };
        if let Err(stopped) = control.step(done, Some(candidates.len() as u64)) {
            tried.stopped = Some(stopped.0);
            break;
        }
        if done >= options.tries_max || confirms.work() > options.work_max {
            tried.cut(if done >= options.tries_max { Cut::Tries } else { Cut::Work });
            break;
        }
        let pair_result = confirms.confirm(EventId(first), EventId(second), &control.cancel);
        match pair_result {
            PairResult::GaveUp(GaveUp::Window) => tried.cut(Cut::Window),
            PairResult::GaveUp(GaveUp::Conflicts) => tried.cut(Cut::Conflicts),
            PairResult::GaveUp(GaveUp::Stopped) => tried.stopped = control.cancel.reason(),
            _ => {}
        }
        let is_confirmed = matches!(pair_result, PairResult::Confirmed(_));
        keeper.put(&mut tried.pair_results, group, member, pair_result);
        confirmed += u64::from(is_confirmed);
        if is_confirmed && confirmed.is_power_of_two() {
            pass_on(&tried.pair_results);
        }
        done += 1;
    }
    if between.is_some() {
        confirms.between_turns(control);
    }
    tried
}

impl TriedPairs {
    fn cut(&mut self, cut: Cut) {
        if !self.cuts.contains(&cut) {
            self.cuts.push(cut);
        }
    }
}

/// Returns the members of all groups, each with the number of its turn and the position of its
/// group: first the first member of each group, then the second of each, and so on.
fn in_turns(groups: &[Group]) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    let longest = groups.iter().map(|group| group.members.len()).max().unwrap_or(0);
    (0..longest).flat_map(move |turn| {
        let groups = groups.iter().enumerate();
        groups.filter_map(move |(at, group)| Some((turn, at, *group.members.get(turn)?)))
    })
}

impl PairResult {
    /// Returns the form of the witness, if there is one.
    #[must_use]
    pub fn form(&self) -> Option<Form> {
        match self {
            PairResult::Confirmed(witness) => Some(witness.form),
            PairResult::Shown(form, _) => Some(*form),
            _ => None,
        }
    }

    /// Returns whether the two actions can be enabled at the same time, if there is a witness.
    #[must_use]
    pub fn together(&self) -> Option<Together> {
        match self {
            PairResult::Confirmed(witness) => Some(witness.together),
            PairResult::Shown(_, together) => Some(*together),
            _ => None,
        }
    }
}
