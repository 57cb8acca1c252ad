//! The commands, one file each.

mod bug;
mod certify;
mod check;
pub(crate) mod consistency;
mod convert;
mod declared;
mod diff;
mod explain;
mod explore;
mod fmt;
mod generate;
mod graph;
pub(crate) mod home;
mod info;
mod model_inputs;
mod page;
mod predict;
mod render;
mod replay;
mod replay_witness;
mod robust;
mod run;
mod runner;
mod shrink;
mod simulate;
mod why;

pub(crate) use check::AcceptedFindings;
pub(crate) use render::{render_cut, set_elapsed, write_page};

use crate::args::{Cli, Command};
use crate::failure::{self, Failure};
use crate::guard::print_cut;
use crate::phase::{claim, written};
use crate::streams::stderr;
use crate::watch::Watch;
use anyorder_common::text::escape;
use anyorder_drive::explore::{adopt_orphans, end_programs};
use anyorder_finding::exit;
use anyorder_process::survive_large_files;
use clap::{ColorChoice, Parser};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Parses the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    let cli = match arguments() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    crate::output::set_full_names(cli.global.wide);
    match cli.global.color {
        ColorChoice::Auto => {}
        ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
        ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
    }
    survive_large_files();
    let runs_program = matches!(cli.command, Command::Run(_));
    if let Command::Run(args) = &cli.command
        && let Err(failure) = run::divide_streams(args)
    {
        return failure::print(&failure);
    }
    if !runs_program {
        adopt_orphans();
    }
    let watch = match Watch::start(&cli.global) {
        Ok(watch) => watch,
        Err(failure) => return failure::print(&failure),
    };
    let status = dispatch(cli, &watch).unwrap_or_else(|failure| not_done(&failure, &watch));
    if !runs_program {
        // What programs left behind ends with this process.
        end_programs();
    }
    // From here on, the status of the command is that of the process.
    claim();
    written();
    status
}

/// Prints what was found if a limit ended the command, else the failure.
fn not_done(failure: &Failure, watch: &Watch) -> ExitCode {
    let cut = match (failure.is_stop(), watch.stopped()) {
        (true, Some(reason)) => print_cut(watch.draft(), failure, reason),
        _ => None,
    };
    cut.map_or_else(|| failure::print(failure), ExitCode::from)
}

/// Parses the arguments. The error of wrong ones shows hostile characters in them escaped.
fn arguments() -> Result<Cli, clap::Error> {
    let given: Vec<OsString> = std::env::args_os().collect();
    Cli::try_parse_from(&given).map_err(|error| {
        let visible = given.iter().map(|word| escape(&word.to_string_lossy()).into_owned());
        Cli::try_parse_from(visible).err().unwrap_or(error)
    })
}

/// Prints the error of wrong arguments, or the help or version that was asked for.
fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if !error.use_stderr() {
        error.exit();
    }
    // A failed write to stderr cannot be reported.
    let _ = write!(stderr(), "{}", text.ansi());
    ExitCode::from(exit::USAGE)
}

fn dispatch(cli: Cli, watch: &Watch) -> Result<ExitCode, Failure> {
    let Cli { global, command } = cli;
    match command {
        Command::Check(args) => check::run(&args, &global, watch),
        Command::Run(args) => run::run(&args, &global, watch),
        Command::Predict(args) => predict::run(&args, &global, watch),
        Command::Why(args) => why::run(&args, &global, watch),
        Command::Consistency(args) => consistency::run(&args, &global, watch),
        Command::Robust(args) => robust::run(&args, &global, watch),
        Command::Certify(args) => certify::run(&args, &global, watch),
        Command::Explore(args) => explore::run(&args, &global, watch),
        Command::Shrink(args) => shrink::run(&args, &global, watch),
        Command::Replay(args) => replay::run(&args, &global, watch),
        Command::Simulate(args) => simulate::run(&args, &global, watch),
        Command::Diff(args) => diff::run(&args, &global),
        Command::Graph(args) => graph::run(&args, &global, watch),
        Command::Fmt(args) => fmt::run(&args),
        Command::Info(args) => info::run(&args, &global, watch),
        Command::Convert(args) => convert::run(&args, &global, watch),
        Command::Explain(args) => explain::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Schema => declared::schema(),
        Command::Completions(args) => declared::completions(&args),
        Command::Man(args) => declared::man(&args),
        Command::Bug(args) => bug::run(&args, watch),
    }
}
