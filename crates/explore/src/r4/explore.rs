//! The exploration as a whole.

use super::conclude::conclude;
use super::confirm::confirm;
use super::course::Ran;
use super::crew::{Alone, Crew, Shared, Team, first};
use super::dependence::{Analyzer, Graph};
use super::driver::{Driver, sequence_hash};
use super::ledger::{Ledger, NewNode, analyze};
use super::names::{Book, Names, TaskId};
use super::options::{Inputs, Options, Order};
use super::outcome::{Error, Limit, Outcome};
use super::record::{Recording, record};
use super::reversal::{Ancestors, Plan, plans};
use super::sabotage::Sabotage;
use super::step::Done;
use super::store::RunId;
use super::waiting::{self, Awaiting};
use anyorder_system::{Control, Program, SystemFactory, TaskSystem};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Explores a program from one run of it. See the module's documentation, and `docs/r4.md`.
///
/// The result depends on the program and the options only, not on the number of workers, as long as
/// the program is deterministic.
///
/// # Errors
///
/// Fails when the program does not tell accesses, cannot be started, or gives no run to begin with.
/// What goes wrong later is part of the outcome.
pub fn explore<F>(factory: &F, options: &Options, control: &Control<'_>) -> Result<Outcome, Error>
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    let names = Arc::new(Names::default());
    let mut driver = first(factory, &names)?;
    let program = driver.system().program().clone();
    let recording = record(&mut driver, options, control)?;
    let book = Book::new(names.clone());
    let mut exploration = Exploration::begin(&recording, program, book, options, control);
    let config = Arc::new(recording.config);
    let shared = Shared { config, control, names };
    if options.workers <= 1 {
        exploration.run(&mut Alone { driver, shared: &shared });
    } else {
        drop::<Driver<_>>(driver);
        std::thread::scope(|scope| {
            exploration.run(&mut Team::start(scope, factory, &shared, options.workers));
        });
    }
    Ok(conclude(exploration))
}

/// An exploration that goes on.
pub(crate) struct Exploration<'a> {
    pub(crate) options: &'a Options,
    pub(crate) control: &'a Control<'a>,
    pub(crate) program: Program,
    pub(crate) book: Book,
    pub(crate) inputs: Inputs,
    pub(crate) choices: FxHashMap<TaskId, anyorder_system::Choice>,
    pub(crate) analyzer: Analyzer,
    pub(crate) ledger: Ledger,
    /// Nothing is left to reverse.
    pub(crate) exhausted: bool,
    /// What tasks wait for, as far as it is known; only without a bound.
    pub(crate) awaiting: Awaiting,
    /// At a bound: there may be more orders than conflicts tell, because of what tasks wait for.
    pub(crate) waits: bool,
    asks_waits: Arc<AtomicBool>,
    /// For runs of which no states are kept.
    pub(crate) next_run: u64,
}

impl<'a> Exploration<'a> {
    fn begin(
        recording: &Recording,
        program: Program,
        mut book: Book,
        options: &'a Options,
        control: &'a Control<'a>,
    ) -> Exploration<'a> {
        book.catch_up();
        let (mut ledger, mut analyzer) = (Ledger::default(), Analyzer::default());
        analyzer.sabotage = options.sabotage();
        let (ran, config) = (&recording.ran, &recording.config);
        let (_, class) = analyze(&mut analyzer, &ran.steps, &book, &config.inputs);
        let hash = sequence_hash(&book, &ran.steps);
        let observation = ledger.observations.add(ran.observation.clone());
        let (parent, pair, depth, slept, cut) = (None, None, 0, false, ran.cut);
        let new = NewNode { parent, pair, depth, slept, cut, observation };
        let planned: FxHashSet<TaskId> = recording.planned.iter().copied().collect();
        let id = ledger.add(new, (&ran.steps, &[]), (&planned, &ran.skipped), (class, hash));
        ledger.planned.insert(ledger.nodes[id as usize].sequence_hash, id);
        ledger.counts.executions = 1;
        ledger.counts.tasks = ran.steps.len() as u64;
        ledger.counts.retries = recording.attempts - 1;
        ledger.note_cut(ran.cut);
        let mut awaiting = Awaiting::default();
        awaiting.learn(&ran.awaited);
        let mut exploration = Exploration {
            awaiting,
            waits: !recording.awaits,
            asks_waits: config.asks_waits.clone(),
            options,
            control,
            program,
            inputs: config.inputs.clone(),
            choices: config.choices.clone(),
            book,
            analyzer,
            ledger,
            exhausted: false,
            next_run: 1 << 40,
        };
        exploration.note_alternatives(ran);
        if options.bound.is_none() && !recording.awaits {
            exploration.ledger.limits.insert(Limit::Waiting);
        }
        exploration
    }

    fn run(&mut self, crew: &mut dyn Crew) {
        match (self.options.bound, self.options.order) {
            (None, _) => self.exhaustive(crew),
            (Some(bound), Order::Levels) => self.levels(crew, bound),
            (Some(bound), Order::DepthFirst) => self.depth_first(crew, bound),
        }
    }

    /// Goes on by levels, up to the bound.
    fn levels(&mut self, crew: &mut dyn Crew, bound: u32) {
        let mut frontier: Vec<RunId> = vec![0];
        let mut known = 1;
        for depth in 0..bound {
            let more = self.level(crew, &frontier, depth);
            let count = self.ledger.nodes.len();
            let known = std::mem::replace(&mut known, count);
            let of_level: Vec<RunId> = (0..).take(count).skip(known).collect();
            confirm(self, crew, &of_level);
            if more.is_empty() || self.is_stopped() {
                self.exhausted = !self.is_stopped();
                return;
            }
            frontier = more;
        }
    }

    /// Returns the plans of a run.
    pub(crate) fn reversals(&mut self, steps: &[Arc<Done>], graph: &Graph) -> Vec<Plan> {
        let (most, sabotage) = (self.options.alternatives_max.max(1), self.options.sabotage());
        let ancestors = Ancestors::of(graph);
        let names = (&mut self.book, &self.inputs);
        let mut found = plans(steps, (graph, &ancestors), names, most, sabotage);
        if self.options.bound.is_none() && sabotage != Sabotage::NoWaiting {
            found.extend(waiting::plans(steps, &ancestors, &self.awaiting));
        }
        found
    }

    /// Notes whether tasks of a run could be put in another order because of what a third waits
    /// for; at a bound they are not. Once is enough.
    pub(crate) fn note_waiting(&mut self, steps: &[Arc<Done>], graph: &Graph) {
        if !self.waits && waiting::any(steps, &Ancestors::of(graph), &self.awaiting) {
            self.waits = true;
            self.asks_waits.store(false, Ordering::Relaxed);
        }
    }

    /// Notes alternatives that are not run.
    pub(crate) fn note_alternatives(&mut self, ran: &Ran) {
        if ran.more_alternatives {
            self.ledger.limits.insert(Limit::Alternatives);
        }
    }

    /// Returns whether a limit ends the exploration.
    pub(crate) fn is_stopped(&self) -> bool {
        self.ledger.limits.iter().any(|limit| match limit {
            Limit::Alternatives | Limit::Waiting => false,
            Limit::Steps | Limit::Lost => self.ledger.counts.lost > self.options.lost_max,
            _ => true,
        })
    }
}
