//! One question of the search: two actions, the form of their reversal, and the sections around
//! them.

use super::answer::Form;
use super::blocking::CallRule;
use super::deadlock::permits::Gone;
use super::deadlock::sabotage::Sabotage;
use super::deadlock::signals::Signals;
use super::holding::{Section, SectionId};
use super::past::Past;
use super::units::{get_of, post_of};
use anyorder_trace::{EventId, Trace};
use std::rc::Rc;

/// Two actions and a form.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) first: u32,
    pub(super) second: u32,
    pub(super) form: Form,
    /// The tail: the last events of a witness, in order, which the search treats separately.
    pub(super) tail: Vec<u32>,
    /// The sections that are open before an event of the tail, and the section that it begins. Each
    /// entry is an event with one section.
    pub(super) held: Vec<(u32, SectionId)>,
    /// The places of `held` by lock, ascending.
    by_lock: Vec<(u32, u32)>,
    /// Required events besides those that the tail needs.
    pub(super) needs: Vec<u32>,
    /// Pairs of required events of which the first comes before the second: signals that are over
    /// before a wait begins.
    pub(super) early: Vec<(u32, u32)>,
    /// Rules of semaphores that must not hold at the end, so that no permit is left, each with the
    /// request of one.
    pub(super) full: Vec<(CallRule, u32)>,
    /// These semaphores, and the locks that are held: no thread may come to a call that gives a
    /// permit.
    pub(super) closed: Option<(Rc<Signals>, Gone)>,
    /// An event that must be absent.
    pub(super) never: Option<u32>,
    /// The events of the tail whose communication is required.
    pub(super) communicating: Vec<u32>,
}

impl Question {
    /// Builds the question for one of the forms about a single pair of actions.
    pub(super) fn new(past: &Past<'_>, (first, second): (u32, u32), form: Form) -> Question {
        let (tail, needs) = match form {
            Form::CoEnabled => (vec![second, first], Vec::new()),
            _ => (vec![first], vec![second]),
        };
        Question::with(past, (first, second), form, (tail, needs), None)
    }

    /// Builds the question whether a task can end before the task that it overtakes begins; every
    /// event keeps its observations.
    pub(super) fn ends_first(past: &Past<'_>, tasks: Overtaken) -> Question {
        let Overtaken { overtaken, last, .. } = tasks;
        let pair = (overtaken, last);
        Question::with(past, pair, Form::Reversed, (vec![last], Vec::new()), Some(overtaken))
    }

    /// Builds the question whether a task can be taken while another one waits.
    pub(super) fn overtakes(past: &Past<'_>, tasks: Overtaken) -> Question {
        let Overtaken { overtaken, get, post, .. } = tasks;
        let form = Form::Overtakes;
        Question::with(past, (overtaken, get), form, (vec![get], vec![post]), Some(overtaken))
    }

    /// Builds the question whether threads can come to these requests while each of them waits for
    /// the next: a lock that an event of the tail acquires, the end of a thread, a signal or a
    /// permit. With the requests, whether each waits for a signal or a permit. `needs` has events
    /// that are in each such run.
    pub(super) fn deadlock(
        past: &Past<'_>,
        (requests, waits, signals): (&[u32], &[bool], &Rc<Signals>),
        needs: Vec<u32>,
        sabotage: Sabotage,
    ) -> Question {
        let (first, last) = (requests.iter().min(), requests.iter().max());
        let pair = (first.copied().unwrap_or(0), last.copied().unwrap_or(0));
        let tail = (requests.to_vec(), needs);
        let mut question = Question::with(past, pair, Form::Deadlock, tail, None);
        // Nobody has what it asks for.
        let is_held = |(event, section): &(u32, SectionId)| {
            let is_asked_for = past.holding.sections[*section as usize].acquire == *event;
            sabotage != Sabotage::HeldForgotten
                && (sabotage == Sabotage::RequestsHeld || !is_asked_for)
        };
        question.held.retain(is_held);
        // Whoever waits for a signal has missed all those that can come; and all permits are taken.
        for (request, _) in requests.iter().zip(waits).filter(|(_, is_wait)| **is_wait) {
            let Some(wait) = signals.wait_at(*request) else { continue };
            if let Some(rule) = signals.rule(wait.condition) {
                if sabotage != Sabotage::PermitsLeft {
                    question.full.push((rule.clone(), *request));
                }
                continue;
            }
            let free = signals.free(past, wait.condition, requests);
            if sabotage != Sabotage::FreeSignals {
                question.needs.extend(&free);
            }
            if sabotage != Sabotage::SignalsLate {
                question.early.extend(free.iter().map(|signal| (*signal, wait.wait)));
            }
        }
        let semaphores = signals.awaited(requests, waits);
        if !semaphores.is_empty() && sabotage != Sabotage::PermitsGiven {
            let held = question.held.iter().filter(|_| sabotage != Sabotage::KeptForgotten);
            let sections = held.map(|(_, section)| &past.holding.sections[*section as usize]);
            let mut locks: Vec<(u32, bool)> = sections.map(|of| (of.lock, of.exclusive)).collect();
            locks.sort_unstable();
            locks.dedup();
            question.closed = Some((Rc::clone(signals), Gone { semaphores, locks }));
        }
        question.index_locks(past);
        question
    }

    fn with(
        past: &Past<'_>,
        (first, second): (u32, u32),
        form: Form,
        (tail, needs): (Vec<u32>, Vec<u32>),
        never: Option<u32>,
    ) -> Question {
        let held: Vec<(u32, SectionId)> = tail
            .iter()
            .flat_map(|event| {
                let held = past.holding.held(&past.chain, *event);
                held.into_iter().map(|section| (*event, section))
            })
            .collect();
        let asks_all = matches!(form, Form::Reversed | Form::Overtakes);
        // A request need not be granted.
        let is_bound = |event: u32| form != Form::Deadlock && past.is_bound(event);
        let must_communicate = |event: &u32| asks_all || is_bound(*event);
        let communicating = tail.iter().copied().filter(must_communicate).collect();
        let mut question = Question {
            first,
            second,
            form,
            tail,
            held,
            by_lock: Vec::new(),
            needs,
            early: Vec::new(),
            full: Vec::new(),
            closed: None,
            never,
            communicating,
        };
        question.index_locks(past);
        question
    }

    fn index_locks(&mut self, past: &Past<'_>) {
        let lock = |section: SectionId| past.holding.sections[section as usize].lock;
        let held = self.held.iter().enumerate();
        self.by_lock = held.map(|(at, (_, s))| (lock(*s), at as u32)).collect();
        self.by_lock.sort_unstable();
    }

    /// Returns the events of the tail that a witness contains: all but requests of a deadlock.
    pub(super) fn ending(&self) -> &[u32] {
        if self.form == Form::Deadlock { &[] } else { &self.tail }
    }

    /// Returns the sections of a lock that are held at the end, with their events.
    fn held_of(&self, lock: u32) -> impl Iterator<Item = (u32, SectionId)> {
        let from = self.by_lock.partition_point(|(other, _)| *other < lock);
        let of_lock = self.by_lock[from..].iter().take_while(move |(other, _)| *other == lock);
        of_lock.map(|(_, at)| self.held[*at as usize])
    }

    /// Returns whether a section is held at the end.
    pub(super) fn holds(&self, past: &Past<'_>, section: SectionId) -> bool {
        let lock = past.holding.sections[section as usize].lock;
        self.held_of(lock).any(|(_, held)| held == section)
    }

    /// Returns whether an event can only come after the witness: it is one of the last events of
    /// the witness, or follows one in its chain.
    #[inline]
    pub(super) fn is_behind(&self, past: &Past<'_>, event: u32) -> bool {
        let chain = past.chain[event as usize];
        let ends = self.tail.iter().chain(&self.never);
        ends.into_iter().any(|last| event >= *last && past.chain[*last as usize] == chain)
    }

    /// Returns whether the communication of an event of the tail is required.
    pub(super) fn requires_communication(&self, event: u32) -> bool {
        self.communicating.contains(&event)
    }

    /// Returns the position where the outermost section around an action begins.
    pub(super) fn start(&self, past: &Past<'_>) -> u32 {
        let acquires = self.held.iter().map(|(_, s)| past.holding.sections[*s as usize].acquire);
        acquires.min().unwrap_or(self.first).min(self.first)
    }

    /// Returns the sections held at the end of the witness that exclude a section of the witness,
    /// each with its event. The excluded section must then have ended before.
    pub(super) fn keepers<'q>(
        &'q self,
        past: &'q Past<'_>,
        section: &'q Section,
    ) -> impl Iterator<Item = (u32, &'q Section)> {
        let held = self.held_of(section.lock);
        let held = held.map(|(event, s)| (event, &past.holding.sections[s as usize]));
        held.filter(|(_, other)| section.excludes(other))
    }

    /// Returns whether the sections held around the two actions of the tail are compatible.
    pub(super) fn holds_together(&self, past: &Past<'_>) -> bool {
        if self.form == Form::Deadlock {
            let sections = &past.holding.sections;
            return self.held.iter().all(|(_, section)| {
                self.keepers(past, &sections[*section as usize]).next().is_none()
            });
        }
        self.held.iter().filter(|(event, _)| *event != self.first).all(|(_, section)| {
            let section = &past.holding.sections[*section as usize];
            self.keepers(past, section).all(|(event, other)| {
                // The second action releases the lock that the first one acquires.
                event != self.first
                    || (section.release == self.second && other.acquire == self.first)
            })
        })
    }
}

/// Two tasks of one mailbox, for [`Form::Overtakes`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Overtaken {
    /// The `get` of the task of the second action, and its last event.
    pub(super) get: u32,
    last: u32,
    /// The `post` of the task of the first action.
    pub(super) post: u32,
    /// Its `get`.
    pub(super) overtaken: u32,
}

impl Overtaken {
    /// Returns the tasks of two actions; `None` unless they are two tasks that one handler took
    /// from its mailbox.
    pub(super) fn of(trace: &Trace, first: u32, second: u32) -> Option<Overtaken> {
        let [first, second] = [first, second].map(|event| trace.event(EventId(event)).task);
        let (overtaken, get) = (get_of(trace, first)?, get_of(trace, second)?);
        let handler = trace.span(first).handler.some();
        if first == second || handler.is_none() || handler != trace.span(second).handler.some() {
            return None;
        }
        let post = post_of(trace, first).filter(|post| *post < overtaken)?;
        let last = trace.span(second).last.some().map_or(get, |last| last.0);
        Some(Overtaken { get, last, post, overtaken })
    }
}
