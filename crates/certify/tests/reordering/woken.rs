//! Random traces in which the wait of a wake must come before its signal: a thread waits inside a
//! section, and an event after the signal takes the same lock.

use super::generate::RandomSource;
use anyorder_trace::{EventKind, HandlerId, Mailbox, Mode, Op, TaskId, Trace, TraceBuilder};

/// The next action of a thread.
#[derive(Clone, Copy)]
enum Act {
    Acquire,
    Release,
    Wait,
    Wake,
    Signal,
    Fork,
    Access(EventKind, &'static str),
}

/// Returns a trace of up to 13 events.
pub(crate) fn woken(rng: &mut RandomSource) -> Trace {
    use Act::{Access, Acquire, Fork, Release, Signal, Wait, Wake};
    use EventKind::{Read, Write};
    let mut waiter = vec![Acquire, Wait, Wake, Access(Write, "x"), Release];
    let mut signaller = vec![Signal];
    let mut other = vec![Acquire, Access([Read, Write][rng.below(2)], "x"), Release];
    // How the other thread comes after the signal, if it does.
    let by_fork = match rng.below(4) {
        0 => {
            signaller.push(Fork);
            true
        }
        1 => {
            signaller.push(Access(Write, "y"));
            other.insert(rng.below(2), Access(Read, "y"));
            false
        }
        2 => {
            signaller.insert(0, Acquire);
            signaller.push(Release);
            false
        }
        _ => false,
    };
    for acts in [&mut waiter, &mut signaller, &mut other] {
        for _ in 0..rng.below(2) {
            let kind = [Read, Write][rng.below(2)];
            let name = ["x", "y", "z"][rng.below(3)];
            acts.insert(rng.below(acts.len() + 1), Access(kind, name));
        }
        if rng.chance(15) {
            acts.remove(rng.below(acts.len()));
        }
    }
    interleave(rng, [waiter, signaller, other], by_fork)
}

fn interleave(rng: &mut RandomSource, mut acts: [Vec<Act>; 3], by_fork: bool) -> Trace {
    let mut b = TraceBuilder::new();
    let handlers: Vec<HandlerId> =
        (0..3).map(|i| b.handler(&format!("T{i}"), Mailbox::None).expect("room")).collect();
    let tasks: Vec<TaskId> = handlers.iter().map(|handler| b.initial(*handler)).collect();
    let lock = b.interner.name("m").expect("room");
    let lock = b.interner.lock(lock).expect("room").0;
    let mut holder = None;
    let (mut waits, mut signalled) = (false, false);
    let mut forked = !by_fork;
    for _ in 0..400 {
        let t = rng.below(3);
        let Some(&act) = acts[t].first() else { continue };
        let is_ready = match act {
            Act::Acquire => holder.is_none(),
            Act::Wake => signalled,
            // Most signals are received.
            Act::Signal => waits || rng.chance(2),
            _ => true,
        };
        if !is_ready || (t == 2 && !forked) {
            continue;
        }
        acts[t].remove(0);
        let condition = |b: &mut TraceBuilder, kind| b.on_condition(tasks[t], kind, "c");
        match act {
            Act::Acquire | Act::Release => {
                let is_acquire = matches!(act, Act::Acquire);
                holder = is_acquire.then_some(t);
                let kind = if is_acquire { EventKind::Acquire } else { EventKind::Release };
                b.push(tasks[t], Op::new(kind, Mode::EXCLUSIVE), lock);
            }
            Act::Wait => {
                waits = true;
                condition(&mut b, EventKind::Wait).expect("room");
            }
            Act::Wake => {
                condition(&mut b, EventKind::Wake).expect("room");
            }
            Act::Signal => {
                signalled = true;
                condition(&mut b, EventKind::Signal).expect("room");
            }
            Act::Fork => {
                forked = true;
                b.on_handler(tasks[t], EventKind::Fork, handlers[2]);
            }
            Act::Access(kind, name) => {
                let location = b.variable(name).expect("room");
                b.push(tasks[t], kind.into(), location.0);
            }
        }
    }
    b.finish()
}
