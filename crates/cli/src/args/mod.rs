//! The one declaration of all commands and options. Help, completions and the manual page are
//! generated from it.

pub(crate) use certify::CertifyArgs;
pub(crate) use check::{CheckArgs, GROUPS};
pub(crate) use choice::word_of;
pub(crate) use consistency::ConsistencyArgs;
pub(crate) use explore::{BoundArg, ExploreAlgorithm, ExploreArgs, ReversalArgs, ShrinkArgs};
pub(crate) use generate::GenerateArgs;
pub(crate) use home::HomeArgs;
pub(crate) use limits::LimitArgs;
pub(crate) use model::{DiffArgs, FmtArgs, GraphArgs, ReplayArgs, SearchArgs, SimulateArgs, cores};
pub(crate) use output::{
    AnswerFormat, CountingArgs, ListArgs, OutputArgs, OutputFormat, ScheduleArgs,
};
pub(crate) use page::{PageArgs, StepArgs};
pub(crate) use predict::{PAIRS, PredictArgs, SpecificationArgs, WitnessArgs};
pub(crate) use robust::RobustArgs;
pub(crate) use run::{RunArgs, RunStreams, STRATEGIES, StressStrategy};
pub(crate) use tools::{
    BugArgs, BugKind, CompletionsArgs, ConvertArgs, ExplainArgs, InfoArgs, ManArgs, WhyArgs,
};

mod certify;
mod check;
mod choice;
mod consistency;
mod explore;
mod format;
mod generate;
mod home;
mod limits;
mod model;
mod output;
mod page;
mod predict;
mod robust;
mod run;
mod tools;

use clap::{Args, ColorChoice, Parser, Subcommand, ValueHint};
use std::path::PathBuf;

/// The command line.
#[derive(Parser, Debug)]
#[command(
    name = "anyorder",
    version,
    about = "Finds ordering bugs in event-driven and concurrent programs",
    long_about = "Anyorder reads a recorded run of an event-driven or concurrent program. It reports which pairs of \
        accesses can happen in either order, why, and which of them matter. It also decides whether a trace is \
        consistent. For a model of a program, it searches every order and shows the shortest run that violates a \
        property.",
    after_help = EXAMPLES,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  anyorder check app.trace                     find races, print them
  anyorder check app.trace --report report     and write an HTML report
  anyorder check lock.any                      search every order of a model
  anyorder run ./prog                          run a program built by -fsanitize=thread
  anyorder check http://localhost:8000/        reverse the events of a web page
  anyorder explore --program 'node app.js'     reverse the conflicts of one run of a program
  anyorder predict app.std                     predict conflicts in other orders of a run
  anyorder why app.trace 12 57                 why are these two events (un)ordered?
  anyorder consistency app.edt                 can this trace have happened?
  anyorder robust app.trace                    does concurrency show in this run?
  anyorder certify app.trace order.proof       does this certificate hold?
  anyorder info app.trace                      what is in this trace?
  anyorder convert app.trace app.bin --to binary

Exit status:
  0  nothing found, and the search was complete
  1  findings
  2  bad input or usage
  3  a limit was hit before an answer, and nothing was found
 70  a bug in anyorder";

/// Options of all commands.
#[derive(Args, Debug, Clone)]
pub(crate) struct Global {
    /// Read inputs as this format instead of recognising them by their content
    #[arg(long, global = true, value_name = "FORMAT", help_heading = "Input", value_parser = crate::args::format::format_parser())]
    pub(crate) input_format: Option<anyorder_formats::detect::Format>,

    /// Read the intact blocks of a damaged binary trace, up to the damage
    #[arg(long, global = true, help_heading = "Input")]
    pub(crate) salvage: bool,

    /// Source positions of a STD trace: site number, function, file:line, separated by tabs
    /// [default: `sites.tsv` beside the trace, if present]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub(crate) sites: Option<PathBuf>,

    /// Accept edtrace variables with several writes and no `co` line
    #[arg(long, global = true, help_heading = "Input")]
    pub(crate) infer_co: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Print results and errors only: no warnings, no progress
    #[arg(long, short, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Show names in tables whole, even if lines get longer than the terminal is wide
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) wide: bool,

    /// When to use colours; `auto` asks the terminal and respects NO_COLOR
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output"
    )]
    pub(crate) color: ColorChoice,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Find races in recorded runs, and violations in every order of a model
    Check(Box<CheckArgs>),
    /// Run a native program, record what it does, and find what can go wrong in other orders
    Run(Box<RunArgs>),
    /// Predict conflicts in other orders of a recorded run, with a witness for each finding
    Predict(Box<PredictArgs>),
    /// Explain why two events are ordered, or why nothing orders them
    Why(WhyArgs),
    /// Decide whether some order of its messages explains a trace
    Consistency(ConsistencyArgs),
    /// Decide whether a recorded run shows what only concurrency adds
    Robust(Box<RobustArgs>),
    /// Check proofs, witnesses and schedules with code of their own
    Certify(CertifyArgs),
    /// Explore the orders of a model or a program with one algorithm and all its options
    Explore(Box<ExploreArgs>),
    /// Shrink the run that shows a finding
    Shrink(ShrinkArgs),
    /// Run the schedule of a finding again
    Replay(ReplayArgs),
    /// Run a model at random, many times
    Simulate(SimulateArgs),
    /// Compare two runs of a model up to their first difference
    Diff(DiffArgs),
    /// Write the states of a model and the steps between them as a graph
    Graph(GraphArgs),
    /// Format models
    Fmt(FmtArgs),
    /// Show what is in a trace: counts, handlers, hot locations, a timeline
    Info(InfoArgs),
    /// Write a trace in another format
    Convert(ConvertArgs),
    /// Generate an event-driven trace, for tests and benchmarks
    Generate(GenerateArgs),
    /// Explain a kind of finding, a category or a word of the reports
    Explain(ExplainArgs),
    /// Print the JSON Schema of the results
    #[command(after_help = "Examples:\n  anyorder schema > anyorder.schema.json")]
    Schema,
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
    /// Panic, or misbehave in another way, to test what becomes of it
    #[command(hide = true)]
    Bug(BugArgs),
}
