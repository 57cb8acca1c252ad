//! Small observed traces of what is opened and ended: posts and cancels, enables and disables, and
//! reads and writes that order them.

use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    Columns, EventKind, Input, InputId, Mailbox, Op, TaskId, Trace, TraceBuilder,
};

const FITS: &str = "small traces fit into their tables";

struct Machine {
    build: TraceBuilder,
    posted: Vec<TaskId>,
    pending: Vec<TaskId>,
    inputs: Vec<InputId>,
}

/// Makes a random trace of two threads and a looper; the same seed always gives the same trace.
/// Reads read from any write, so that most traces have no run in the recorded order.
#[must_use]
pub fn random_openings(seed: u64) -> Trace {
    let rng = &mut Rng::new(seed);
    let mut build = TraceBuilder::new();
    let threads: Vec<TaskId> = ["a", "b"]
        .map(|name| build.handler(name, Mailbox::None).expect(FITS))
        .map(|handler| build.initial(handler))
        .to_vec();
    let mailbox = rng.pick(&[Mailbox::Fifo, Mailbox::Delayed, Mailbox::Bag]);
    let ui = build.handler("ui", mailbox).expect(FITS);
    let inputs = (0..rng.within(1, 2)).map(|instance| Input { instance, ..Input::default() });
    let inputs = inputs.map(|input| build.interner.input(input).expect(FITS)).collect();
    let mut machine = Machine { build, posted: Vec::new(), pending: Vec::new(), inputs };
    for _ in 0..rng.within(8, 20) {
        if !machine.pending.is_empty() && rng.percent(35) {
            let at = rng.index(machine.pending.len());
            let task = machine.pending.remove(at);
            machine.build.push(task, Op::from(EventKind::Get), ui.0);
            for _ in 0..rng.below(4) {
                machine.act(rng, task, ui);
            }
            machine.build.push(task, Op::from(EventKind::End), 0);
        } else {
            let task = rng.pick(&threads);
            machine.act(rng, task, ui);
        }
    }
    retarget(rng, machine.build.finish())
}

impl Machine {
    fn act(&mut self, rng: &mut Rng, task: TaskId, ui: anyorder_trace::HandlerId) {
        let input = rng.pick(&self.inputs).0;
        let mut push = |kind: EventKind, operand| {
            self.build.push(task, Op::from(kind), operand);
        };
        match rng.below(17) {
            0..2 => push(EventKind::Enable, input),
            2..4 => push(EventKind::Disable, input),
            4..7 => push(EventKind::Trigger, input),
            7..9 => {
                let name = format!("m{}", self.posted.len());
                let posted = self.build.task(&name, ui).expect(FITS);
                self.build.post(task, posted).expect(FITS);
                self.posted.push(posted);
                self.pending.push(posted);
            }
            9 | 10 if !self.posted.is_empty() => push(EventKind::Cancel, rng.pick(&self.posted).0),
            9..13 => {
                let variable = if rng.percent(50) { "x" } else { "y" };
                self.build.write(task, variable).expect(FITS);
            }
            _ => {
                let variable = if rng.percent(50) { "x" } else { "y" };
                self.build.read(task, variable).expect(FITS);
            }
        }
    }
}

/// Lets some of the reads read from any write.
fn retarget(rng: &mut Rng, trace: Trace) -> Trace {
    let mut columns = trace.columns().clone();
    for read in trace.events().filter(|event| event.kind() == EventKind::Read) {
        let of = |e: &anyorder_trace::Event| e.kind().writes() && e.operand == read.operand;
        let writes: Vec<u64> = trace.events().filter(of).map(|e| u64::from(e.id.0)).collect();
        if rng.percent(30) {
            let initial = writes.is_empty() || rng.percent(20);
            let from = if initial { Columns::INITIAL } else { rng.pick(&writes) };
            columns.refers.push(read.id.0, from);
        }
    }
    Trace::new(trace.tables().clone(), columns)
}
