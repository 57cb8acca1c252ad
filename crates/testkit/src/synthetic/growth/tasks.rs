//! Families of tasks that are posted to mailboxes.

use super::Make;
use anyorder_trace::{EventKind, InputId, Mailbox, Op, TableFull, Trace};

/// Tasks that the main thread posts to one handler, each with a variable of its own.
fn posted(n: u32, mailbox: Mailbox, forked: bool) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let looper = make.b.handler("looper", mailbox)?;
    if forked {
        make.b.on_handler(main, EventKind::Fork, looper);
    }
    let mut tasks = Vec::new();
    for i in 0..n {
        tasks.push(make.post(main, i, looper)?);
    }
    for (i, task) in tasks.into_iter().enumerate() {
        make.run(task, &format!("x{i}"))?;
    }
    Ok(make.b.finish())
}

pub(super) fn fifo(n: u32) -> Result<Trace, TableFull> {
    posted(n, Mailbox::Fifo, false)
}

pub(super) fn forked_fifo(n: u32) -> Result<Trace, TableFull> {
    posted(n, Mailbox::Fifo, true)
}

pub(super) fn bag(n: u32) -> Result<Trace, TableFull> {
    posted(n, Mailbox::Bag, false)
}

pub(super) fn bag_pairs(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let looper = make.b.handler("looper", Mailbox::Bag)?;
    let mut firsts = Vec::new();
    for i in 0..n / 2 {
        firsts.push(make.post(main, i, looper)?);
    }
    let mut seconds = Vec::new();
    for (i, task) in (n / 2..).zip(firsts) {
        make.b.get(task)?;
        make.b.write(task, &format!("x{i}"))?;
        seconds.push(make.post(task, i, looper)?);
        make.b.end(task)?;
    }
    for (i, task) in (n / 2..).zip(seconds) {
        make.run(task, &format!("x{i}"))?;
    }
    Ok(make.b.finish())
}

/// Half of the tasks follow nothing; one follows them all, and posts the other half.
pub(super) fn bag_followed(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let looper = make.b.handler("looper", Mailbox::Bag)?;
    let collector = make.b.handler("collector", Mailbox::None)?;
    let collector = make.b.initial(collector);
    let mut tasks = Vec::new();
    for i in 0..n / 2 {
        tasks.push(make.post(main, i, looper)?);
    }
    for (i, task) in tasks.into_iter().enumerate() {
        make.b.get(task)?;
        make.b.write(task, &format!("x{i}"))?;
        make.b.on_condition(task, EventKind::Signal, &format!("done {i}"))?;
        make.b.end(task)?;
        make.b.on_condition(collector, EventKind::Wake, &format!("done {i}"))?;
    }
    let last = make.post(collector, n, looper)?;
    make.b.get(last)?;
    let mut tasks = Vec::new();
    for i in 0..n / 2 {
        tasks.push(make.post(last, n + 1 + i, looper)?);
    }
    make.b.end(last)?;
    for (i, task) in tasks.into_iter().enumerate() {
        make.run(task, &format!("x{i}"))?;
    }
    Ok(make.b.finish())
}

/// Tasks of sixteen bags that share a lock.
pub(super) fn bag_lock(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let mut loopers = Vec::new();
    for i in 0..16 {
        loopers.push(make.b.handler(&format!("looper {i}"), Mailbox::Bag)?);
    }
    let mut tasks = Vec::new();
    for i in 0..n {
        tasks.push(make.post(main, i, loopers[i as usize % 16])?);
    }
    for (i, task) in tasks.into_iter().enumerate() {
        make.b.get(task)?;
        make.section(task, "lock", &format!("x{i}"))?;
        make.b.end(task)?;
    }
    Ok(make.b.finish())
}

pub(super) fn delayed(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let looper = make.b.handler("looper", Mailbox::Delayed)?;
    let mut tasks = Vec::new();
    for i in 0..n {
        let task = make.b.delayed_task(&format!("task {i}"), looper, 10)?;
        make.b.post(main, task)?;
        tasks.push(task);
    }
    for (i, task) in tasks.into_iter().enumerate() {
        make.run(task, &format!("x{i}"))?;
    }
    Ok(make.b.finish())
}

/// Each task posts the next one to the next looper.
pub(super) fn ring(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let mut loopers = Vec::new();
    for i in 0..n {
        loopers.push(make.b.handler(&format!("looper {i}"), Mailbox::Fifo)?);
    }
    let mut task = make.post(make.main, 0, loopers[0])?;
    for i in 1..3 * n {
        make.b.get(task)?;
        make.b.write(task, "x")?;
        let next = make.post(task, i, loopers[(i % n) as usize])?;
        make.b.end(task)?;
        task = next;
    }
    make.run(task, "x")?;
    Ok(make.b.finish())
}

/// Each task posts two others, to four loopers or to one bag.
fn tree(n: u32, mailbox: Mailbox, handlers: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let mut loopers = Vec::new();
    for i in 0..handlers {
        loopers.push(make.b.handler(&format!("looper {i}"), mailbox)?);
    }
    let mut tasks = vec![make.post(make.main, 0, loopers[0])?];
    for i in 0..n as usize {
        let task = tasks[i];
        make.b.get(task)?;
        make.b.write(task, &format!("x{i}"))?;
        for _ in 0..2 {
            let next = tasks.len() as u32;
            if next < n {
                tasks.push(make.post(task, next, loopers[(next % handlers) as usize])?);
            }
        }
        make.b.end(task)?;
    }
    Ok(make.b.finish())
}

pub(super) fn fifo_tree(n: u32) -> Result<Trace, TableFull> {
    tree(n, Mailbox::Fifo, 4)
}

pub(super) fn bag_tree(n: u32) -> Result<Trace, TableFull> {
    tree(n, Mailbox::Bag, 1)
}

/// Each task posts two others with a delay of their own.
pub(super) fn delayed_tree(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let looper = make.b.handler("looper", Mailbox::Delayed)?;
    let mut tasks = vec![make.post(make.main, 0, looper)?];
    for i in 0..n as usize {
        let task = tasks[i];
        make.b.get(task)?;
        make.b.write(task, &format!("x{i}"))?;
        for _ in 0..2 {
            let next = tasks.len() as u32;
            if next < n {
                let child =
                    make.b.delayed_task(&format!("task {next}"), looper, u64::from(next))?;
                make.b.post(task, child)?;
                tasks.push(child);
            }
        }
        make.b.end(task)?;
    }
    Ok(make.b.finish())
}

/// Each task has a delay of its own; they are posted by rising delays, or by falling ones.
fn delays(n: u32, is_rising: bool) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let looper = make.b.handler("looper", Mailbox::Delayed)?;
    let mut tasks = Vec::new();
    for i in 0..n {
        let delay = u64::from(if is_rising { i } else { n - i });
        let task = make.b.delayed_task(&format!("task {i}"), looper, delay)?;
        make.b.post(main, task)?;
        tasks.push(task);
    }
    if !is_rising {
        tasks.reverse();
    }
    for (i, task) in tasks.into_iter().enumerate() {
        make.run(task, &format!("x{i}"))?;
    }
    Ok(make.b.finish())
}

pub(super) fn rising_delays(n: u32) -> Result<Trace, TableFull> {
    delays(n, true)
}

pub(super) fn falling_delays(n: u32) -> Result<Trace, TableFull> {
    delays(n, false)
}

/// Two tasks for each of many loopers.
pub(super) fn loopers(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let mut loopers = Vec::new();
    for i in 0..n {
        loopers.push(make.b.handler(&format!("looper {i}"), Mailbox::Fifo)?);
    }
    let mut tasks = Vec::new();
    for i in 0..2 * n {
        tasks.push(make.post(make.main, i, loopers[(i % n) as usize])?);
    }
    for (i, task) in tasks.into_iter().enumerate() {
        make.run(task, &format!("x{}", i as u32 % n))?;
    }
    Ok(make.b.finish())
}

/// Four loopers whose tasks post to a fifth one and to one another.
pub(super) fn four_loopers(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let mut loopers = Vec::new();
    for i in 0..5 {
        loopers.push(make.b.handler(&format!("looper {i}"), Mailbox::Fifo)?);
    }
    let mut waiting = std::collections::VecDeque::new();
    let mut count = 4;
    for i in 0..4 {
        waiting.push_back((make.post(make.main, i, loopers[i as usize])?, i));
    }
    while let Some((task, at)) = waiting.pop_front() {
        make.b.get(task)?;
        make.b.write(task, &format!("x{count}"))?;
        if at < 4 && count + 2 <= n {
            let mixed = count.wrapping_mul(0x9e37_79b9) >> 16;
            let next = (at + 1 + mixed % 3) % 4;
            waiting.push_back((make.post(task, count, loopers[next as usize])?, next));
            waiting.push_back((make.post(task, count + 1, loopers[4])?, 4));
            count += 2;
        }
        make.b.end(task)?;
    }
    Ok(make.b.finish())
}

/// One task makes many inputs possible; each is the cause of a task of its own.
pub(super) fn inputs(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let main = make.main;
    let looper = make.b.handler("looper", Mailbox::Bag)?;
    let outside = make.b.handler("outside", Mailbox::None)?;
    let outside = make.b.initial(outside);
    let mut inputs: Vec<InputId> = Vec::new();
    for i in 0..n {
        let input = make.b.input(&format!("input {i}"))?;
        make.b.push(main, Op::from(EventKind::Enable), input.0);
        inputs.push(input);
    }
    for (i, input) in (0..).zip(inputs) {
        let task = make.post(outside, i, looper)?;
        make.b.get(task)?;
        make.b.push(task, Op::from(EventKind::Trigger), input.0);
        make.b.write(task, &format!("x{i}"))?;
        make.b.end(task)?;
    }
    Ok(make.b.finish())
}
