//! Families with many races.

use super::Make;
use anyorder_trace::{Mailbox, TableFull, Trace};

/// A thread writes a flag again and again, and another one reads it.
pub(super) fn polled(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for _ in 0..n / 2 {
        make.b.write(threads[0].1, "x")?;
        make.b.read(threads[1].1, "x")?;
    }
    Ok(make.joined(&threads))
}

/// Two threads write a variable, each under a lock of its own.
pub(super) fn two_locks(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for i in 0..n / 3 {
        let at = i as usize % 2;
        make.section(threads[at].1, ["a", "b"][at], "x")?;
    }
    Ok(make.joined(&threads))
}

/// Four threads access sixteen variables; now and then one uses a lock of its own.
pub(super) fn hot(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(4)?;
    for i in 0..n * 4 / 5 {
        let mixed = i.wrapping_mul(0x9e37_79b9) >> 16;
        let (task, variable) = (threads[mixed as usize % 4].1, format!("x{}", mixed / 4 % 16));
        match mixed / 64 % 2 {
            0 => make.b.read(task, &variable)?,
            _ => make.b.write(task, &variable)?,
        };
        if i % 12 == 0 {
            make.section(task, &format!("lock {}", mixed % 4), &format!("own {}", mixed % 4))?;
        }
    }
    Ok(make.joined(&threads))
}

pub(super) fn racers(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(n)?;
    for (_, task) in &threads {
        make.b.write(*task, "x")?;
    }
    Ok(make.joined(&threads))
}

/// Two threads write a variable, each time at a source position of its own.
pub(super) fn places(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let threads = make.threads(2)?;
    for i in 0..n {
        make.b.write(threads[i as usize % 2].1, "x")?;
        make.b.at("file", i + 1)?;
    }
    Ok(make.joined(&threads))
}

/// Tasks of a bag that all write one variable.
pub(super) fn bag_racers(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let looper = make.b.handler("looper", Mailbox::Bag)?;
    let mut tasks = Vec::new();
    for i in 0..n {
        tasks.push(make.post(make.main, i, looper)?);
    }
    for task in tasks {
        make.run(task, "x")?;
    }
    Ok(make.b.finish())
}

/// Tasks of four fifo loopers that all write one variable.
pub(super) fn loop_racers(n: u32) -> Result<Trace, TableFull> {
    let mut make = Make::new()?;
    let mut loopers = Vec::new();
    for i in 0..4 {
        loopers.push(make.b.handler(&format!("looper {i}"), Mailbox::Fifo)?);
    }
    let mut tasks = Vec::new();
    for i in 0..n {
        tasks.push(make.post(make.main, i, loopers[i as usize % 4])?);
    }
    for task in tasks {
        make.run(task, "x")?;
    }
    Ok(make.b.finish())
}
