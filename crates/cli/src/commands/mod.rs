//! The commands, one file each.

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
mod info;
mod model_inputs;
mod predict;
mod render;
mod replay;
mod replay_witness;
mod shrink;
mod simulate;
mod why;

use crate::args::{Cli, Command};
use crate::failure::{self, Failure};
use clap::{ColorChoice, Parser};
use std::process::ExitCode;

/// Parses the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    match cli.global.color {
        ColorChoice::Auto => {}
        ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
        ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
    }
    dispatch(cli).unwrap_or_else(|failure| failure::print(&failure))
}

fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    let Cli { global, command } = cli;
    match command {
        Command::Check(args) => check::run(&args, &global),
        Command::Predict(args) => predict::run(&args, &global),
        Command::Why(args) => why::run(&args, &global),
        Command::Consistency(args) => consistency::run(&args, &global),
        Command::Certify(args) => certify::run(&args, &global),
        Command::Explore(args) => explore::run(&args, &global),
        Command::Shrink(args) => shrink::run(&args, &global),
        Command::Replay(args) => replay::run(&args, &global),
        Command::Simulate(args) => simulate::run(&args, &global),
        Command::Diff(args) => diff::run(&args, &global),
        Command::Graph(args) => graph::run(&args, &global),
        Command::Fmt(args) => fmt::run(&args),
        Command::Info(args) => info::run(&args, &global),
        Command::Convert(args) => convert::run(&args, &global),
        Command::Explain(args) => explain::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Schema => declared::schema(),
        Command::Completions(args) => declared::completions(&args),
        Command::Man(args) => declared::man(&args),
        Command::Bug => panic!("this bug was asked for"),
    }
}
