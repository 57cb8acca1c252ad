//! Chooses which candidates to try, in which order, and when to stop.

use super::candidate::Candidate;
use super::category::Category;
use super::groups::Group;
use super::options::{CheckOptions, Cut};
use super::witness_store::WitnessStore;
use crate::confirm::{Form, GaveUp, Together, Witness};
use anyorder_stream::ViolationKind;
use anyorder_system::{Cancel, Control, StopReason};
use anyorder_trace::EventId;
use std::collections::BTreeSet;
use std::mem;

/// The result of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PairResult {
    /// It was not tried.
    Untried,
    /// There is a witness.
    Confirmed(Witness),
    /// There is a witness of this form, or of a stronger one, and this is known of the two
    /// together, but it was not built or not stored: other pairs of its group have one, or there
    /// was no room.
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

    /// Answers without a search, if that is possible: that there is a witness, or that there is
    /// none. Pairs of one group follow one another, by their later events.
    fn decide(&mut self, _: EventId, _: EventId, _cancel: &Cancel) -> Option<PairResult> {
        None
    }

    /// Says that the next pairs to decide are of another group.
    fn begin_group(&mut self) {}

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
    /// The names of the options whose limits left pairs without an answer. Without
    /// [`CheckOptions::strict`], pairs that can only give harmless notes do not count.
    pub(crate) cuts: Vec<Cut>,
    /// The reason why the tries stopped.
    pub(crate) stopped: Option<StopReason>,
    /// Pairs without an answer in groups that can only give harmless notes and have no witness.
    pub(crate) notes_open: u64,
}

/// What is tried.
pub(crate) struct ToTry<'a> {
    pub(crate) candidates: &'a [Candidate],
    pub(crate) groups: &'a [Group],
    /// Pairs to try first in their groups.
    pub(crate) wanted: &'a BTreeSet<(u64, u64)>,
    /// The events that the searches for groups that can only give harmless notes may visit.
    pub(crate) notes_max: u64,
}

/// Tries one pair of each group, then the next pair of each group. Stops after the last pair or at
/// a limit. `pass_on` takes the results so far: before the first try, before and after the search
/// does other work, and when the number of confirmed pairs has doubled.
///
/// Once the tries have visited [`CheckOptions::one_by_one_max`] events, what can be decided without
/// a search is, and each group without a witness gets some tries more.
pub(crate) fn try_all(
    to_try: &ToTry<'_>,
    confirms: &mut dyn Confirms,
    options: &CheckOptions,
    control: &Control<'_>,
    pass_on: &mut dyn FnMut(&[PairResult]),
) -> TriedPairs {
    let ToTry { candidates, groups, .. } = *to_try;
    let between = Some(confirms.work().saturating_add(SHARE));
    let mut tries = Tries {
        candidates,
        groups,
        order: order(to_try),
        confirms,
        options,
        control,
        pass_on,
        tried: TriedPairs {
            pair_results: vec![PairResult::Untried; candidates.len()],
            ..TriedPairs::default()
        },
        store: WitnessStore::new(groups.len()),
        tries_of: vec![0; groups.len()],
        settled: vec![false; groups.len()],
        done: 0,
        confirmed: 0,
        between,
        notes_max: to_try.notes_max,
        notes_work: 0,
    };
    control.progress.phase("confirming");
    if !candidates.is_empty() && control.check().is_ok() {
        (tries.pass_on)(&tries.tried.pair_results);
    }
    let _ = tries.run();
    if tries.between.is_some() {
        tries.confirms.between_turns(control);
    }
    tries.tried.notes_open = tries.notes_open();
    tries.tried
}

/// The tries of a check.
struct Tries<'a, 'c> {
    candidates: &'a [Candidate],
    groups: &'a [Group],
    /// The members of each group in the order of their tries, with the positions of the groups;
    /// those with a racy pair come first, and those that count nothing last.
    order: Vec<(usize, Vec<usize>)>,
    confirms: &'a mut dyn Confirms,
    options: &'a CheckOptions,
    control: &'a Control<'c>,
    pass_on: &'a mut dyn FnMut(&[PairResult]),
    tried: TriedPairs,
    store: WitnessStore,
    /// By group, the number of its searches, and whether it has a witness that shows all that its
    /// finding can say.
    tries_of: Vec<usize>,
    settled: Vec<bool>,
    done: u64,
    confirmed: u64,
    /// The work after which the search does other work, until it did.
    between: Option<u64>,
    /// The events that the searches for harmless notes may visit, and those that they have.
    notes_max: u64,
    notes_work: u64,
}

/// The most searches for a group without a witness, once not every pair is searched: for one with a
/// racy pair, and for another.
const TRIES_RACY: usize = 64;
const TRIES_OTHERS: usize = 4;

/// The most searches for a witness of a group among pairs that have one.
const TRIES_SHOWN: usize = 3;

/// The events that the searches for witnesses of decided pairs may visit, and those of pairs that
/// are not decided, as multiples of those of the tries one by one.
const SHOWN_WORK: u64 = 10;
const OPEN_WORK: u64 = 20;

/// The tries are over: all were made, or a limit was reached.
struct Over;

impl Tries<'_, '_> {
    fn run(&mut self) -> Result<(), Over> {
        let most = self.confirms.work().saturating_add(self.options.one_by_one_max);
        let order = mem::take(&mut self.order);
        for (turn, group, member) in in_turns(&order) {
            let other_work = |work| turn > 0 || self.confirms.work() > work;
            if self.between.is_some_and(other_work) {
                self.do_other_work();
            }
            if self.confirms.work() > most {
                break;
            }
            if self.may_search(group) {
                self.search(group, member)?;
            }
        }
        self.decide(&order)?;
        self.show(&order)?;
        self.search_open(&order)
    }

    fn do_other_work(&mut self) {
        self.between = None;
        (self.pass_on)(&self.tried.pair_results);
        self.confirms.between_turns(self.control);
        (self.pass_on)(&self.tried.pair_results);
    }

    /// Decides without a search the pairs that were not tried.
    fn decide(&mut self, order: &[(usize, Vec<usize>)]) -> Result<(), Over> {
        for (group, _) in order {
            self.confirms.begin_group();
            for &member in &self.groups[*group].members {
                if self.tried.pair_results[member] != PairResult::Untried {
                    continue;
                }
                let Some((first, second)) = self.ids(member) else { continue };
                self.step()?;
                let decided = self.confirms.decide(first, second, &self.control.cancel);
                self.done += u64::from(decided.is_some());
                if let Some(decided) = decided {
                    self.put(*group, member, decided);
                }
            }
        }
        Ok(())
    }

    /// Searches for witnesses of groups that only have pairs of which one is known to exist.
    fn show(&mut self, order: &[(usize, Vec<usize>)]) -> Result<(), Over> {
        let share = self.options.one_by_one_max.saturating_mul(SHOWN_WORK);
        let most = self.confirms.work().saturating_add(share);
        for (group, _) in order {
            if self.settled[*group] {
                continue;
            }
            let members = &self.groups[*group].members;
            let form = |member: &&usize| match self.tried.pair_results[**member] {
                PairResult::Shown(form, _) => Some(form),
                _ => None,
            };
            let shown = members.iter().filter_map(|member| Some((form(&member)?, *member)));
            let mut shown: Vec<(Form, usize)> = shown.collect();
            shown.sort_unstable();
            for (_, member) in shown.into_iter().take(TRIES_SHOWN) {
                if self.confirms.work() > most {
                    return Ok(());
                }
                if !self.may_search(*group) {
                    break;
                }
                let known = self.tried.pair_results[member].clone();
                self.search(*group, member)?;
                if self.tried.pair_results[member].form().is_none() {
                    // The search has limits, and the answer has none.
                    self.tried.pair_results[member] = known;
                } else {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Searches for witnesses of some pairs without an answer, in groups that have no witness.
    fn search_open(&mut self, order: &[(usize, Vec<usize>)]) -> Result<(), Over> {
        let share = self.options.one_by_one_max.saturating_mul(OPEN_WORK);
        let most = self.confirms.work().saturating_add(share);
        let is_open = |member: &usize| self.tried.pair_results[*member] == PairResult::Untried;
        let open = order.iter().map(|(group, members)| {
            (*group, members.iter().copied().filter(is_open).collect::<Vec<usize>>())
        });
        let open: Vec<(usize, Vec<usize>)> = open.collect();
        for (_, group, member) in in_turns(&open) {
            let most_tries = match self.is_racy(group) {
                true => TRIES_RACY,
                false => TRIES_OTHERS,
            };
            let is_tried = self.tries_of[group] >= most_tries;
            let may_search = !self.settled[group] && !is_tried && self.may_search(group);
            if may_search && self.confirms.work() <= most {
                self.search(group, member)?;
            }
        }
        self.cut_what_is_left(Cut::Work);
        Ok(())
    }

    /// Notes a limit, if pairs are left untried in a group that counts and has no witness.
    fn cut_what_is_left(&mut self, cut: Cut) {
        let is_untried = |i: &usize| self.tried.pair_results[*i] == PairResult::Untried;
        let is_left = |at: usize| {
            !self.settled[at] && self.counts(at) && self.groups[at].members.iter().any(is_untried)
        };
        if (0..self.groups.len()).any(is_left) {
            self.tried.cut(cut);
        }
    }

    fn notes_open(&self) -> u64 {
        let is_open = |i: &&usize| {
            let result = &self.tried.pair_results[**i];
            matches!(result, PairResult::Untried | PairResult::GaveUp(_))
        };
        let notes = self.groups.iter().zip(&self.settled);
        let notes = notes.filter(|(group, settled)| group.category.is_harmless() && !**settled);
        notes.map(|(group, _)| group.members.iter().filter(is_open).count() as u64).sum()
    }

    /// Returns whether an answer for a group may be more than a harmless note, or notes count.
    fn counts(&self, group: usize) -> bool {
        self.options.strict || !self.groups[group].category.is_harmless()
    }

    /// Returns whether a group may have another search: it counts, or notes have some left.
    fn may_search(&self, group: usize) -> bool {
        self.counts(group) || self.notes_work <= self.notes_max
    }

    fn is_racy(&self, group: usize) -> bool {
        is_racy(self.candidates, &self.groups[group])
    }

    fn ids(&self, member: usize) -> Option<(EventId, EventId)> {
        let Candidate { first, second, .. } = self.candidates[member];
        // A trace in memory has 32-bit numbers.
        Some((EventId(u32::try_from(first).ok()?), EventId(u32::try_from(second).ok()?)))
    }

    /// Checks the limits before a try.
    fn step(&mut self) -> Result<(), Over> {
        if let Err(stopped) = self.control.step(self.done, Some(self.candidates.len() as u64)) {
            self.tried.stopped = Some(stopped.0);
            return Err(Over);
        }
        if self.done >= self.options.tries_max || self.confirms.work() > self.options.work_max {
            let is_enough = self.done >= self.options.tries_max;
            self.cut_what_is_left(if is_enough { Cut::Tries } else { Cut::Work });
            return Err(Over);
        }
        Ok(())
    }

    /// Searches for a witness of a member of a group.
    fn search(&mut self, group: usize, member: usize) -> Result<(), Over> {
        let Some((first, second)) = self.ids(member) else { return Ok(()) };
        self.step()?;
        let before = self.confirms.work();
        let pair_result = self.confirms.confirm(first, second, &self.control.cancel);
        if !self.counts(group) {
            self.notes_work += self.confirms.work() - before;
        }
        match pair_result {
            PairResult::GaveUp(GaveUp::Window) if self.counts(group) => self.tried.cut(Cut::Window),
            PairResult::GaveUp(GaveUp::Conflicts) if self.counts(group) => {
                self.tried.cut(Cut::Conflicts);
            }
            PairResult::GaveUp(GaveUp::Stopped) => {
                self.tried.stopped = self.control.cancel.reason();
            }
            _ => {}
        }
        self.tries_of[group] += 1;
        self.done += 1;
        self.put(group, member, pair_result);
        Ok(())
    }

    fn put(&mut self, group: usize, member: usize, pair_result: PairResult) {
        let is_confirmed = pair_result.form().is_some();
        if let PairResult::Confirmed(witness) = &pair_result {
            let is_race = self.groups[group].category == Category::MultiThreaded;
            self.settled[group] |= !is_race || witness.together == Together::Yes;
        }
        self.store.put(&mut self.tried.pair_results, group, member, pair_result);
        self.confirmed += u64::from(is_confirmed);
        if is_confirmed && self.confirmed.is_power_of_two() {
            (self.pass_on)(&self.tried.pair_results);
        }
    }
}

/// Returns whether a group has a racy pair that the analysis left unordered.
fn is_racy(candidates: &[Candidate], group: &Group) -> bool {
    group.members.iter().any(|member| {
        let candidate = candidates[*member];
        candidate.kind == ViolationKind::Racy && !candidate.ordered
    })
}

/// Returns the order of tries.
fn order(ToTry { candidates, groups, wanted, .. }: &ToTry<'_>) -> Vec<(usize, Vec<usize>)> {
    let is_wanted = |i: usize| wanted.contains(&(candidates[i].first, candidates[i].second));
    let of_group = |(at, group): (usize, &Group)| {
        let mut members = group.members.clone();
        members.sort_by_key(|i| (candidates[*i].ordered, !is_wanted(*i)));
        (at, members)
    };
    let mut order: Vec<(usize, Vec<usize>)> = groups.iter().enumerate().map(of_group).collect();
    order.sort_by_key(|(at, _)| {
        (!is_racy(candidates, &groups[*at]), groups[*at].category.is_harmless())
    });
    order
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
fn in_turns(order: &[(usize, Vec<usize>)]) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    let longest = order.iter().map(|(_, members)| members.len()).max().unwrap_or(0);
    // Groups whose members are used up are not visited again.
    let mut by_length: Vec<usize> = (0..order.len()).collect();
    by_length.sort_by_key(|at| std::cmp::Reverse(order[*at].1.len()));
    (0..longest).flat_map(move |turn| {
        let longer = by_length.partition_point(|at| order[*at].1.len() > turn);
        let mut groups = by_length[..longer].to_vec();
        groups.sort_unstable();
        groups.into_iter().map(move |at| (turn, order[at].0, order[at].1[turn]))
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
