//! Families of threads: locks, conditions, forks and joins.

use super::Make;
use anyorder_trace::{EventKind, Mailbox, Mode, Op, TableFull, Trace};

pub(super) fn events(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(4)?;
    for i in 0..n / 3 {
        make.section(threads[i as usize % 4].1, "lock", "x")?;
    }
    Ok(make.joined(&threads))
}

pub(super) fn variables(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(4)?;
    for i in 0..n * 2 {
        make.section(threads[i as usize % 4].1, "lock", &format!("x{}", i % n))?;
    }
    Ok(make.joined(&threads))
}

pub(super) fn threads(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(n)?;
    for _ in 0..2 {
        for (_, task) in &threads {
            make.section(*task, "lock", "x")?;
        }
    }
    Ok(make.joined(&threads))
}

pub(super) fn readers(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    make.b.write(make.main, "x")?;
    let threads = make.threads(n)?;
    for (_, task) in &threads {
        make.b.read(*task, "x")?;
    }
    let main = make.main;
    for (handler, _) in &threads {
        make.b.on_handler(main, EventKind::Join, *handler);
    }
    make.b.write(main, "x")?;
    Ok(make.b.finish())
}

/// Threads that only release at one atomic, which another thread polls.
pub(super) fn releasers(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(n + 1)?;
    let flag = make.b.variable("flag")?;
    let (poller, releasers) = threads.split_last().expect("one more");
    for round in 0..2 {
        for (i, (_, task)) in releasers.iter().enumerate() {
            let kind = if round == 0 { EventKind::Rmw } else { EventKind::Write };
            make.b.push(*task, Op::new(kind, Mode::RELEASE), flag.0);
            if i % 4 == 0 {
                make.b.push(poller.1, Op::new(EventKind::Read, Mode::ACQUIRE), flag.0);
            }
        }
    }
    Ok(make.joined(&threads))
}

pub(super) fn barrier(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(n)?;
    for _ in 0..3 {
        for (_, task) in &threads {
            make.b.on_condition(*task, EventKind::Barrier, "barrier")?;
        }
    }
    Ok(make.joined(&threads))
}

pub(super) fn locks(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for i in 0..n * 2 {
        make.section(
            threads[i as usize % 2].1,
            &format!("lock {}", i / 2),
            &format!("x{}", i / 2),
        )?;
    }
    Ok(make.joined(&threads))
}

pub(super) fn held(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for (_, task) in &threads {
        for i in 0..n {
            make.b.acquire(*task, &format!("lock {i}"), Mode::EXCLUSIVE)?;
        }
        make.b.write(*task, "x")?;
        for i in 0..n {
            make.b.release(*task, &format!("lock {}", n - 1 - i), Mode::EXCLUSIVE)?;
        }
    }
    Ok(make.joined(&threads))
}

/// Sections of two threads that all begin before one ends; `ends` says which one ends at a time.
fn sections(n: u32, ends: impl Fn(u32) -> u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for (_, task) in &threads {
        for i in 0..n {
            make.b.acquire(*task, &format!("lock {i}"), Mode::EXCLUSIVE)?;
            make.b.write(*task, &format!("x{i}"))?;
        }
        for i in 0..n {
            make.b.release(*task, &format!("lock {}", ends(i)), Mode::EXCLUSIVE)?;
        }
    }
    Ok(make.joined(&threads))
}

pub(super) fn nested(n: u32) -> Result<Trace, TableFull> {
    sections(n, |i| n - 1 - i)
}

pub(super) fn forks(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    for i in 0..n {
        let handler = make.b.handler(&format!("thread {i}"), Mailbox::None)?;
        let (main, task) = (make.main, make.b.initial(handler));
        make.b.on_handler(main, EventKind::Fork, handler);
        make.b.write(task, "x")?;
        make.b.on_handler(main, EventKind::Join, handler);
        make.b.write(main, "x")?;
    }
    Ok(make.b.finish())
}

pub(super) fn waits(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(1)?;
    let (main, other) = (make.main, threads[0].1);
    for _ in 0..n {
        make.b.on_condition(other, EventKind::Wait, "condition")?;
        make.b.write(main, "x")?;
        make.b.on_condition(main, EventKind::Signal, "condition")?;
        make.b.on_condition(other, EventKind::Wake, "condition")?;
        make.b.write(other, "y")?;
    }
    Ok(make.joined(&threads))
}

pub(super) fn conditions(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(1)?;
    let (main, other) = (make.main, threads[0].1);
    for i in 0..n {
        let condition = format!("condition {i}");
        make.b.write(main, &format!("x{i}"))?;
        make.b.on_condition(main, EventKind::Signal, &condition)?;
        make.b.on_condition(other, EventKind::Wake, &condition)?;
        make.b.write(other, &format!("x{i}"))?;
    }
    Ok(make.joined(&threads))
}

/// Eight threads that write sixteen variables, each under the lock of the variable.
pub(super) fn in_turn(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(8)?;
    for i in 0..n / 3 {
        let mixed = i.wrapping_mul(0x9e37_79b9) >> 16;
        let (thread, at) = (mixed % 8, mixed / 8 % 16);
        make.section(threads[thread as usize].1, &format!("lock {at}"), &format!("x{at}"))?;
    }
    Ok(make.joined(&threads))
}

/// Threads of one lock, of which each fourth takes it exclusively and the others share it.
pub(super) fn shared(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(n)?;
    for (at, (_, task)) in threads.iter().enumerate() {
        if at % 4 == 3 {
            make.section(*task, "lock", "x")?;
        } else {
            make.b.acquire(*task, "lock", Mode::SHARED)?;
            make.b.read(*task, "x")?;
            make.b.release(*task, "lock", Mode::SHARED)?;
        }
    }
    Ok(make.joined(&threads))
}

/// Each thread starts the next one.
pub(super) fn fork_chain(n: u32) -> Result<Trace, TableFull> {
    fork_chain_of(n, false)
}

/// Each thread starts the next one, and joins it.
pub(super) fn fork_chain_joined(n: u32) -> Result<Trace, TableFull> {
    fork_chain_of(n, true)
}

fn fork_chain_of(n: u32, is_joined: bool) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let mut chain = vec![(None, make.main)];
    for i in 0..n {
        let handler = make.b.handler(&format!("thread {i}"), Mailbox::None)?;
        make.b.on_handler(chain[i as usize].1, EventKind::Fork, handler);
        let task = make.b.initial(handler);
        make.b.write(task, &format!("x{i}"))?;
        chain.push((Some(handler), task));
    }
    for pair in chain.windows(2).rev().filter(|_| is_joined) {
        let ((_, parent), (Some(child), _)) = (pair[0], pair[1]) else { continue };
        make.b.on_handler(parent, EventKind::Join, child);
    }
    Ok(make.b.finish())
}

/// Two threads signal one condition many times; a third one wakes at the end.
pub(super) fn signals(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(3)?;
    for i in 0..n {
        make.b.on_condition(threads[i as usize % 2].1, EventKind::Signal, "condition")?;
    }
    make.b.on_condition(threads[2].1, EventKind::Wake, "condition")?;
    Ok(make.joined(&threads))
}

/// Two threads take each lock before they give back the one before it.
pub(super) fn hand_over_hand(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for (_, task) in &threads {
        for i in 0..n {
            make.b.acquire(*task, &format!("lock {i}"), Mode::EXCLUSIVE)?;
            if i > 0 {
                make.b.release(*task, &format!("lock {}", i - 1), Mode::EXCLUSIVE)?;
            }
            make.b.write(*task, &format!("x{i}"))?;
        }
        make.b.release(*task, &format!("lock {}", n - 1), Mode::EXCLUSIVE)?;
    }
    Ok(make.joined(&threads))
}

/// Sections that end in the order in which they began.
pub(super) fn overlapping(n: u32) -> Result<Trace, TableFull> {
    sections(n, |i| i)
}

/// Four threads hold eight of `n` locks by chance, around accesses to as many variables.
pub(super) fn by_chance(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(4)?;
    let mixed = |i: u32| (i.wrapping_mul(0x9e37_79b9) ^ (i >> 3)).wrapping_mul(0x85eb_ca6b) >> 7;
    for i in 0..n * 2 {
        let task = threads[i as usize % 4].1;
        let locks: std::collections::BTreeSet<u32> = (0..8).map(|k| mixed(i * 9 + k) % n).collect();
        for lock in &locks {
            make.b.acquire(task, &format!("lock {lock}"), Mode::EXCLUSIVE)?;
        }
        make.b.write(task, &format!("x{}", mixed(i * 9 + 8) % n))?;
        for lock in locks.iter().rev() {
            make.b.release(task, &format!("lock {lock}"), Mode::EXCLUSIVE)?;
        }
    }
    Ok(make.joined(&threads))
}

/// Threads start one another in a binary tree, and each joins those it has started.
pub(super) fn fork_tree(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let mut tasks = vec![make.main];
    let mut handlers = Vec::new();
    for i in 0..n {
        let handler = make.b.handler(&format!("thread {i}"), Mailbox::None)?;
        make.b.on_handler(tasks[i as usize / 2], EventKind::Fork, handler);
        tasks.push(make.b.initial(handler));
        handlers.push(handler);
        make.b.write(tasks[i as usize + 1], &format!("x{i}"))?;
    }
    for i in (0..n as usize).rev() {
        make.b.on_handler(tasks[i / 2], EventKind::Join, handlers[i]);
    }
    Ok(make.b.finish())
}
