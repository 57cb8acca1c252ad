//! Growth with the depth of nested sections, with the number of locks, of variables, and of pairs.

use super::measure::timed;
use anyorder_predict::{Analysis, CandidateOptions, EdcAnalysis, MemoryOnly, PredictError, run};
use anyorder_trace::{EventKind, Mailbox, Mode, Op, TaskId, Trace, TraceBlocks, TraceBuilder};

/// A family of traces of two threads, by the number that is doubled.
type Family = (&'static str, fn(&mut Maker, u32));

const FAMILIES: [Family; 7] = [
    ("nested, a variable at each depth", |m, n| {
        m.each(|m, t| {
            m.range(n, |m, i| m.acquire(t, i).write(t, i));
            m.back(n, |m, i| m.release(t, i));
        });
    }),
    ("nested, one variable at each depth", |m, n| {
        m.each(|m, t| {
            m.range(n, |m, i| m.acquire(t, i).write(t, 0));
            m.back(n, |m, i| m.release(t, i));
        });
    }),
    ("nested, a variable at each depth on the way out", |m, n| {
        m.each(|m, t| {
            m.range(n, |m, i| m.acquire(t, i));
            m.back(n, |m, i| m.write(t, i).release(t, i));
        });
    }),
    ("taken in turns, 50 times", |m, n| {
        m.range(50, |m, round| {
            let t = round as usize % 2;
            m.range(n, |m, i| m.acquire(t, i));
            m.write(t, round / 2);
            m.back(n, |m, i| m.release(t, i))
        });
    }),
    ("hand over hand, eight at a time", |m, n| {
        m.each(|m, t| {
            m.range(n, |m, i| {
                m.acquire(t, i).write(t, i);
                if i >= 8 { m.release(t, i - 8) } else { m }
            });
            m.range(n.min(8), |m, i| m.release(t, n.saturating_sub(8) + i));
        });
    }),
    ("locks, each with a variable", |m, n| {
        m.each(|m, t| {
            m.range(n, |m, i| m.acquire(t, i).write(t, i).release(t, i));
        });
    }),
    ("variables without locks", |m, n| {
        m.each(|m, t| {
            m.range(n, |m, i| m.write(t, i));
        });
    }),
];

struct Maker {
    b: TraceBuilder,
    tasks: [TaskId; 2],
}

impl Maker {
    fn each(&mut self, mut of: impl FnMut(&mut Maker, usize)) {
        of(self, 0);
        of(self, 1);
    }

    fn range(&mut self, n: u32, mut step: impl FnMut(&mut Maker, u32) -> &mut Maker) -> &mut Maker {
        for i in 0..n {
            step(self, i);
        }
        self
    }

    fn back(&mut self, n: u32, mut step: impl FnMut(&mut Maker, u32) -> &mut Maker) -> &mut Maker {
        for i in (0..n).rev() {
            step(self, i);
        }
        self
    }

    fn acquire(&mut self, t: usize, lock: u32) -> &mut Maker {
        self.b.push(self.tasks[t], Op::new(EventKind::Acquire, Mode::EXCLUSIVE), lock);
        self
    }

    fn release(&mut self, t: usize, lock: u32) -> &mut Maker {
        self.b.push(self.tasks[t], Op::new(EventKind::Release, Mode::EXCLUSIVE), lock);
        self
    }

    fn write(&mut self, t: usize, variable: u32) -> &mut Maker {
        self.b.push(self.tasks[t], EventKind::Write.into(), variable);
        self
    }
}

fn made((_, fill): Family, n: u32) -> Trace {
    let mut b = TraceBuilder::new();
    let tasks = ["S", "T"].map(|name| {
        let handler = b.handler(name, Mailbox::None).expect("room");
        b.initial(handler)
    });
    for i in 0..n.max(50) {
        let name = b.interner.name(&format!("m{i}")).expect("room");
        b.interner.lock(name).expect("room");
        b.variable(&format!("x{i}")).expect("room");
    }
    let mut maker = Maker { b, tasks };
    fill(&mut maker, n);
    maker.b.finish()
}

/// Prints the processor time of EDC for each family at 1,000, 2,000, ... of what is doubled, and
/// the memory at the end. A time twice as long as the one before is linear growth.
pub(crate) fn table() -> Result<(), PredictError> {
    println!("| EDC, ms | 1,000 | 2,000 | 4,000 | 8,000 | 16,000 | KiB, first and last |");
    println!("|{}", " --- |".repeat(7));
    for family in FAMILIES {
        let (mut times, mut memory) = (String::new(), Vec::new());
        for n in [1_000, 2_000, 4_000, 8_000, 16_000] {
            let trace = made(family, n);
            let mut edc = EdcAnalysis::new(MemoryOnly, CandidateOptions::default());
            let (took, end) = timed(|| run(&mut TraceBlocks::new(&trace), &mut [&mut edc], |_| {}));
            end?;
            times += &format!(" {:.1} |", took * 1e3);
            memory.push(edc.memory_bytes() / 1024);
        }
        println!("| {} |{times} {}, {} |", family.0, memory[0], memory[4]);
    }
    Ok(())
}
