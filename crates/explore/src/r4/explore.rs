//! The exploration as a whole.

use super::ancestors::Ancestors;
use super::candidate::{Config, NoRun, RunResult};
use super::conclude::conclude;
use super::confirm::confirm;
use super::dependence::{Analyzer, Graph, class, sequence_hash};
use super::names::{NameCache, Names, TaskId};
use super::options::{Order, ReversalOptions, UserEvents};
use super::outcome::{Error, Limit, Outcome};
use super::pool::{Answer, Job, RunPool, Shared, answer, make, start};
use super::recording::{Recording, record};
use super::reversal::{Pair, Plan, plans};
use super::run_records::{LostPlan, Node, RunRecords};
use super::sabotage::Sabotage;
use super::step::Steps;
use super::store::RunId;
use super::verdict::{ComparedRun, compare};
use super::waiting::{self, Awaiting};
use crate::systems::Systems;
use anyorder_system::{Control, JobWatch, ProgramIdentity, RunError, SystemFactory, TaskSystem};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

/// Explores a program from one run of it. See the module's documentation, and `docs/r4.md`.
///
/// The result depends only on the program and the options, not on the number of workers, as long as
/// the program is deterministic.
///
/// # Errors
///
/// Fails if the program does not report accesses, cannot be started, or gives no first run. Later
/// errors are part of the outcome.
pub fn explore<F>(
    factory: &F,
    options: &ReversalOptions,
    control: &Control<'_>,
) -> Result<Outcome, Error>
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    explore_any(factory, options, control)
}

pub(crate) fn explore_any(
    factory: &dyn Systems,
    options: &ReversalOptions,
    control: &Control<'_>,
) -> Result<Outcome, Error> {
    let _entered = JobWatch::of(control).enter();
    let names = Arc::new(Names::default());
    let mut driver = make(factory, &names).map_err(start_error)?;
    let program = driver.system.program().clone();
    let recording = record(&mut driver, options, control)?;
    let shared = Shared { config: &recording.config, control, names, ended: AtomicU64::new(0) };
    if options.workers <= 1 {
        let mut pool = |jobs: Vec<Job>| {
            jobs.iter().flat_map(|job| answer(&mut driver, &shared, job)).collect()
        };
        return Ok(Exploration::begin(&recording, program, &mut pool, (options, &shared)).run());
    }
    drop(driver);
    let outcome = std::thread::scope(|scope| {
        let mut pool = start(scope, factory, &shared, options.workers)?;
        Some(Exploration::begin(&recording, program.clone(), &mut pool, (options, &shared)).run())
    });
    if let Some(outcome) = outcome {
        return Ok(outcome);
    }
    // Not one thread could be started. Results do not depend on their number.
    explore_any(factory, &ReversalOptions { workers: 1, ..options.clone() }, control)
}

fn start_error(error: RunError) -> Error {
    match error {
        RunError::Stopped(reason) => Error::Stopped(reason),
        error => Error::Start(error.to_string()),
    }
}

/// An exploration in progress.
pub(crate) struct Exploration<'a> {
    pub(crate) options: &'a ReversalOptions,
    pub(crate) control: &'a Control<'a>,
    pub(crate) config: &'a Config,
    pub(crate) program: ProgramIdentity,
    pub(crate) name_cache: NameCache,
    pool: &'a mut RunPool<'a>,
    analyzer: Analyzer,
    pub(crate) records: RunRecords,
    /// No pair is left to reverse.
    pub(crate) exhausted: bool,
    /// All sequences of so many reversals were run.
    pub(crate) depth_complete: u32,
    /// The known waits of tasks; only without a bound.
    pub(crate) awaiting: Awaiting,
    /// With a bound: waits of tasks may allow further orders, which conflicts do not show.
    pub(crate) waits: bool,
    /// The next number for a run whose states are not saved.
    pub(crate) next_run: u64,
}

impl<'a> Exploration<'a> {
    fn begin(
        recording: &'a Recording,
        program: ProgramIdentity,
        pool: &'a mut RunPool<'a>,
        (options, shared): (&'a ReversalOptions, &'a Shared<'a>),
    ) -> Exploration<'a> {
        let Recording { ran, planned, config, attempts, executed, awaits } = recording;
        let mut exploration = Exploration {
            options,
            control: shared.control,
            config,
            program,
            name_cache: NameCache::new(shared.names.clone()),
            pool,
            analyzer: Analyzer::default(),
            records: RunRecords::default(),
            exhausted: false,
            depth_complete: 0,
            awaiting: Awaiting::default(),
            waits: !awaits,
            next_run: 1 << 40,
        };
        exploration.analyzer.sabotage = options.sabotage();
        exploration.name_cache.catch_up();
        let class = exploration.class(&ran.steps);
        let sequence_hash = sequence_hash(&exploration.name_cache, &ran.steps);
        let records = &mut exploration.records;
        let observation = records.observations.add(ran.observation.clone());
        let node = Node { cut: ran.cut, observation, sequence_hash, ..Node::default() };
        let planned: FxHashSet<TaskId> = planned.iter().copied().collect();
        let id = records.add(node, class, (&ran.steps, None), (&planned, &ran.skipped));
        records.planned.insert(sequence_hash, id);
        records.counts.executions = 1;
        records.counts.tasks = ran.steps.len() as u64;
        records.counts.all_tasks = *executed;
        records.counts.retries = attempts - 1;
        if options.bound.is_none() && !awaits {
            records.limits.insert(Limit::Waiting);
        }
        exploration.awaiting.learn(&ran.awaited);
        exploration.note_alternatives(ran);
        exploration
    }

    fn run(mut self) -> Outcome {
        match (self.options.bound, self.options.order) {
            (None, _) => self.exhaustive(),
            (Some(bound), Order::Levels) => self.levels(bound),
            (Some(bound), Order::DepthFirst) => self.depth_first(bound),
        }
        if self.options.user_events == UserEvents::Free {
            self.same_inputs();
        }
        self.swaps();
        conclude(self)
    }

    /// Explores by levels, up to the bound.
    fn levels(&mut self, bound: u32) {
        let mut frontier: Vec<RunId> = vec![0];
        let mut known = 1;
        for depth in 0..bound {
            let more = self.level(&frontier, depth);
            let count = self.records.nodes.len();
            let known = std::mem::replace(&mut known, count);
            let of_level: Vec<RunId> = (0..).take(count).skip(known).collect();
            confirm(self, &of_level);
            if !self.is_ended() {
                self.depth_complete = depth + 1;
            }
            if more.is_empty() || self.is_ended() {
                self.exhausted = !self.is_ended();
                return;
            }
            frontier = more;
        }
    }

    /// Returns the dependence of a run.
    pub(crate) fn graph(&mut self, steps: &Steps) -> Graph {
        self.analyzer.graph(steps, &self.name_cache, &self.config.inputs)
    }

    /// Returns the hash of the class of a run.
    pub(crate) fn class(&mut self, steps: &Steps) -> u128 {
        class(&self.graph(steps), steps, &self.name_cache)
    }

    /// Returns the plans of a run.
    pub(crate) fn reversals(&mut self, steps: &Steps, graph: &Graph) -> Vec<Plan> {
        let (most, sabotage) = (self.options.alternatives_max.max(1), self.options.sabotage());
        let ancestors = Ancestors::of(graph);
        let names = (&mut self.name_cache, &self.config.inputs);
        let delays = self.options.patient_user && self.options.bound.is_some();
        let mut found = plans(steps, (graph, &ancestors), names, (most, delays), sabotage);
        if self.options.bound.is_none() && sabotage != Sabotage::NoWaiting {
            found.extend(waiting::plans(steps, &ancestors, &self.awaiting));
        }
        found
    }

    /// Records whether other orders of tasks exist because of a third task's wait; with a bound
    /// they are not explored. One occurrence is enough.
    pub(crate) fn note_waiting(&mut self, steps: &Steps, graph: &Graph) {
        if !self.waits && waiting::any(steps, &Ancestors::of(graph), &self.awaiting) {
            self.waits = true;
            self.config.asks_waits.store(false, Ordering::Relaxed);
        }
    }

    /// Executes runs, and records attempts that were lost and stops.
    pub(crate) fn execute(&mut self, jobs: Vec<Job>) -> Vec<Answer> {
        let answers = (self.pool)(jobs);
        self.name_cache.catch_up();
        for answer in &answers {
            self.records.counts.retries += answer.attempts.saturating_sub(1);
            self.records.counts.all_tasks += answer.executed;
            match answer.result {
                Err(NoRun::Stopped(reason)) => {
                    self.records.limits.insert(Limit::Stopped(reason));
                }
                Err(NoRun::Spent) => {
                    self.records.limits.insert(Limit::Budget);
                }
                _ => {}
            }
        }
        answers
    }

    /// Records a plan that never became a run.
    pub(crate) fn lose(&mut self, parent: Option<RunId>, pair: Pair, error: String) {
        self.records.counts.lost += 1;
        self.records.limits.insert(Limit::Lost);
        self.records.lost.push(LostPlan { parent, pair, error });
    }

    /// Compares a run with its parent, given the steps of both.
    pub(crate) fn compare(&mut self, id: RunId, steps: &Steps, of_parent: &Steps) {
        let node = &self.records.nodes[id as usize];
        let (Some(parent), Some(pair)) = (node.parent, node.pair) else { return };
        let [child, parent] = [(id, steps), (parent, of_parent)].map(|(id, steps)| {
            let (hash, observation) = self.records.observation(id);
            ComparedRun { steps, observation, hash }
        });
        let rest = (&self.name_cache, &self.config.inputs, self.options);
        let comparison = compare(&parent, &child, pair, rest);
        self.records.nodes[id as usize].comparison = Some(comparison);
    }

    /// Records alternatives that are not run.
    pub(crate) fn note_alternatives(&mut self, ran: &RunResult) {
        if ran.more_alternatives {
            self.records.limits.insert(Limit::Alternatives);
        }
    }

    /// Reports progress. Returns false once the job was stopped.
    pub(crate) fn step(&mut self, done: u64) -> bool {
        let stopped = self.control.step(done, None).err();
        self.records.limits.extend(stopped.map(|stopped| Limit::Stopped(stopped.0)));
        stopped.is_none()
    }

    /// The same for planned runs. Returns false, too, once the budget is spent.
    pub(crate) fn goes_on(&mut self, done: u64) -> bool {
        if self.config.is_spent() {
            self.records.limits.insert(Limit::Budget);
        }
        self.step(done) && !self.is_ended()
    }

    /// Returns the number of runs, repeated ones included, after which no further run is planned. A
    /// tenth of the limit is left to confirm what they show.
    pub(crate) fn planned_max(&self) -> u64 {
        let Some(most) = self.control.limits.executions else { return u64::MAX };
        if !self.options.confirm {
            return most;
        }
        most - (most / 10).max(2).min(most.saturating_sub(1))
    }

    /// Returns whether the memory limit leaves room for more bytes.
    pub(crate) fn has_room(&mut self, bytes: u64) -> bool {
        let used = self.records.memory_bytes() + self.name_cache.names.kept_bytes();
        let exceeded = self.control.limits.memory_exceeded(used, bytes);
        self.records.limits.extend(exceeded.then_some(Limit::Memory));
        !exceeded
    }

    /// Returns whether no further run is planned: because of a limit, or of the budget.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_stopped() || self.records.limits.contains(&Limit::Budget)
    }

    /// Returns whether a limit ends the exploration.
    pub(crate) fn is_stopped(&self) -> bool {
        self.records.limits.iter().any(|limit| match limit {
            Limit::Alternatives | Limit::Waiting | Limit::Budget => false,
            Limit::Steps | Limit::Lost => self.records.counts.lost > self.options.lost_max,
            _ => true,
        })
    }
}
