//! `anyorder replay TRACE WITNESS`: stored witnesses, checked against the trace that they reorder.

use super::predict::specifications;
use crate::args::{Global, ReplayArgs};
use crate::failure::{Failure, JobFailure};
use crate::input::PeekedInput;
use crate::load::{Loaded, load};
use crate::output::{fit, to_stdout};
use crate::watch::Watch;
use anyorder_common::text::escape;
use anyorder_drive::{Missing, Unusable};
use anyorder_drive::{StoredWitness, WitnessReplay, replay_witness};
use anyorder_finding::exit;
use anyorder_report::terminal;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Checks witnesses, prints each as a table, and returns status 1 when all hold, else 3.
pub(super) fn run(
    (path, peeked): (&Path, PeekedInput),
    (witness, text): (&Path, &str),
    args: &ReplayArgs,
    global: &Global,
    watch: &Watch,
) -> Result<ExitCode, Failure> {
    let name = witness.to_string_lossy();
    let stored = StoredWitness::read(&name, text, args.finding.as_deref())?;
    let specifications = specifications(&args.types)?;
    let Loaded::InMemory(read) = load(path, peeked, &|_| u64::MAX, global, watch)? else {
        return Err(JobFailure::input(path, Unusable::TooManyEvents).into());
    };
    let replays = replay_witness(&read.trace, &stored, Some(&specifications), &watch.control())?;
    watch.done();
    // The trace, or the check of it, was cut.
    if let Some(reason) = watch.stopped() {
        return Err(JobFailure::stopped(reason, Missing::Check).into());
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let numbered = (1..).zip(&replays);
    numbered.for_each(|(number, replay)| write(number, replay, &mut text).unwrap_or_default());
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    let all = replays.iter().all(|replay| replay.checked.is_ok());
    Ok(ExitCode::from(if all { exit::FINDINGS } else { exit::LIMIT }))
}

/// The id and the title of a finding are not checked, so they are not printed.
fn write(number: u64, replay: &WitnessReplay, out: &mut String) -> std::fmt::Result {
    if replay.finding.is_some() {
        writeln!(out, "witness {number}")?;
    }
    let holds = match &replay.checked {
        Ok(holds) => holds,
        // An invalid order is not printed; its first wrong step says more.
        Err(why) => return writeln!(out, "replay: {}", escape(why)),
    };
    if let Some(run) = &holds.run {
        out.push_str(&terminal::table(run, fit()));
    }
    let form = holds.form.word();
    let what = format!("it is an order of the recorded events, of form `{form}`");
    writeln!(out, "replay: the witness holds: {what}")?;
    if let Some(what) = &holds.needed {
        writeln!(out, "replay: this holds only if {}", escape(what))?;
    }
    Ok(())
}
