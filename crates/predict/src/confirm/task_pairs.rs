//! Questions about two tasks of one handler. All candidates in these tasks share the answers.
//!
//! The form `overtakes` does not depend on the actions within the tasks. A witness of `reversed` or
//! `last` contains the whole task of the second action before any event of the task of the first,
//! because the handler runs one task at a time. If that is impossible, both forms are impossible.
//! Otherwise the search tries the order found as the prefix of their witnesses. Each question has
//! the full conflict budget of a candidate, so answers do not depend on which candidate is tried
//! first.

use super::answer::{GaveUp, Witness};
use super::attempt::End;
use super::chains::NONE;
use super::confirmer::{Confirmer, GROWTH};
use super::question::{Overtaken, Question};
use super::search_state::{Budget, Search, State};
use anyorder_system::Cancel;
use anyorder_trace::EventId;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Answers for pairs of tasks, by the `get` of the first and of the second.
#[derive(Debug, Default)]
pub(super) struct TaskPairs {
    known: HashMap<(u32, u32), Known>,
    /// The number of events in all stored orders.
    events: usize,
}

/// The most events in all stored orders; answers without room are not stored.
const ROOM: usize = 1 << 25;

#[derive(Clone, Debug)]
struct Known {
    /// An order in which the second ends before the first begins.
    ends_first: PairAnswer<Rc<Witness>>,
    overtakes: PairAnswer<Rc<Witness>>,
    /// Whether an event was excluded because it depends on a barrier without enough information.
    doubt: bool,
}

/// An order of events; `None` if it is proved that there is none.
pub(super) type PairAnswer<T> = Result<Option<T>, GaveUp>;

/// An order of events without the tail, and the start of its window.
pub(super) type FoundOrder = (u32, Vec<u32>);

impl Confirmer<'_> {
    /// Applies the answers for the tasks of a candidate to its search.
    pub(super) fn apply_task_pair(
        &mut self,
        search: &mut Search,
        tasks: Overtaken,
        cancel: &Cancel,
    ) {
        let key = (tasks.overtaken, tasks.get);
        let known = match self.task_pairs.known.get(&key) {
            Some(known) => known.clone(),
            None => {
                let known = self.solve_task_pair(tasks, cancel);
                let answers = [&known.ends_first, &known.overtakes];
                let orders = answers.into_iter().flatten().flatten();
                let events: usize = orders.map(|order| order.order.len()).sum();
                let is_stopped = answers.contains(&&Err(GaveUp::Stopped));
                if self.task_pairs.events + events <= ROOM && !is_stopped {
                    self.task_pairs.events += events;
                    self.task_pairs.known.insert(key, known.clone());
                }
                known
            }
        };
        if known.ends_first == Ok(None) {
            (search.states[0], search.states[1]) = (State::Impossible, State::Impossible);
        }
        search.states[3] = match known.overtakes {
            Ok(Some(witness)) => {
                search.best = Some((*witness).clone());
                State::Found
            }
            Ok(None) => State::Impossible,
            Err(why) => {
                search.gave_up = why;
                State::GivenUp
            }
        };
        search.beginning = known.ends_first.ok().flatten();
        search.budget.doubt |= known.doubt;
    }

    fn solve_task_pair(&mut self, tasks: Overtaken, cancel: &Cancel) -> Known {
        let question = Question::ends_first(&self.past, tasks);
        let mut doubt = false;
        let found = self.solve(&question, &mut doubt, cancel);
        let ends_first =
            found.map(|found| found.map(|found| Rc::new(self.trimmed(&question, found, cancel))));
        let question = Question::overtakes(&self.past, tasks);
        let begun = ends_first.as_ref().ok().and_then(|order| taken(order.as_ref()?, tasks));
        let found = match begun {
            Some(found) => Ok(Some(found)),
            None => self.solve(&question, &mut doubt, cancel),
        };
        let overtakes =
            found.map(|found| found.map(|found| Rc::new(self.witness(&question, found, cancel))));
        Known { ends_first, overtakes, doubt }
    }

    /// Tries the stored order of the tasks of a candidate as the prefix of a witness for `reversed`
    /// and `last`. The other required events come in trace order: before the task of the second
    /// action if possible, or else at the end. If that fails, all come at the end. Returns the
    /// order, without the tail, and the start of its window.
    pub(super) fn behind_beginning(
        &mut self,
        question: &Question,
        beginning: &Witness,
    ) -> Option<FoundOrder> {
        let start = beginning.prefix;
        self.required.require(&self.past, question, start, &[]).ok()?;
        let begun: Vec<u32> = beginning.order.iter().map(|event| event.0).collect();
        let known: HashSet<u32> = begun.iter().copied().collect();
        let more = self.required.events.iter().copied().filter(|event| !known.contains(event));
        let mut more: Vec<u32> = more.collect();
        more.sort_unstable();
        let task = self.past.chain[question.second as usize];
        let later = self.past.chain[question.first as usize];
        let get = begun.iter().position(|event| self.past.chain[*event as usize] == task)?;
        let mut before: HashSet<u32> = begun[..get].iter().copied().collect();
        let (mut early, mut late) = (Vec::new(), Vec::new());
        for &event in &more {
            let past = &self.past;
            let mut needs = past.causes.row(event).iter().chain(past.observes.row(event));
            let has = |event: &u32| *event == NONE || *event < start || before.contains(event);
            let is_later = past.chain[event as usize] == later;
            if !is_later && has(&past.previous[event as usize]) && needs.all(has) {
                before.insert(event);
                early.push(event);
            } else {
                late.push(event);
            }
        }
        let parts: [&[u32]; 4] = [&begun[..get], &early, &begun[get..], &late];
        let orders = [parts.concat(), [begun.as_slice(), &more].concat()];
        let order = orders.into_iter().find(|order| self.replays(question, start, order));
        order.map(|order| (start, order))
    }

    /// Solves the question in one window after another. Returns the order found, and the start of
    /// its window.
    pub(super) fn solve(
        &mut self,
        question: &Question,
        doubt: &mut bool,
        cancel: &Cancel,
    ) -> PairAnswer<FoundOrder> {
        let mut back = self.scale.first_window;
        let mut budget = Budget::new(self.options.conflicts);
        let mut gave_up = GaveUp::Window;
        loop {
            let (start, is_last) = self.start(question, question.first, back);
            let end = self.search_window(&mut budget, question, start, cancel);
            *doubt |= budget.doubt;
            match end {
                End::Found(order) => return Ok(Some((start, order))),
                End::None => return Ok(None),
                End::Stopped => return Err(GaveUp::Stopped),
                End::Conflicts => gave_up = GaveUp::Conflicts,
                End::Unclear => {}
            }
            if is_last || (gave_up == GaveUp::Conflicts && budget.conflicts == 0) {
                return Err(gave_up);
            }
            back = back.saturating_mul(GROWTH);
        }
    }
}

/// Returns how an order goes in which a task ends before another one begins, up to where it is
/// taken; `None` if the other one is not posted by then.
fn taken(beginning: &Witness, tasks: Overtaken) -> Option<FoundOrder> {
    let is = |number: u32| move |event: &EventId| event.0 == number;
    let get = beginning.order.iter().position(is(tasks.get))?;
    let order = &beginning.order[..get];
    let is_posted = tasks.post < beginning.prefix || order.iter().any(is(tasks.post));
    is_posted.then(|| (beginning.prefix, order.iter().map(|event| event.0).collect()))
}
