//! Random traces of one event loop whose tasks can be reordered: two threads post, and each task is
//! an access or two.

use crate::reordering::generate::RandomSource;
use anyorder_trace::{Mailbox, TaskId, Trace, TraceBuilder};

/// Returns a trace of up to 14 events.
pub(crate) fn turns(rng: &mut RandomSource) -> Trace {
    let mut b = TraceBuilder::new();
    let mailbox = [Mailbox::Fifo, Mailbox::Bag, Mailbox::Delayed][rng.below(3)];
    let ui = b.handler("ui", mailbox).expect("room");
    let threads = ["p", "q"].map(|name| b.handler(name, Mailbox::None).expect("room"));
    let threads: Vec<TaskId> = threads.into_iter().map(|thread| b.initial(thread)).collect();
    let count = 2 + rng.below(2);
    let delayed = mailbox == Mailbox::Delayed && rng.chance(50);
    let tasks: Vec<TaskId> = (0..count)
        .map(|i| {
            // Earlier tasks have shorter delays, so that the trace itself is possible.
            let delay = if delayed { i as u64 } else { 0 };
            b.delayed_task(&format!("t{i}"), ui, delay).expect("room")
        })
        .collect();
    for task in &tasks {
        let thread = threads[rng.below(2)];
        if rng.chance(25) {
            b.write(thread, ["x", "y"][rng.below(2)]).expect("room");
        }
        b.post(thread, *task).expect("room");
    }
    for task in tasks {
        b.get(task).expect("room");
        for _ in 0..1 + usize::from(rng.chance(20)) {
            let place = ["x", "y"][rng.below(2)];
            match rng.below(2) {
                0 => b.read(task, place).expect("room"),
                _ => b.write(task, place).expect("room"),
            };
        }
        b.end(task).expect("room");
    }
    b.finish()
}
