//! The search for one witness after another in one trace.

use super::answer::{Answer, Form, GaveUp, Witness};
use super::attempt::{Beyond, End, Shared};
use super::chains::NONE;
use super::past::Past;
use super::question::{Overtaken, Question};
use super::reach::{Behind, Reach};
use super::replay::Replay;
use super::shorten::shorten;
use super::trim::trim;
use super::window::Window;
use crate::communication::Communication;
use anyorder_system::Cancel;
use anyorder_trace::{EventId, Trace};
use std::fmt;

/// What may be reordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reorders {
    /// Events of different handlers; the tasks of one handler stay in the order observed.
    #[default]
    Threads,
    /// Tasks of one handler as well, as its mailbox allows.
    Tasks,
}

/// How hard to look for a witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConfirmOptions {
    /// What may be reordered.
    pub reorders: Reorders,
    /// How many events before the first action are looked at; what lies before them happens as it did. 0 is no bound.
    pub window: u64,
    /// How many conflicts the order solver may have for one candidate.
    pub conflicts: u64,
}

impl Default for ConfirmOptions {
    fn default() -> ConfirmOptions {
        ConfirmOptions { reorders: Reorders::Threads, window: 1 << 20, conflicts: 20_000 }
    }
}

/// What the search did so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConfirmStats {
    /// Events looked at, each as often as it was: what the search costs, but for conflicts. Equal calls give equal numbers.
    pub events: u64,
    /// Windows, for each form.
    pub windows: u64,
    /// Calls of the order solver.
    pub rounds: u64,
    /// Clauses given to it.
    pub clauses: u64,
    /// Its conflicts.
    pub conflicts: u64,
}

/// Looks for witnesses in a trace.
pub struct Confirmer<'t> {
    trace: &'t Trace,
    communication: &'t dyn Communication,
    options: ConfirmOptions,
    scale: Scale,
    past: Past,
    replay: Replay,
    required: Reach,
    optional: Reach,
    window: Window,
    stats: ConfirmStats,
}

impl fmt::Debug for Confirmer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Confirmer").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Where the search changes its ways.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    /// Events before the first action in the first window; each further one is eight times as long.
    pub first_window: u32,
    /// The least distance of two positions at which windows may begin.
    pub grain: u32,
    /// With a witness at hand, a stronger one is looked for in windows up to this one.
    pub stronger_max: u32,
    /// Witnesses whose window begins farther behind keep all that lies before it.
    pub prefix_max: u32,
}

const GROWTH: u32 = 8;

impl Default for Scale {
    fn default() -> Scale {
        Scale { first_window: 1 << 10, grain: 1 << 10, stronger_max: 1 << 16, prefix_max: 1 << 17 }
    }
}

/// What became of one form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Open,
    Impossible,
    Found,
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

    /// The same, for tests: a small scale shows with small traces what else only large ones would.
    #[doc(hidden)]
    #[must_use]
    pub fn with_scale(
        trace: &'t Trace,
        communication: &'t mut dyn Communication,
        options: ConfirmOptions,
        scale: Scale,
    ) -> Confirmer<'t> {
        let past = Past::new(trace, communication, options.reorders, scale.grain);
        Confirmer {
            scale,
            trace,
            communication,
            options,
            replay: Replay::new(trace, &past),
            past,
            required: Reach::default(),
            optional: Reach::default(),
            window: Window::default(),
            stats: ConfirmStats::default(),
        }
    }

    /// Returns what the search did so far.
    #[must_use]
    pub fn stats(&self) -> ConfirmStats {
        self.stats
    }

    /// Looks for a witness for two actions, `first` before `second` in the trace.
    ///
    /// # Panics
    ///
    /// Panics when the trace does not have them in this order.
    pub fn confirm(&mut self, first: EventId, second: EventId, cancel: &Cancel) -> Answer {
        assert!(first < second && second.index() < self.trace.len(), "two events of the trace");
        if self.past.is_cut {
            return Answer::Unconfirmed(GaveUp::Window);
        }
        let may_overtake = self.options.reorders == Reorders::Tasks
            && Overtaken::of(self.trace, first.0, second.0).is_some();
        let overtakes = if may_overtake { State::Open } else { State::Impossible };
        let mut search = Search {
            pair: (first.0, second.0),
            states: [State::Open, State::Open, State::Open, overtakes],
            conflicts: self.options.conflicts,
            gave_up: GaveUp::Window,
            best: None,
            doubt: false,
        };
        let mut back = self.scale.first_window;
        loop {
            let is_last = self.round(&mut search, back, cancel);
            if search.is_done() || is_last {
                break;
            }
            back = back.saturating_mul(GROWTH);
            if search.best.is_some() && back > self.scale.stronger_max {
                break;
            }
        }
        match search.best {
            Some(witness) => Answer::Confirmed(witness),
            None if search.is_impossible() && search.doubt => Answer::Unconfirmed(GaveUp::Barrier),
            // Where it depends on the order which acquire a release belongs to, more was asked than had to be.
            None if search.is_impossible() && !self.past.holding.is_ambiguous => Answer::Impossible,
            None => Answer::Unconfirmed(search.gave_up),
        }
    }

    /// Tries all forms that are open in a window that begins about `back` events before the first action. Returns whether it was
    /// the last window.
    fn round(&mut self, search: &mut Search, back: u32, cancel: &Cancel) -> bool {
        let (first, second) = search.pair;
        let most = u32::try_from(self.options.window).unwrap_or(u32::MAX);
        let most = if most == 0 { u32::MAX } else { most };
        let is_last = back >= most || back >= first;
        for (at, form) in Form::ALL.into_iter().enumerate() {
            match search.states[at] {
                State::Open => {}
                State::Impossible => continue,
                // What is weaker is not asked.
                State::Found => break,
            }
            let question = Question::new(self.trace, &self.past, (first, second), form);
            let wanted = question.start(&self.past).saturating_sub(back);
            let bound = first.saturating_sub(most);
            let start = self.past.holding.stop_before(wanted.max(bound));
            let start = if is_last && bound == 0 { 0 } else { start };
            self.stats.windows += 1;
            match self.look(search, &question, start, cancel) {
                End::Found(order) => {
                    search.states[at] = State::Found;
                    let mut witness = trim(
                        (self.trace, &self.past, self.communication),
                        &mut self.replay,
                        &question,
                        (start, order),
                        self.scale.prefix_max,
                        &mut self.stats,
                    );
                    let shared = Shared {
                        trace: self.trace,
                        past: &self.past,
                        communication: self.communication,
                        question: &question,
                        required: &self.required,
                    };
                    let (replay, stats) = (&mut self.replay, &mut self.stats);
                    shorten(shared, replay, &mut witness, stats, cancel);
                    witness.waits = self.waits_for_ever(&question, &witness);
                    witness.apart = self.is_apart(search, form, start, cancel);
                    search.best = Some(witness);
                    break;
                }
                End::None => {
                    search.states[at] = State::Impossible;
                    // Nothing of what the first action observes was asked.
                    if form == Form::Reversed && !self.past.is_observer(self.trace, EventId(first))
                    {
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
        is_last || (search.gave_up == GaveUp::Conflicts && search.conflicts == 0)
    }

    /// Returns whether a witness shows that the first action may wait for ever.
    fn waits_for_ever(&mut self, question: &Question, witness: &Witness) -> bool {
        let past = &self.past;
        if question.form != Form::CoEnabled
            || past.blocking.asked(question.first, false).count() == 0
        {
            return false;
        }
        let before = witness.order.len() - question.tail.len();
        let order: Vec<u32> = witness.order[..before].iter().map(|event| event.0).collect();
        let all = (self.trace, past, self.communication);
        let broken = self.replay.run(all, question, witness.prefix, &order);
        debug_assert!(broken.is_empty(), "it is a witness");
        self.window.bound(0, self.trace.len() as u32);
        self.window.bar(past, question);
        self.stats.events += (self.trace.len() - question.first as usize) as u64;
        self.replay.is_lost(past, question.first, &|event| self.window.allows(event))
    }

    /// Returns whether two accesses with a witness of another form have none in which both are next.
    fn is_apart(&mut self, search: &mut Search, form: Form, start: u32, cancel: &Cancel) -> bool {
        let (first, second) = search.pair;
        let is_access = |event| self.trace.event(EventId(event)).kind().is_access();
        if self.past.blocking.is_empty()
            || !matches!(form, Form::Reversed | Form::Last)
            || !is_access(first)
            || !is_access(second)
        {
            return false;
        }
        let doubt = std::mem::take(&mut search.doubt);
        let question = Question::new(self.trace, &self.past, (first, second), Form::CoEnabled);
        let end = self.look(search, &question, start, cancel);
        let is_proved = !search.doubt && !self.past.holding.is_ambiguous;
        search.doubt |= doubt;
        end == End::None && is_proved
    }

    /// Looks at one window for one form.
    fn look(
        &mut self,
        search: &mut Search,
        question: &Question,
        start: u32,
        cancel: &Cancel,
    ) -> End {
        let past = &self.past;
        if let Err(why) = self.required.require(past, question, start, &[]) {
            search.doubt |= why == Behind::Barrier;
            return End::None;
        }
        let len = self.trace.len() as u32;
        let last = self.required.events.iter().max().copied().unwrap_or(start);
        let last = last.max(question.second);
        let slack = (question.first - start).saturating_add(self.scale.first_window);
        let end = if start == 0 { len } else { len.min(last.saturating_add(slack)) };
        let fixed = start <= past.holding.overlap().min(past.first_doubt);
        let (replay, stats, window) = (&mut self.replay, &mut self.stats, &mut self.window);
        let shared = Shared {
            trace: self.trace,
            past,
            communication: self.communication,
            question,
            required: &self.required,
        };
        window.bound(start, end);
        let ground = shared.ground(window, &self.required, Beyond::Fixed);
        let (order, broken) = ground.replay(replay, stats);
        if broken.is_empty() {
            return if fixed { End::Found(order) } else { End::Unclear };
        }
        // From here on, what is left out because it rests on a barrier could have helped.
        search.doubt |= past.first_doubt != NONE;
        if fixed {
            match ground.attempt(broken.clone(), replay, stats, &mut search.conflicts, cancel) {
                End::None | End::Unclear => {}
                end => return end,
            }
        }
        window.bar(past, question);
        stats.events += u64::from(end - question.first);
        self.optional.copy_from(past, &self.required);
        self.optional.complete((self.trace, past), question, cancel, &|event| window.allows(event));
        let is_whole = start == 0 && end == len;
        let mut found = End::Unclear;
        if fixed {
            let ground = shared.ground(window, &self.optional, Beyond::Fixed);
            found = ground.attempt(broken.clone(), replay, stats, &mut search.conflicts, cancel);
            if found == End::None && !is_whole {
                found = End::Unclear;
            }
        }
        if found == End::Unclear && !is_whole {
            let ground = shared.ground(window, &self.optional, Beyond::Open);
            found = ground.attempt(broken, replay, stats, &mut search.conflicts, cancel);
        }
        found
    }
}

/// The search for one candidate.
struct Search {
    pair: (u32, u32),
    states: [State; 4],
    conflicts: u64,
    gave_up: GaveUp,
    best: Option<Witness>,
    /// Whether something was left out because it rests on a barrier of which too little is known.
    doubt: bool,
}

impl Search {
    fn is_impossible(&self) -> bool {
        self.states.iter().all(|state| *state == State::Impossible)
    }

    /// Returns whether no window can bring more: the strongest form that is possible was found.
    fn is_done(&self) -> bool {
        self.states.iter().find(|state| **state != State::Impossible) != Some(&State::Open)
    }
}
