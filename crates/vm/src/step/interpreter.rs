//! The interpreter's data: registers, calls, choices, and the state it works on.

use super::fault::{FailureKind, Fault, Stop};
use super::log::Log;
use super::memo::Recorder;
use super::updates::AttributeUpdate;
use crate::machine::{DEPTH_MAX, Machine};
use crate::poll::{POLL_FUEL, Poll};
use crate::state::{Frame, State};
use crate::value::Value;

/// How a run of the interpreter ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The outermost function returned; its result is in `result`.
    Returned,
    /// The next instruction is visible, and the step has already executed one.
    Paused,
    /// The thread waits for a condition and will acquire the lock again.
    Waiting { cond: u32, lock: u32 },
}

/// What running code may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// It may not write.
    Pure,
    /// It runs to its end in one step.
    Atomic,
    /// It runs one visible instruction.
    Stepwise,
}

/// The choices of one execution. They enumerate all executions depth-first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    /// For each choice, the alternative taken and the number of alternatives.
    taken: Vec<(u32, u32)>,
    at: usize,
}

impl Choices {
    /// Restarts the execution with the same choices.
    pub(crate) fn rewind(&mut self) {
        self.at = 0;
    }

    /// Forgets all choices.
    pub(crate) fn clear(&mut self) {
        self.taken.clear();
        self.at = 0;
    }

    /// Makes a choice between `count` alternatives, at least one.
    pub(crate) fn pick(&mut self, count: u32) -> u32 {
        if count == 1 {
            return 0;
        }
        if self.at == self.taken.len() {
            self.taken.push((0, count));
        }
        self.at += 1;
        self.taken[self.at - 1].0
    }

    /// Returns whether the execution has made choices.
    pub(crate) fn any(&self) -> bool {
        self.at > 0
    }

    /// Moves to the next execution. Returns false after the last one.
    pub(crate) fn advance(&mut self) -> bool {
        self.taken.truncate(self.at);
        self.at = 0;
        while let Some((taken, count)) = self.taken.pop() {
            if taken + 1 < count {
                self.taken.push((taken + 1, count));
                return true;
            }
        }
        false
    }
}

/// Runs code on a state. Copies the state on the first write.
pub(crate) struct Interpreter<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) base: &'a State,
    pub(crate) own: Option<State>,
    pub(crate) mode: Mode,
    /// The registers of all calls. Leftovers of earlier calls may follow.
    pub(crate) regs: Vec<Value>,
    /// The frames of the callers.
    pub(crate) frames: Vec<Frame>,
    pub(crate) func: u16,
    pub(crate) pc: usize,
    /// The first register of the running call.
    pub(crate) low: usize,
    pub(crate) result: Value,
    pub(crate) choices: Choices,
    /// How many atomic sections are open.
    pub(crate) atomic: u32,
    /// Whether the step has executed its visible instruction.
    pub(crate) visible_done: bool,
    /// How many more instructions the step may execute until the next poll.
    pub(crate) fuel: u64,
    /// How many more instructions it may execute after that.
    pub(crate) fuel_after_poll: u64,
    /// What polls the job's token, and whether the job was stopped.
    pub(crate) poll: Poll,
    /// How many more elements built-in operations may read or copy.
    pub(crate) bulk: u64,
    /// How many messages, threads and objects the step has made.
    pub(crate) created: u32,
    /// Its identity as owner of locks.
    pub(crate) owner: u32,
    /// The highest handle in this step, once computed.
    pub(crate) handle_top: Option<u32>,
    pub(crate) log: Option<Box<Log>>,
    /// With a log: the order in which `notify` offers forked threads and running tasks, by their
    /// creation.
    pub(crate) notify_order: Vec<u64>,
    /// The reads and effects of the step, if the step is to be memoized.
    pub(crate) record: Option<Box<Recorder>>,
    /// The updates of the step, if the program has components.
    pub(crate) updates: Vec<AttributeUpdate>,
}

impl<'a> Interpreter<'a> {
    pub(crate) fn new(machine: &'a Machine, base: &'a State) -> Interpreter<'a> {
        Interpreter {
            machine,
            base,
            own: None,
            mode: Mode::Pure,
            // The memo answers most states.
            regs: Vec::new(),
            frames: Vec::new(),
            func: 0,
            pc: 0,
            low: 0,
            result: Value::Null,
            choices: Choices::default(),
            atomic: 0,
            visible_done: false,
            fuel: 0,
            fuel_after_poll: 0,
            poll: Poll::default(),
            bulk: 0,
            created: 0,
            owner: 0,
            handle_top: None,
            log: None,
            notify_order: Vec::new(),
            record: None,
            updates: Vec::new(),
        }
    }

    /// Prepares to run a function from its start.
    pub(crate) fn start(&mut self, func: u16, mode: Mode, owner: u32) {
        self.own = None;
        self.updates.clear();
        self.handle_top = None;
        self.mode = mode;
        self.owner = owner;
        self.frames.clear();
        self.func = func;
        self.pc = 0;
        self.low = 0;
        self.atomic = 0;
        self.visible_done = false;
        self.created = 0;
        let steps = self.machine.program.settings.steps;
        self.fuel = steps.min(POLL_FUEL);
        self.fuel_after_poll = steps - self.fuel;
        self.bulk = steps.saturating_mul(BULK);
        self.make_room(func);
    }

    /// Makes room for the registers of a function, from the first register of the running call on.
    /// Leftovers of earlier calls stay if the function never reads them.
    #[inline]
    pub(crate) fn make_room(&mut self, func: u16) {
        let code = &self.machine.code[usize::from(func)];
        let end = self.low + usize::from(code.registers);
        if self.regs.len() < end {
            self.regs.resize(end, Value::Null);
        }
        if !code.clean {
            self.regs[self.low..end].fill(Value::Null);
        }
    }

    /// Returns whether accesses must be recorded.
    #[inline]
    pub(crate) fn records_accesses(&self) -> bool {
        self.log.is_some() || self.record.is_some() || self.machine.reports_updates()
    }

    /// Returns the current state.
    #[inline]
    pub(crate) fn state(&self) -> &State {
        self.own.as_ref().unwrap_or(self.base)
    }

    /// Returns the current state for a change.
    #[inline]
    pub(crate) fn state_mut(&mut self) -> &mut State {
        self.own.get_or_insert_with(|| self.base.clone())
    }

    /// Takes the current state out.
    pub(crate) fn take(&mut self) -> State {
        self.own.take().unwrap_or_else(|| self.base.clone())
    }

    /// Makes a failure at the running instruction.
    #[cold]
    pub(crate) fn fault(&self, kind: FailureKind, message: impl Into<String>) -> Stop {
        Stop::Fault(Box::new(Fault { kind, message: message.into(), site: self.site() }))
    }

    /// Fails unless a value has an order. Objects, handles and functions have none.
    #[inline]
    pub(crate) fn check_ordered(&self, value: &Value) -> Result<(), Stop> {
        if value.is_ordered() {
            return Ok(());
        }
        Err(self.bad_type("objects, handles and functions have no order:", value))
    }

    /// Makes the failure of a value that lacks what is looked for in it: `no field `x``.
    #[cold]
    pub(crate) fn lacks(&self, missing: &str, value: &Value) -> Stop {
        match value {
            // Name the null itself, not what is missing in it.
            Value::Null => self.fault(FailureKind::Null, format!("the value is null: {missing}")),
            value => self.bad_type(&format!("{missing} in"), value),
        }
    }

    /// Makes a type failure. `what` says what is impossible with the value.
    #[cold]
    pub(crate) fn bad_type(&self, what: &str, value: &Value) -> Stop {
        match value {
            Value::Null => self.fault(FailureKind::Null, format!("{what} null")),
            value => {
                let shown = crate::value::show::plain(&self.machine.program, value);
                let shown: String = shown.chars().take(80).collect();
                self.fault(FailureKind::Type, format!("{what} {} {shown}", value.kind()))
            }
        }
    }

    /// Charges for elements that an instruction reads or copies.
    #[inline]
    pub(crate) fn charge(&mut self, elements: usize) -> Result<(), Stop> {
        match self.bulk.checked_sub(elements as u64) {
            Some(left) => {
                self.bulk = left;
                Ok(self.poll.work(elements as u64)?)
            }
            None => Err(self.out_of_fuel()),
        }
    }

    /// Returns whether the step stays within its limits for any other length of containers and
    /// mailboxes.
    pub(crate) fn is_far_from_limits(&self, accesses: usize) -> bool {
        let settings = &self.machine.program.settings;
        let bulk = settings.steps.saturating_mul(BULK);
        let more = (accesses as u64).saturating_mul(4).saturating_mul(u64::from(settings.size));
        self.fuel + self.fuel_after_poll >= settings.steps / 2
            && self.bulk >= bulk / 2
            && more <= bulk / 2
    }

    #[inline]
    pub(crate) fn burn(&mut self, fuel: u64) -> Result<(), Stop> {
        match self.fuel.checked_sub(fuel) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => self.burn_on(fuel),
        }
    }

    /// Polls, and continues with the next instructions.
    #[cold]
    fn burn_on(&mut self, fuel: u64) -> Result<(), Stop> {
        let Some(left) = (self.fuel + self.fuel_after_poll).checked_sub(fuel) else {
            return Err(self.out_of_fuel());
        };
        self.fuel = left.min(POLL_FUEL);
        self.fuel_after_poll = left - self.fuel;
        Ok(self.poll.now()?)
    }

    #[cold]
    fn out_of_fuel(&self) -> Stop {
        let steps = self.machine.program.settings.steps;
        self.fault(FailureKind::StepLimit, format!("more than {steps} operations in one step"))
    }

    /// Refuses values that are too large or nest too deep.
    #[inline]
    pub(crate) fn check_size(&self, value: &Value) -> Result<(), Stop> {
        if value.is_small() {
            return Ok(());
        }
        if value.nodes() > self.machine.program.settings.size || value.depth() > DEPTH_MAX {
            return Err(self.too_large());
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn too_large(&self) -> Stop {
        let size = self.machine.program.settings.size;
        let message = format!("more than {size} elements, or nested deeper than {DEPTH_MAX}");
        self.fault(FailureKind::Size, message)
    }

    /// Chooses one of `count` alternatives.
    pub(crate) fn pick(&mut self, count: usize) -> Result<u32, Stop> {
        match u32::try_from(count) {
            Ok(0) => Err(Stop::NoTransition),
            Ok(count) if count <= self.machine.program.settings.size => {
                Ok(self.choices.pick(count))
            }
            _ => Err(self.too_large()),
        }
    }
}

/// How many elements an instruction may read on average, in a step that uses up its limit.
const BULK: u64 = 1_000;
