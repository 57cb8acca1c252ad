//! The exploration as a whole.

use super::candidate::RunResult;
use super::conclude::conclude;
use super::confirm::confirm;
use super::dependence::{Analyzer, Graph};
use super::driver::{Driver, sequence_hash};
use super::names::{NameCache, Names, TaskId};
use super::options::{Inputs, Options, Order};
use super::outcome::{Error, Limit, Outcome};
use super::pool::{InlinePool, RunPool, Shared, ThreadPool, first};
use super::recording::{Recording, record};
use super::reversal::{Ancestors, Plan, plans};
use super::run_records::{NewNode, RunRecords, analyze};
use super::sabotage::Sabotage;
use super::step::ExecutedStep;
use super::store::RunId;
use super::waiting::{self, Awaiting};
use anyorder_system::{Control, Program, SystemFactory, TaskSystem};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Explores a program from one run of it. See the module's documentation, and `docs/r4.md`.
///
/// The result depends only on the program and the options, not on the number of workers, as long as
/// the program is deterministic.
///
/// # Errors
///
/// Fails if the program does not report accesses, cannot be started, or gives no first run. Later
/// errors are part of the outcome.
pub fn explore<F>(factory: &F, options: &Options, control: &Control<'_>) -> Result<Outcome, Error>
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    let names = Arc::new(Names::default());
    let mut driver = first(factory, &names)?;
    let program = driver.system().program().clone();
    let recording = record(&mut driver, options, control)?;
    let name_cache = NameCache::new(names.clone());
    let mut exploration = Exploration::begin(&recording, program, name_cache, options, control);
    let config = Arc::new(recording.config);
    let shared = Shared { config, control, names };
    if options.workers <= 1 {
        exploration.run(&mut InlinePool { driver, shared: &shared });
    } else {
        drop::<Driver<_>>(driver);
        std::thread::scope(|scope| {
            exploration.run(&mut ThreadPool::start(scope, factory, &shared, options.workers));
        });
    }
    Ok(conclude(exploration))
}

/// An exploration in progress.
pub(crate) struct Exploration<'a> {
    pub(crate) options: &'a Options,
    pub(crate) control: &'a Control<'a>,
    pub(crate) program: Program,
    pub(crate) name_cache: NameCache,
    pub(crate) inputs: Inputs,
    pub(crate) choices: FxHashMap<TaskId, anyorder_system::Choice>,
    pub(crate) analyzer: Analyzer,
    pub(crate) records: RunRecords,
    /// No pair is left to reverse.
    pub(crate) exhausted: bool,
    /// The known waits of tasks; only without a bound.
    pub(crate) awaiting: Awaiting,
    /// With a bound: waits of tasks may allow further orders, which conflicts do not show.
    pub(crate) waits: bool,
    asks_waits: Arc<AtomicBool>,
    /// The next number for a run whose states are not saved.
    pub(crate) next_run: u64,
}

impl<'a> Exploration<'a> {
    fn begin(
        recording: &Recording,
        program: Program,
        mut name_cache: NameCache,
        options: &'a Options,
        control: &'a Control<'a>,
    ) -> Exploration<'a> {
        name_cache.catch_up();
        let (mut records, mut analyzer) = (RunRecords::default(), Analyzer::default());
        analyzer.sabotage = options.sabotage();
        let (ran, config) = (&recording.ran, &recording.config);
        let (_, class) = analyze(&mut analyzer, &ran.steps, &name_cache, &config.inputs);
        let hash = sequence_hash(&name_cache, &ran.steps);
        let observation = records.observations.add(ran.observation.clone());
        let (parent, pair, depth, slept, cut) = (None, None, 0, false, ran.cut);
        let new = NewNode { parent, pair, depth, slept, cut, observation };
        let planned: FxHashSet<TaskId> = recording.planned.iter().copied().collect();
        let id = records.add(new, (&ran.steps, &[]), (&planned, &ran.skipped), (class, hash));
        records.planned.insert(records.nodes[id as usize].sequence_hash, id);
        records.counts.executions = 1;
        records.counts.tasks = ran.steps.len() as u64;
        records.counts.retries = recording.attempts - 1;
        records.note_cut(ran.cut);
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
            name_cache,
            analyzer,
            records,
            exhausted: false,
            next_run: 1 << 40,
        };
        exploration.note_alternatives(ran);
        if options.bound.is_none() && !recording.awaits {
            exploration.records.limits.insert(Limit::Waiting);
        }
        exploration
    }

    fn run(&mut self, pool: &mut dyn RunPool) {
        match (self.options.bound, self.options.order) {
            (None, _) => self.exhaustive(pool),
            (Some(bound), Order::Levels) => self.levels(pool, bound),
            (Some(bound), Order::DepthFirst) => self.depth_first(pool, bound),
        }
    }

    /// Explores by levels, up to the bound.
    fn levels(&mut self, pool: &mut dyn RunPool, bound: u32) {
        let mut frontier: Vec<RunId> = vec![0];
        let mut known = 1;
        for depth in 0..bound {
            let more = self.level(pool, &frontier, depth);
            let count = self.records.nodes.len();
            let known = std::mem::replace(&mut known, count);
            let of_level: Vec<RunId> = (0..).take(count).skip(known).collect();
            confirm(self, pool, &of_level);
            if more.is_empty() || self.is_stopped() {
                self.exhausted = !self.is_stopped();
                return;
            }
            frontier = more;
        }
    }

    /// Returns the plans of a run.
    pub(crate) fn reversals(&mut self, steps: &[Arc<ExecutedStep>], graph: &Graph) -> Vec<Plan> {
        let (most, sabotage) = (self.options.alternatives_max.max(1), self.options.sabotage());
        let ancestors = Ancestors::of(graph);
        let names = (&mut self.name_cache, &self.inputs);
        let mut found = plans(steps, (graph, &ancestors), names, most, sabotage);
        if self.options.bound.is_none() && sabotage != Sabotage::NoWaiting {
            found.extend(waiting::plans(steps, &ancestors, &self.awaiting));
        }
        found
    }

    /// Records whether other orders of tasks exist because of a third task's wait; with a bound
    /// they are not explored. One occurrence is enough.
    pub(crate) fn note_waiting(&mut self, steps: &[Arc<ExecutedStep>], graph: &Graph) {
        if !self.waits && waiting::any(steps, &Ancestors::of(graph), &self.awaiting) {
            self.waits = true;
            self.asks_waits.store(false, Ordering::Relaxed);
        }
    }

    /// Records alternatives that are not run.
    pub(crate) fn note_alternatives(&mut self, ran: &RunResult) {
        if ran.more_alternatives {
            self.records.limits.insert(Limit::Alternatives);
        }
    }

    /// Returns whether a limit ends the exploration.
    pub(crate) fn is_stopped(&self) -> bool {
        self.records.limits.iter().any(|limit| match limit {
            Limit::Alternatives | Limit::Waiting => false,
            Limit::Steps | Limit::Lost => self.records.counts.lost > self.options.lost_max,
            _ => true,
        })
    }
}
