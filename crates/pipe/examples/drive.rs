//! Runs every schedule of a program behind a pipe, up to a bound, and prints how the runs end.
//!
//! ```sh
//! cargo run -p anyorder-pipe --example drive -- python3 examples/pipe/python/double_submit.py
//! cargo run -p anyorder-pipe --example drive -- --schedules 100 --steps 8 \
//!     node examples/pipe/node/search.js
//! ```

#[path = "../tests/contract/enumerate.rs"]
mod enumerate;

use anyorder_pipe::{ChildCommand, PipeOptions, PipeSystem, Retrying};
use anyorder_system::{Choice, TaskSystem};
use enumerate::{Bounds, Enumeration, enumerate};
use std::error::Error;
use std::io::{self, Write};

/// How often a request is repeated when its reply is lost.
const ATTEMPTS_MAX: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1).peekable();
    let mut bounds = Bounds { steps_max: 1_000, schedules_max: 10_000 };
    while let Some(option) = words.next_if(|word| word.starts_with("--")) {
        let number = words.next().ok_or("a number must follow the option")?.parse::<u32>()?;
        match option.as_str() {
            "--schedules" => bounds.schedules_max = number.into(),
            "--steps" => bounds.steps_max = usize::try_from(number)?,
            _ => return Err(format!("unknown option `{option}`").into()),
        }
    }
    let program =
        words.next().ok_or("usage: drive [--schedules N] [--steps N] PROGRAM ARGUMENT...")?;
    let command = ChildCommand::new(program).arguments(words);
    let system = PipeSystem::spawn(command, PipeOptions::default())?;
    let mut system = Retrying::new(system, ATTEMPTS_MAX);
    let runs = enumerate(&mut system, bounds)?;
    match show(&runs, &system.program().name, system.retries()) {
        // The reader of the output has closed it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn show(runs: &Enumeration, name: &str, retries: u64) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let all = if runs.is_complete { "all" } else { "the first" };
    let Enumeration { maximal, cut, steps, .. } = runs;
    writeln!(
        out,
        "{}: {all} {maximal} schedules, {steps} steps, {} ways to end",
        name.escape_debug(),
        runs.outcomes.len()
    )?;
    if *cut > 0 {
        writeln!(out, "{cut} more schedules were cut by the bound on steps")?;
    }
    if retries > 0 {
        writeln!(out, "{retries} requests had to be repeated")?;
    }
    for outcome in runs.outcomes.values() {
        let failed = if outcome.failures.is_empty() { "" } else { "  FAILS" };
        writeln!(out, "\n{} schedules end like this:{failed}", outcome.count)?;
        for (path, part) in outcome.observation.parts() {
            let text = part.text.as_deref().unwrap_or_default();
            writeln!(out, "    {path} = {} ({})", text.escape_debug(), part.level.word())?;
        }
        writeln!(out, "  one of them: {}", words(&outcome.schedule))?;
    }
    Ok(())
}

fn words(schedule: &[Choice]) -> String {
    let word = |choice: &Choice| match choice.alternative {
        0 => choice.task.to_string(),
        alternative => format!("{} (alternative {alternative})", choice.task),
    };
    schedule.iter().map(word).collect::<Vec<_>>().join(", ")
}
