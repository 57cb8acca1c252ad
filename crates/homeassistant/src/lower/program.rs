//! The program of some automations of a home.
//!
//! **Problem.** Input: automations and scripts, and what they read and write. Output: a program of
//! the machine that does what Home Assistant does with them, and lets anything come from outside.
//! **Source.** The behaviour of Home Assistant 2025.4, as measured.
//! **Guarantee.** Numbers are cut into ranges, and what is not known is any value, so it may invent
//! runs. It may hide runs in which things come from outside within the reaction to another, in
//! which devices answer late, and with more runs of one automation than `runs_max`.
//! **Shape.** Each state is a global. A change posts a message to the one mailbox; the message
//! calls the triggers in the order of the automations. A run goes on at once up to where it waits.

use super::assume::Assumed;
use super::bus::Bus;
use super::facts::Facts;
use super::outside::OutsideListener;
use super::scenario::Op as Step;
use super::table::Table;
use super::template::Templates;
use super::timers::Timer;
use super::tree::{EVALUATIONS_MAX, Tree, Trees};
use super::trigger::Listener;
use crate::place::{Place, Problem, Severity};
use crate::syntax::{Automation, Home, Mode};
use anyorder_program::{
    Component, ConstId, FuncId, FunctionBuilder, GlobalId, HandlerId, Literal, MailboxKind, Op,
    PostId, PostTarget, Program, ProgramBuilder, ProgramError,
};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The beginning of the name of the global that has what a call asks for, for a moment. So a call
/// that changes nothing is an update, too: somebody wants this value.
pub(crate) const CALL: &str = "call: ";

/// The counter of a run that begins.
pub(super) const START: i32 = 1;

/// How a program is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The automations and scripts, by their numbers in [`Home::automations`], in the order in
    /// which they hear of a change. Scripts that these call are added.
    pub parts: Vec<usize>,
    /// Whether the parts hear of a change in the reverse order. The states are the same.
    pub reversed: bool,
    /// The most runs of one automation that live or wait at once.
    pub runs_max: u32,
    /// The most turns of a loop with a count.
    pub turns_max: u32,
    /// What comes from outside, and when. `None`: anything, at any time.
    pub scenario: Option<Vec<Step>>,
    /// The states that matter besides those that are read; `None`: all.
    pub about: Option<Vec<String>>,
    /// Whether what cannot change the states of `about` is left out, and states that only
    /// conditions read are assumptions.
    pub reduced: bool,
    /// How changes reach those that wait for them.
    pub bus: Bus,
    /// First states, in the place of those that the table chooses.
    pub initial: BTreeMap<String, String>,
}

impl Options {
    /// Makes the options of some parts with anything from outside.
    #[must_use]
    pub fn of(parts: Vec<usize>) -> Options {
        Options {
            parts,
            reversed: false,
            runs_max: 2,
            turns_max: 3,
            scenario: None,
            about: None,
            reduced: true,
            bus: Bus::default(),
            initial: BTreeMap::new(),
        }
    }
}

/// A program, and what is known of it.
#[derive(Debug)]
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// Its states.
    pub table: Table,
    /// Its parts, by number in [`Home::automations`]: as asked for, then scripts.
    pub parts: Vec<usize>,
    /// What is not exact.
    pub problems: Vec<Problem>,
}

/// Why there is no program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LowerError {
    /// The machine has no room for so much.
    #[error("too large for the machine: {0}")]
    TooLarge(ProgramError),
}

/// A function that hears of changes, and its place in the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) func: FuncId,
    pub(super) rank: u32,
    /// The counter of a run and its value while it hears; `None` for what always does.
    pub(super) only: Option<(GlobalId, i32)>,
}

/// Where the run of an automation is, or a branch of it.
#[derive(Clone, Debug)]
pub(super) struct RunPlace {
    pub(super) pc: GlobalId,
    pub(super) step: FuncId,
    pub(super) resume: PostId,
    resume_body: FuncId,
    pub(super) seen: Option<[GlobalId; 4]>,
    pub(super) wait: GlobalId,
    /// Whether a branch of it has ended the run.
    pub(super) stopped: GlobalId,
    pub(super) caller: GlobalId,
}

/// An automation or a script in the program.
pub(super) struct Part<'h> {
    pub(super) automation: &'h Automation,
    pub(super) fire: FuncId,
    pub(super) start: FuncId,
    pub(super) cancel: FuncId,
    pub(super) runs: Vec<RunPlace>,
    pub(super) queue: Option<GlobalId>,
    pub(super) functions: Vec<FuncId>,
}

/// A step that waits for a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallOf {
    pub(super) caller: i32,
    pub(super) pc: GlobalId,
    pub(super) wait: i32,
    pub(super) resume: PostId,
}

/// An event that a step fires: its name, its data where it is known, and what it calls.
pub(super) type Fired = (String, Vec<(String, Option<String>)>, FuncId);

pub(super) struct Lower<'h> {
    pub(super) home: &'h Home,
    pub(super) b: ProgramBuilder,
    pub(super) options: Options,
    pub(super) table: Table,
    pub(super) times: Vec<i64>,
    pub(super) parts: Vec<Part<'h>>,
    pub(super) numbers: Vec<usize>,
    automations: &'h [Automation],
    pub(super) states: Vec<GlobalId>,
    pub(super) set: Vec<FuncId>,
    /// What a change of each state calls: of the old and new value.
    pub(super) tell: Vec<FuncId>,
    /// What a call asks for, for each state: only while it does.
    pub(super) wished: Vec<GlobalId>,
    /// Which part set a state last, for those that the search is about.
    pub(super) last: BTreeMap<usize, GlobalId>,
    /// The part whose code is made, or -1.
    pub(super) current: i32,
    pub(super) heard: Vec<Vec<Heard>>,
    pub(super) texts: BTreeMap<String, ConstId>,
    pub(super) pending: GlobalId,
    pub(super) running: GlobalId,
    pub(super) deadlines: GlobalId,
    pub(super) now: GlobalId,
    pub(super) target: GlobalId,
    pub(super) progress: GlobalId,
    pub(super) log: GlobalId,
    pub(super) clock: GlobalId,
    pub(super) timers: Vec<Timer>,
    pub(super) helper_timers: BTreeMap<String, i32>,
    pub(super) start_timer: FuncId,
    pub(super) stop_timer: FuncId,
    pub(super) ended: FuncId,
    /// What each part of a reaction calls at its end.
    pub(super) rest: FuncId,
    /// Whether states that only conditions read are assumptions.
    pub(super) assumes: bool,
    /// The assumed value of a state, by its number in the table.
    pub(super) given: BTreeMap<usize, Assumed>,
    pub(super) given_clock: Option<Assumed>,
    /// The assumed answers, by question.
    pub(super) unknowns: BTreeMap<String, Assumed>,
    /// What is asked again after a change of a state, by its number in the table.
    pub(super) forgets: BTreeMap<usize, BTreeSet<GlobalId>>,
    /// States that some part sets.
    pub(super) written: BTreeSet<String>,
    /// States whose changes start or wake some part.
    pub(super) woken: BTreeSet<String>,
    pub(super) has_alarms: bool,
    pub(super) calls: Vec<CallOf>,
    pub(super) inner: Vec<Vec<super::step::Body>>,
    pub(super) variables: Arc<BTreeMap<String, String>>,
    pub(super) handler: HandlerId,
    templates: Templates,
    ids: Vec<String>,
    entities: Vec<String>,
    /// The values that what a trigger of the current part brings is compared with.
    pub(super) data: Vec<String>,
    /// The name of the current part.
    pub(super) alias: String,
    pub(super) outside: BTreeMap<String, Vec<OutsideListener>>,
    pub(super) fired: Vec<Fired>,
    waits: u32,
    evaluations_left: Cell<usize>,
    pub(super) problems: Vec<Problem>,
    /// States that somebody reads or waits for.
    pub(super) read: BTreeSet<String>,
}

impl<'h> Lower<'h> {
    pub(super) fn new(
        home: &'h Home,
        options: Options,
        (numbers, automations): (Vec<usize>, &'h [Automation]),
        facts: &Facts,
    ) -> Lower<'h> {
        let mut b = ProgramBuilder::new("home");
        for name in &home.files {
            b.file(name);
        }
        let mut table = Table::new(home, facts);
        for (key, value) in &options.initial {
            if let Some(at) = table.get(key) {
                let values = &mut table.values[at];
                values.retain(|known| known != value);
                values.insert(0, value.clone());
            }
        }
        let handler = b.handler("home", MailboxKind::Fifo, None);
        let empty = || Literal::List(Vec::new());
        let pending = b.global("pending", Literal::Int(0));
        let running = b.global("timers", empty());
        let exact = options.scenario.is_some();
        let mut only_exact = |name: &str, literal: Literal| {
            if exact { b.global(name, literal) } else { pending }
        };
        let deadlines = only_exact("deadlines", empty());
        let now = only_exact("now", Literal::Int(0));
        let target = only_exact("until", Literal::Int(0));
        let progress = only_exact("progress", Literal::Int(0));
        let log = only_exact("log", empty());
        let mut times: Vec<i64> = facts.times.iter().copied().collect();
        if !times.is_empty() && times[0] != 0 {
            times.insert(0, 0);
        }
        let clock = b.global("time of day", Literal::Int(0));
        let states = table.keys.iter().zip(&table.values);
        let states = states.map(|(key, values)| {
            let first = values.first().cloned().unwrap_or_else(|| "unknown".to_owned());
            b.global(key, Literal::Str(first))
        });
        let states: Vec<GlobalId> = states.collect();
        let set = states.iter().map(|_| b.declare_function()).collect();
        let heard = states.iter().map(|_| Vec::new()).collect();
        let wished = table.keys.iter();
        let wished = wished.map(|key| b.global(&format!("{CALL}{key}"), Literal::Null)).collect();
        let about = |key: &String| options.about.as_ref().is_some_and(|about| about.contains(key));
        let mut last = BTreeMap::new();
        for (at, key) in table.keys.iter().enumerate().filter(|(_, key)| about(key)) {
            last.insert(at, b.global(&format!("last to set {key}"), Literal::Int(-1)));
        }
        let tell = table.keys.iter().map(|_| b.declare_function()).collect();
        let (start_timer, stop_timer) = (b.declare_function(), b.declare_function());
        let (ended, rest) = (b.declare_function(), b.declare_function());
        let assumes = options.scenario.is_none() && options.reduced;
        Lower {
            home,
            b,
            options,
            table,
            times,
            parts: Vec::new(),
            numbers,
            automations,
            states,
            set,
            tell,
            wished,
            last,
            current: -1,
            heard,
            texts: BTreeMap::new(),
            pending,
            running,
            deadlines,
            now,
            target,
            progress,
            log,
            clock,
            timers: Vec::new(),
            helper_timers: BTreeMap::new(),
            start_timer,
            stop_timer,
            ended,
            rest,
            assumes,
            given: BTreeMap::new(),
            given_clock: None,
            unknowns: BTreeMap::new(),
            forgets: BTreeMap::new(),
            written: facts.writes.keys().cloned().collect(),
            woken: facts.triggers.clone(),
            has_alarms: !facts.alarms.is_empty(),
            calls: Vec::new(),
            inner: Vec::new(),
            variables: Arc::default(),
            handler,
            templates: Templates::new(),
            ids: Vec::new(),
            entities: Vec::new(),
            data: Vec::new(),
            alias: String::new(),
            outside: BTreeMap::new(),
            fired: Vec::new(),
            waits: 0,
            evaluations_left: Cell::new(EVALUATIONS_MAX),
            problems: Vec::new(),
            read: facts.triggers.union(&facts.reads).cloned().collect(),
        }
    }

    pub(super) fn declare(&mut self) {
        self.declare_assumptions();
        for automation in self.automations {
            let (fire, start) = (self.b.declare_function(), self.b.declare_function());
            let cancel = self.b.declare_function();
            let queued = automation.mode == Mode::Queued;
            let empty = Literal::List(Vec::new());
            let queue =
                queued.then(|| self.b.global(&format!("queue of {}", automation.entity), empty));
            self.parts.push(Part {
                automation,
                fire,
                start,
                cancel,
                runs: Vec::new(),
                queue,
                functions: Vec::new(),
            });
            let part = self.parts.len() - 1;
            let runs = match automation.mode {
                Mode::Parallel => automation.max.min(self.options.runs_max).max(1),
                _ => 1,
            };
            for _ in 0..runs {
                let mut place = self.new_place(part, &automation.entity);
                let words = format!("{:?}", automation.actions);
                let uses = words.contains("trigger.")
                    || words.contains("Trigger([")
                    || words.contains("trigger[");
                if uses {
                    let mut seen = |what: &str| {
                        self.b.global(&format!("{what} of {}", automation.entity), Literal::Null)
                    };
                    place.seen =
                        Some([seen("trigger"), seen("trigger entity"), seen("from"), seen("to")]);
                }
                self.parts[part].runs.push(place);
            }
        }
    }

    /// Makes the globals and the task of a run or branch.
    pub(super) fn new_place(&mut self, part: usize, name: &str) -> RunPlace {
        let pc = self.b.global(&format!("run of {name}"), Literal::Int(0));
        let wait = self.b.global(&format!("wait of {name}"), Literal::Str("false".to_owned()));
        let stopped = self.b.global(&format!("{name} is stopped"), Literal::Bool(false));
        let is_script = self.parts[part].automation.is_script();
        let caller = if is_script {
            self.b.global(&format!("caller of {name}"), Literal::Int(0))
        } else {
            self.idle()
        };
        let step = self.b.declare_function();
        let resume_body = self.b.declare_function();
        let task = self.b.task(&format!("{name} goes on"), resume_body, Some(self.handler));
        let resume = self.b.post(task, PostTarget::Own);
        RunPlace { pc, step, resume, resume_body, seen: None, wait, stopped, caller }
    }

    /// A global that nobody reads, for what automations do not need.
    fn idle(&mut self) -> GlobalId {
        let known = self.b.program().globals.iter().position(|global| global.name == "nobody");
        known.map_or_else(|| self.b.global("nobody", Literal::Int(0)), |at| GlobalId(at as u16))
    }

    pub(super) fn define_resume(&mut self, _part: usize, place: &RunPlace) {
        let mut f = self.b.function("goes on", 1);
        Self::add(&mut f, self.pending, -1);
        let token = f.param(0);
        let now = Self::get(&mut f, place.pc);
        let is = f.value(|dst| Op::Eq { dst, a: now, b: token });
        let end = f.label();
        f.jump_if_not(is, end);
        Self::call(&mut f, place.step, &[]);
        f.bind(end);
        self.rests(&mut f);
        self.b.define(place.resume_body, f);
    }

    /// Makes the variables, trigger ids and entities of a part those of templates.
    pub(super) fn enter(&mut self, part: usize) {
        self.current = part as i32;
        let automation = self.parts[part].automation;
        let mut variables = BTreeMap::new();
        for (name, value) in &automation.variables {
            if let Some(text) = value.scalar().filter(|_| value.tag.is_none()) {
                variables.insert(name.clone(), text);
            }
        }
        self.variables = Arc::new(variables);
        self.ids = automation.triggers.iter().map(|trigger| trigger.id.clone()).collect();
        self.ids.sort();
        self.ids.dedup();
        let mut facts = Facts::default();
        automation.triggers.iter().for_each(|t| super::facts::of_trigger(&mut facts, t, true));
        self.entities =
            facts.triggers.iter().map(|k| k.split('#').next().unwrap_or(k).to_owned()).collect();
        self.entities.dedup();
        self.alias.clone_from(&automation.alias);
        self.data = super::data::compared(automation);
    }

    pub(super) fn define(&mut self) {
        for part in 0..self.parts.len() {
            self.define_fire(part);
            self.define_start_of_run(part);
            self.enter(part);
            let automation = self.parts[part].automation;
            let mut bodies = Vec::new();
            for run in 0..self.parts[part].runs.len() {
                let place = self.parts[part].runs[run].clone();
                bodies.extend(self.body(part, &place, &automation.actions, &mut |lower, f| {
                    lower.end_of_run(f, part, run);
                }));
                self.define_resume(part, &place);
            }
            self.define_cancel(part, &bodies);
            let last = self.parts.len() as u32;
            let rank = if self.options.reversed { last - part as u32 } else { part as u32 };
            self.enter(part);
            for trigger in &automation.triggers {
                let then = self.parts[part].fire;
                self.trigger(trigger, Listener { then, rank, only: None });
            }
        }
        self.current = -1;
        self.define_fired();
        self.define_ended();
        if let Some(scenario) = self.options.scenario.clone() {
            self.define_scenario(&scenario);
        } else {
            self.define_outside();
        }
        self.define_timers();
        self.define_states();
        self.define_rest();
        for part in &self.parts {
            let functions = super::runs::functions_of(part);
            let name = part.automation.alias.clone();
            self.b.component(Component { name, functions });
        }
    }

    /// Waits hear of a change after all automations, in the order of their code.
    pub(super) fn next_wait_rank(&mut self) -> u32 {
        self.waits += 1;
        1_000_000 + self.waits
    }

    /// Adds an event that need not come.
    pub(super) fn event(&mut self, name: &str, guard: Option<FuncId>, mut f: FunctionBuilder) {
        self.rests(&mut f);
        let body = self.b.add(f);
        let event = self.b.event(name, body);
        let handler = self.handler;
        if let Some(event) = self.b.event_mut(event) {
            event.guard = guard;
            event.fair = false;
            event.handler = Some((handler, 0));
        }
    }

    /// Sets the place of the code that follows.
    pub(super) fn at(&mut self, f: &mut FunctionBuilder, place: Place) {
        let site = self.b.site(place.file, place.line, place.column);
        f.at(site);
    }

    pub(super) fn part_of(&self, entity: &str) -> Option<usize> {
        self.parts.iter().position(|part| part.automation.entity == entity)
    }

    pub(super) fn problem(
        &mut self,
        place: Place,
        severity: Severity,
        construct: &str,
        text: impl Into<String>,
    ) {
        let problem = Problem::new(place, severity, construct, text);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Returns the tree of a template, and reports what is not exact in it.
    pub(super) fn tree_of(&mut self, text: &str, place: Place) -> Tree {
        let trees = Trees {
            templates: &self.templates,
            table: &self.table,
            variables: &self.variables,
            ids: &self.ids,
            entities: &self.entities,
            data: &self.data,
            left: &self.evaluations_left,
        };
        let tree = trees.tree(text);
        let mut reasons = Vec::new();
        tree.unknowns(&mut reasons);
        for reason in reasons {
            self.problem(place, Severity::Havoc, &reason, "any result of the template is assumed");
        }
        tree
    }
}
