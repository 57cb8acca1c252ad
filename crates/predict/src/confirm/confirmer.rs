//! The search for witnesses in one trace, one candidate after another.

use super::answer::{Answer, Form, GaveUp, Together, Witness};
use super::attempt::{AttemptInput, End, OutsideEvents};
use super::chains::NONE;
use super::clause::Clause;
use super::deadlock::closure::Closures;
use super::deadlock::sabotage::Sabotage;
use super::deadlock::signals::{SIGNALS_MAX, Signals};
use super::in_order::InOrder;
use super::past::Past;
use super::question::{Overtaken, Question};
use super::reach::{Excluded, Reach};
use super::replay::Replay;
use super::search_state::{Budget, Search, State};
use super::shorten::shorten;
use super::task_pairs::TaskPairs;
use super::trim::trim;
use super::window::Window;
use anyorder_stream::Communication;
use anyorder_system::Cancel;
use anyorder_trace::{EventId, Trace};
use std::fmt;
use std::rc::Rc;

/// The events that may be reordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reorders {
    /// Events of different handlers. The tasks of one handler stay in the observed order.
    #[default]
    Threads,
    /// Also tasks of one handler, as its mailbox allows.
    Tasks,
    /// The same, within the rules of Android's components.
    Components,
}

impl Reorders {
    /// All variants.
    pub const ALL: [Reorders; 3] = [Reorders::Threads, Reorders::Tasks, Reorders::Components];

    /// Returns the word of the option.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Reorders::Threads => "threads",
            Reorders::Tasks => "tasks",
            Reorders::Components => "components",
        }
    }

    /// Returns whether tasks of one handler may be reordered.
    #[must_use]
    pub const fn tasks(self) -> bool {
        matches!(self, Reorders::Tasks | Reorders::Components)
    }
}

/// Limits on the search for a witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConfirmOptions {
    /// The events that may be reordered.
    pub reorders: Reorders,
    /// The most events before the first action that may be reordered. Earlier events happen as
    /// recorded. 0 means no bound.
    pub window: u64,
    /// The most conflicts that the order solver may have for one candidate.
    pub conflicts: u64,
}

impl Default for ConfirmOptions {
    fn default() -> ConfirmOptions {
        ConfirmOptions { reorders: Reorders::Threads, window: 1 << 20, conflicts: 20_000 }
    }
}

/// Counts of the search so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConfirmStats {
    /// Visited events, counted at each visit. This is the cost of the search except for conflicts.
    /// Equal calls give equal numbers.
    pub events: u64,
    /// Windows searched, for each form.
    pub windows: u64,
    /// Windows of which a closed set in the order of the trace is the answer.
    pub closed: u64,
    /// Calls of the order solver.
    pub rounds: u64,
    /// Clauses given to the order solver.
    pub clauses: u64,
    /// Conflicts of the order solver.
    pub conflicts: u64,
}

/// Searches for witnesses in a trace.
pub struct Confirmer<'t> {
    pub(super) options: ConfirmOptions,
    pub(super) scale: Scale,
    pub(super) past: Past<'t>,
    replay: Replay,
    pub(super) required: Reach,
    optional: Reach,
    window: Window,
    pub(super) task_pairs: TaskPairs,
    /// The clocks of the trace, once they were asked for; `None` if they need too much memory.
    closures: Option<Option<Rc<Closures>>>,
    signals: Option<Rc<Signals>>,
    /// The most numbers that [`Signals`] may take.
    pub(super) signals_max: usize,
    pub(super) in_order: InOrder,
    left: Left,
    pub(super) sabotage: Sabotage,
}

/// What is left of [`Scale::trimmed_max`] and [`Scale::shortened_max`].
#[derive(Debug)]
struct Left {
    trimmed: u64,
    shortening: u64,
}

impl fmt::Debug for Confirmer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Confirmer").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The thresholds at which the search changes its strategy.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    /// Events before the first action in the first window. Each further window is eight times as
    /// long.
    pub first_window: u32,
    /// The least distance between two positions at which windows may begin.
    pub grain: u32,
    /// After a first witness, the search tries windows up to this one for a stronger form.
    pub stronger_max: u32,
    /// If the window begins after this position, a witness keeps all events before the window.
    pub prefix_max: u32,
    /// Once all witnesses together have so many events, further ones keep what comes before their
    /// windows, if these begin after the length of the first window.
    pub trimmed_max: u64,
    /// So many events are in the sets that are tried to find shorter witnesses, for all together.
    pub shortened_max: u64,
}

pub(super) const GROWTH: u32 = 8;

impl Default for Scale {
    fn default() -> Scale {
        Scale {
            first_window: 1 << 10,
            grain: 1 << 10,
            stronger_max: 1 << 16,
            prefix_max: 1 << 17,
            trimmed_max: 1 << 22,
            shortened_max: 1 << 21,
        }
    }
}

impl<'t> Confirmer<'t> {
    /// Prepares the search. Linear in the trace.
    #[must_use]
    pub fn new(
        trace: &'t Trace,
        communication: &'t mut dyn Communication,
        options: ConfirmOptions,
    ) -> Confirmer<'t> {
        Confirmer::with_scale(trace, communication, options, Scale::default())
    }

    /// Works like [`new`](Self::new). Once the job is stopped, the search gives up on all pairs.
    #[must_use]
    pub fn new_until(
        trace: &'t Trace,
        communication: &'t mut dyn Communication,
        options: ConfirmOptions,
        cancel: &Cancel,
    ) -> Confirmer<'t> {
        Confirmer::prepare((trace, cancel), communication, options, Scale::default())
    }

    /// Works like [`new`](Self::new), for tests. With a small scale, small traces reach the cases
    /// that otherwise need large ones.
    #[doc(hidden)]
    #[must_use]
    pub fn with_scale(
        trace: &'t Trace,
        communication: &'t mut dyn Communication,
        options: ConfirmOptions,
        scale: Scale,
    ) -> Confirmer<'t> {
        Confirmer::prepare((trace, &Cancel::new()), communication, options, scale)
    }

    fn prepare(
        trace: (&'t Trace, &Cancel),
        communication: &'t mut dyn Communication,
        options: ConfirmOptions,
        scale: Scale,
    ) -> Confirmer<'t> {
        let past = Past::new(trace, communication, options.reorders, scale.grain);
        Confirmer {
            scale,
            options,
            replay: Replay::new(&past),
            past,
            required: Reach::default(),
            optional: Reach::default(),
            window: Window::default(),
            task_pairs: TaskPairs::default(),
            closures: None,
            signals: None,
            signals_max: SIGNALS_MAX,
            in_order: InOrder::default(),
            left: Left { trimmed: scale.trimmed_max, shortening: scale.shortened_max },
            sabotage: Sabotage::None,
        }
    }

    /// Returns the clocks of the trace, which closures need.
    pub(super) fn closures(&mut self, cancel: &Cancel) -> Option<Rc<Closures>> {
        if self.closures.is_none() {
            let signals = self.signals(cancel);
            let closures = Closures::new(&self.past, signals, cancel, self.sabotage).map(Rc::new);
            if closures.is_none() && cancel.reason().is_some() {
                return None;
            }
            self.closures = Some(closures);
        }
        self.closures.clone().flatten()
    }

    /// Returns the waits for signals of the trace.
    pub(super) fn signals(&mut self, cancel: &Cancel) -> Rc<Signals> {
        let most = self.signals_max;
        let new = || Rc::new(Signals::new(&self.past, most, cancel, self.sabotage));
        Rc::clone(self.signals.get_or_insert_with(new))
    }

    /// Counts visited events.
    pub(super) fn count_events(&mut self, events: u64) {
        self.replay.stats.events += events;
    }

    /// Puts a fault into the search for deadlocks.
    #[cfg(test)]
    #[must_use]
    pub fn with_fault(self, sabotage: Sabotage) -> Self {
        Confirmer { sabotage, ..self }
    }

    /// Bounds what waits for signals may take.
    #[cfg(test)]
    #[must_use]
    pub fn with_signals_max(self, signals_max: usize) -> Self {
        Confirmer { signals_max, ..self }
    }

    /// Returns the counts of the search so far.
    #[must_use]
    pub fn stats(&self) -> ConfirmStats {
        self.replay.stats
    }

    /// Searches for a witness for two actions, `first` before `second` in the trace.
    ///
    /// # Panics
    ///
    /// Panics when the trace does not have them in this order.
    pub fn confirm(&mut self, first: EventId, second: EventId, cancel: &Cancel) -> Answer {
        assert!(
            first < second && second.index() < self.past.trace.len(),
            "two events of the trace"
        );
        if self.past.is_cut {
            let is_stopped = cancel.reason().is_some();
            return Answer::Unconfirmed(if is_stopped { GaveUp::Stopped } else { GaveUp::Window });
        }
        let mut search = Search {
            pair: (first.0, second.0),
            states: [State::Open, State::Open, State::Open, State::Impossible],
            budget: Budget::new(self.options.conflicts),
            gave_up: GaveUp::Window,
            best: None,
            beginning: None,
        };
        if self.options.reorders.tasks()
            && let Some(tasks) = Overtaken::of(self.past.trace, first.0, second.0)
        {
            self.apply_task_pair(&mut search, tasks, cancel);
        }
        let mut back = self.scale.first_window;
        while !search.is_done() {
            let is_last = self.round(&mut search, back, cancel);
            if is_last {
                break;
            }
            back = back.saturating_mul(GROWTH);
            if search.best.is_some() && back > self.scale.stronger_max {
                break;
            }
        }
        match search.best {
            Some(witness) => Answer::Confirmed(witness),
            None if search.is_impossible() && search.budget.doubt => {
                Answer::Unconfirmed(GaveUp::Barrier)
            }
            // If the order decides which acquire a release belongs to, the question required more
            // than necessary.
            None if search.is_impossible() && !self.past.holding.is_ambiguous => Answer::Impossible,
            None => Answer::Unconfirmed(search.gave_up),
        }
    }

    /// Tries all open forms in a window that begins about `back` events before the first action.
    /// Returns whether it was the last window.
    fn round(&mut self, search: &mut Search, back: u32, cancel: &Cancel) -> bool {
        let (first, second) = search.pair;
        let mut is_last = back >= self.most() || back >= first;
        for (at, form) in Form::ALL.into_iter().enumerate() {
            match search.states[at] {
                State::Open => {}
                State::Impossible | State::GivenUp => continue,
                // Weaker forms are not tried.
                State::Found => break,
            }
            let question = Question::new(&self.past, (first, second), form);
            let (start, _) = self.start(&question, first, back);
            let beginning = search.beginning.clone().filter(|_| {
                back == self.scale.first_window && matches!(form, Form::Reversed | Form::Last)
            });
            let (start, end) = match beginning.and_then(|b| self.behind_beginning(&question, &b)) {
                Some((start, order)) => (start, End::Found(order)),
                None => (start, self.search_window(&mut search.budget, &question, start, cancel)),
            };
            match end {
                End::Found(order) => {
                    search.states[at] = State::Found;
                    let mut witness = self.witness(&question, (start, order), cancel);
                    witness.waits = self.waits_for_ever(&question, &witness);
                    witness.together = self.together(search, form, start, cancel);
                    search.best = Some(witness);
                    break;
                }
                End::None => {
                    search.states[at] = State::Impossible;
                    // The question did not constrain what the first action observes.
                    if form == Form::Reversed && !self.past.is_observer(first) {
                        search.states[1] = State::Impossible;
                    }
                    if form == Form::Last {
                        search.states[0] = State::Impossible;
                    }
                }
                End::Unclear => {}
                End::Conflicts => search.gave_up = GaveUp::Conflicts,
                End::Stopped => {
                    search.gave_up = GaveUp::Stopped;
                    return true;
                }
            }
        }
        is_last |= search.gave_up == GaveUp::Conflicts && search.budget.conflicts == 0;
        is_last
    }

    /// Returns the most events before the first action that may be reordered.
    fn most(&self) -> u32 {
        let most = u32::try_from(self.options.window).unwrap_or(u32::MAX);
        if most == 0 { u32::MAX } else { most }
    }

    /// Returns the start of the window of this length, and whether it is the last one.
    pub(super) fn start(&self, question: &Question, first: u32, back: u32) -> (u32, bool) {
        let is_last = back >= self.most() || back >= first;
        let wanted = question.start(&self.past).saturating_sub(back);
        let bound = first.saturating_sub(self.most());
        let start = self.past.holding.stop_before(wanted.max(bound));
        (if is_last && bound == 0 { 0 } else { start }, is_last)
    }

    /// Builds the witness of an order (without the tail) of events from `start` on, and searches
    /// for a shorter one.
    pub(super) fn witness(
        &mut self,
        question: &Question,
        found: (u32, Vec<u32>),
        cancel: &Cancel,
    ) -> Witness {
        let mut witness = self.trimmed(question, found, cancel);
        let left = &mut self.left.shortening;
        shorten(&self.past, question, &mut self.replay, &mut witness, (left, cancel));
        witness
    }

    /// Builds the witness of an order, without unnecessary events. Where witnesses are many and
    /// long, later ones keep what comes before their windows.
    pub(super) fn trimmed(
        &mut self,
        question: &Question,
        found: (u32, Vec<u32>),
        cancel: &Cancel,
    ) -> Witness {
        let prefix_max = match self.left.trimmed {
            0 => self.scale.prefix_max.min(self.scale.first_window),
            _ => self.scale.prefix_max,
        };
        let trimmed = trim(&self.past, &mut self.replay, question, found, (prefix_max, cancel));
        self.left.trimmed = self.left.trimmed.saturating_sub(trimmed.order.len() as u64);
        trimmed
    }

    /// Returns whether an order of events from `start` on, followed by the tail, breaks no rule.
    pub(super) fn replays(&mut self, question: &Question, start: u32, order: &[u32]) -> bool {
        self.broken(question, start, order).is_empty()
    }

    /// Returns the rules that such an order breaks.
    pub(super) fn broken(&mut self, question: &Question, start: u32, order: &[u32]) -> Vec<Clause> {
        self.replay.stats.events += order.len() as u64;
        self.replay.run(&self.past, question, start, order)
    }

    /// Returns whether a witness shows that the first action may wait for ever.
    fn waits_for_ever(&mut self, question: &Question, witness: &Witness) -> bool {
        let past = &self.past;
        if question.form != Form::CoEnabled
            || past.blocking.call_rules(question.first, false).count() == 0
        {
            return false;
        }
        let before = witness.order.len() - question.tail.len();
        let order: Vec<u32> = witness.order[..before].iter().map(|event| event.0).collect();
        let broken = self.replay.run(past, question, witness.prefix, &order);
        debug_assert!(broken.is_empty(), "it is a witness");
        self.window.bound(0, past.trace.len() as u32);
        self.window.bar(past, question);
        self.replay.stats.events += (past.trace.len() - question.first as usize) as u64;
        self.replay.is_lost(past, question.first, &|event| self.window.allows(event))
    }

    /// Returns whether some witness has both actions as possible next events, for two accesses of
    /// two handlers that have a witness of some form, which begins in a window. The search has
    /// conflicts of its own, so that it takes nothing from the stronger forms.
    fn together(&mut self, search: &Search, form: Form, start: u32, cancel: &Cancel) -> Together {
        let (first, second) = search.pair;
        let is_access = |event| self.past.op(event).0.kind().is_access();
        let handler = |event| self.past.trace.handler_of(EventId(event));
        if form == Form::CoEnabled {
            return Together::Yes;
        }
        if !is_access(first) || !is_access(second) || handler(first) == handler(second) {
            return Together::Undecided;
        }
        let mut budget = Budget::new(self.options.conflicts);
        let question = Question::new(&self.past, (first, second), Form::CoEnabled);
        match self.search_window(&mut budget, &question, start, cancel) {
            End::Found(_) => Together::Yes,
            End::None if !budget.doubt && !self.past.holding.is_ambiguous => Together::No,
            _ => Together::Undecided,
        }
    }

    /// Searches one window for one form.
    pub(super) fn search_window(
        &mut self,
        Budget { conflicts, doubt }: &mut Budget,
        question: &Question,
        start: u32,
        cancel: &Cancel,
    ) -> End {
        if cancel.reason().is_some() {
            return End::Stopped;
        }
        self.replay.stats.windows += 1;
        let past = &self.past;
        if let Err(why) = self.required.require(past, question, start, &[]) {
            *doubt |= why == Excluded::Barrier;
            return End::None;
        }
        let len = past.trace.len() as u32;
        let last = self.required.events.iter().max().copied().unwrap_or(start);
        let last = last.max(question.second);
        let slack = (question.first - start).saturating_add(self.scale.first_window);
        let end = if start == 0 { len } else { len.min(last.saturating_add(slack)) };
        let fixed = start <= past.holding.overlap().min(past.first_doubt);
        let (replay, window) = (&mut self.replay, &mut self.window);
        window.bound(start, end);
        let outside = OutsideEvents::Fixed;
        let required = &self.required;
        let input = AttemptInput { past, question, window, required, optional: required, outside };
        let (order, broken) = input.replay(replay);
        if broken.is_empty() {
            return if fixed { End::Found(order) } else { End::Unclear };
        }
        if fixed && let Some(order) = self.closed_order(question, start, cancel) {
            self.replay.stats.closed += 1;
            return End::Found(order);
        }
        let past = &self.past;
        let (replay, window) = (&mut self.replay, &mut self.window);
        let required = &self.required;
        let input = AttemptInput { past, question, window, required, optional: required, outside };
        // From here on, an event excluded because of a barrier could have helped.
        *doubt |= past.first_doubt != NONE;
        if fixed {
            match input.attempt(broken.clone(), replay, conflicts, cancel) {
                End::None | End::Unclear => {}
                end => return end,
            }
        }
        window.bar(past, question);
        replay.stats.events += u64::from(end - question.first);
        self.optional.copy_from(past, &self.required);
        self.optional.complete(past, question, cancel, &|event| window.allows(event));
        let is_whole = start == 0 && end == len;
        let optional = &self.optional;
        let input = AttemptInput { past, question, window, required, optional, outside };
        let mut found = End::Unclear;
        if fixed {
            found = input.attempt(broken.clone(), replay, conflicts, cancel);
            if found == End::None && !is_whole {
                found = End::Unclear;
            }
        }
        if found == End::Unclear && !is_whole {
            let input = AttemptInput { outside: OutsideEvents::Open, ..input };
            found = input.attempt(broken, replay, conflicts, cancel);
        }
        found
    }
}
