//! One prediction: an analysis over a trace, and what becomes of its candidates.

use super::calls::SpecifiedCalls;
use super::load::Stream;
use super::search::Search;
use crate::args::{AnalysisArg, PairsArg, RulesArg, WitnessArgs};
use crate::engine::{is_android, rule_set};
use crate::failure::Failure;
use crate::ignored::warnings_of_stream;
use crate::input::{self, Watched};
use crate::watch::Watch;
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_finding::Warning;
use anyorder_predict::check::{
    Candidate, CheckOptions, Checked, Facts, Knows, Order, Pairs, Subject, check, check_unconfirmed,
};
use anyorder_predict::{
    Analysis as _, ConfirmOptions, Confirmer, EdcAnalysis, HbAnalysis, Internals, MemoryOnly,
    Options, OrderPaths, PredictError, Reorders, Report, Specified, SpecifiedCommunication, Types,
    WdcAnalysis, event_driven, event_driven_order, run, without_internals,
};
use anyorder_system::Control;
use anyorder_trace::{
    Block, EventId, Problems, ReadError, Tables, TaskKind, Trace, TraceBlocks, TraceSource,
};
use std::collections::BTreeMap;
use std::path::Path;

/// What is asked of a trace.
pub(crate) struct Question<'a> {
    pub(crate) types: Types,
    pub(crate) analysis: Option<AnalysisArg>,
    pub(crate) pairs: PairsArg,
    pub(crate) confirm: bool,
    pub(crate) max_pairs: usize,
    pub(crate) search: &'a WitnessArgs,
}

/// What is known of a trace already.
pub(crate) struct Known<'a> {
    /// Pairs that are to be tried, too, each in trace order.
    pub(crate) extra: &'a [(EventId, EventId)],
    /// Whether a pair is known, so that it stands in no finding.
    pub(crate) is_known: &'a dyn Fn(&Candidate) -> bool,
}

/// What was found, and by which analysis.
pub(crate) struct Analysis {
    pub(crate) checked: Checked,
    pub(crate) analysis: AnalysisArg,
    /// What witnesses may reorder.
    pub(crate) reorders: Reorders,
    /// Objects without a specification, with the number of their invocations: ignored.
    pub(crate) unspecified: BTreeMap<String, u64>,
    /// What is to be said of a trace that was not held in memory.
    pub(crate) warnings: Vec<Warning>,
}

impl Question<'_> {
    /// Returns the analysis to use: the one asked for, else the one that fits what the trace holds.
    fn analysis(&self, tables: &Tables) -> AnalysisArg {
        let posted = tables.tasks.iter().any(|task| task.kind == TaskKind::Posted);
        let fitting = if posted { AnalysisArg::EventDriven } else { AnalysisArg::Edc };
        self.analysis.unwrap_or(fitting)
    }

    /// Returns whether the whole trace has to be in memory for the analysis.
    pub(crate) fn needs_all(&self, tables: &Tables) -> bool {
        self.analysis(tables) == AnalysisArg::EventDriven
    }

    fn options(&self) -> Options {
        Options { violations_max: self.search.max_candidates, ..Options::default() }
    }

    fn check_options(&self, tables: &Tables, analysis: AnalysisArg) -> CheckOptions {
        let pairs = match self.pairs {
            // Who asks for a weaker analysis wants to see what that one finds.
            PairsArg::Auto if matches!(analysis, AnalysisArg::Hb | AnalysisArg::Wdc) => {
                Pairs::Candidates
            }
            // Its pairs are far apart, and each asks for nearly the whole log.
            PairsArg::Auto if analysis == AnalysisArg::EventDriven && is_android(tables) => {
                Pairs::Candidates
            }
            PairsArg::Auto => Pairs::Auto,
            PairsArg::Candidates => Pairs::Candidates,
            PairsArg::All => Pairs::All,
        };
        CheckOptions {
            pairs,
            reorders: reorders(analysis, tables),
            tries_max: self.search.max_tries,
            work_max: self.search.max_work,
            max_pairs: self.max_pairs,
        }
    }
}

fn reorders(analysis: AnalysisArg, tables: &Tables) -> Reorders {
    match analysis {
        AnalysisArg::EventDriven if is_android(tables) => Reorders::Components,
        AnalysisArg::EventDriven => Reorders::Tasks,
        _ => Reorders::Threads,
    }
}

/// Predicts from a trace in memory. What is known is tried and counted, and stands in no finding.
pub(crate) fn predict(
    path: &Path,
    whole: &Trace,
    question: &Question<'_>,
    known: &Known<'_>,
    control: &Control<'_>,
) -> Result<Analysis, Failure> {
    // What is inside an invocation is part of it: it is not there for analysis, search and check.
    let without = without_internals(whole, &question.types, Internals::Auto);
    let trace = without.as_ref().unwrap_or(whole);
    let analysis = question.analysis(trace.tables());
    let failed = |error| failure(path, &error);
    control.progress.phase("analysing");
    let report = match analysis {
        AnalysisArg::EventDriven => {
            let mut spec = specified(question, Some(whole));
            let rules = rule_set(trace, RulesArg::Auto);
            // A stop is seen by who asks the watch; what was found by then is nothing.
            event_driven(trace, rules, &mut spec, &question.options(), control)
                .map(|found| found.report)
                .unwrap_or_default()
        }
        _ => {
            let source = &mut Stoppable { blocks: TraceBlocks::new(trace), control };
            analysed(source, Some(whole), analysis, question, control).map_err(failed)?
        }
    };
    let options = question.check_options(trace.tables(), analysis);
    if !question.confirm {
        let wanted = Facts::wanted(&report);
        let facts = Facts::gather(&mut TraceBlocks::new(trace), wanted, |_| {}).map_err(failed)?;
        let checked = check_unconfirmed(trace.tables(), &facts, &report, &options);
        let (unspecified, warnings) = (BTreeMap::new(), Vec::new());
        let reorders = options.reorders;
        return Ok(Analysis { checked, analysis, reorders, unspecified, warnings });
    }
    let mut communication = SpecifiedCommunication::new(question.types.clone(), trace);
    let confirm = ConfirmOptions {
        reorders: options.reorders,
        window: question.search.window,
        conflicts: question.search.max_conflicts,
    };
    control.progress.phase("preparing");
    let calls = SpecifiedCalls::new(trace, &question.types);
    let confirmer = Confirmer::new(trace, &mut communication, confirm);
    let mut search = Search::new(trace, confirmer, &calls, options.reorders);
    let candidates = question.options();
    let (report, extra, is_known) = (&report, known.extra, known.is_known);
    let checked = match analysis {
        AnalysisArg::Hb | AnalysisArg::Wdc => {
            let mut hb = HbAnalysis::new(MemoryOnly, candidates);
            let mut wdc = WdcAnalysis::new(MemoryOnly, candidates);
            let engine: &mut dyn Knows =
                if analysis == AnalysisArg::Hb { &mut hb } else { &mut wdc };
            let order = Some(Order::Engine(engine));
            let spec = MemoryOnly;
            let subject = Subject { trace, report, spec, order, why: None, extra, is_known };
            check(subject, &mut search, &options, control)
        }
        AnalysisArg::Edc => {
            let spec = specified(question, Some(whole));
            let mut engine = EdcAnalysis::new(spec.clone(), candidates);
            let order = Some(Order::Engine(&mut engine));
            let paths = OrderPaths::new(trace, spec.clone()).ok();
            let why = paths.as_ref();
            let subject = Subject { trace, report, spec, order, why, extra, is_known };
            check(subject, &mut search, &options, control)
        }
        AnalysisArg::EventDriven => {
            let spec = specified(question, Some(whole));
            let rules = rule_set(trace, RulesArg::Auto);
            // Stopped: then what was not listed counts as ordered, and is not tried any more either.
            let relation = event_driven_order(trace, rules, &mut spec.clone(), control).ok();
            let before = |a, b| relation.as_ref().is_none_or(|order| order.happens_before(a, b));
            let order = Some(Order::Relation(&before));
            let subject = Subject { trace, report, spec, order, why: None, extra, is_known };
            check(subject, &mut search, &options, control)
        }
    };
    let unspecified = calls.unspecified(trace);
    let (checked, warnings) = (checked.map_err(failed)?, Vec::new());
    Ok(Analysis { checked, analysis, reorders: options.reorders, unspecified, warnings })
}

/// Predicts from a trace that is too long to be held: its candidates are not tried. The file is read twice.
pub(crate) fn predict_stream(
    path: &Path,
    mut stream: Box<Stream>,
    question: &Question<'_>,
    global: &crate::args::Global,
    watch: &Watch,
) -> Result<Analysis, Failure> {
    if path == Path::new("-") {
        let failure = Failure::new("standard input holds more events than `--max-events`");
        return Err(failure.with_hint("write it to a file: a long trace is read twice"));
    }
    let control = watch.control();
    let failed = |error| failure(path, &error);
    control.progress.phase("analysing");
    let analysis = question.analysis(stream.tables());
    if analysis == AnalysisArg::EventDriven {
        let what = "the event-driven analysis needs the whole trace in memory";
        let failure = Failure::new(format!("{}: {what}", shown(path)));
        return Err(failure.with_hint(
            "`--max-events` lets it hold more; `--analysis edc` keeps tasks in their order",
        ));
    }
    let report = analysed(&mut stream.source(&control), None, analysis, question, &control);
    let report = report.map_err(failed)?;
    drop(stream);
    control.progress.phase("reading again");
    let mut opened = input::open(path, global)?;
    let mut again = Watched { opened: &mut opened, control: &control };
    let facts = Facts::gather(&mut again, Facts::wanted(&report), |_| {}).map_err(failed)?;
    let options = question.check_options(again.tables(), analysis);
    let checked = check_unconfirmed(again.tables(), &facts, &report, &options);
    let warnings = warnings_of_stream(path, again.problems());
    let reorders = options.reorders;
    Ok(Analysis { checked, analysis, reorders, unspecified: BTreeMap::new(), warnings })
}

/// Runs an analysis over a stream.
fn analysed(
    source: &mut dyn TraceSource,
    trace: Option<&Trace>,
    analysis: AnalysisArg,
    question: &Question<'_>,
    control: &Control<'_>,
) -> Result<Report, PredictError> {
    let options = question.options();
    let total = trace.map(|trace| trace.len() as u64);
    let progress = |done| {
        if total.is_some() {
            control.progress.report(done, total);
        }
    };
    Ok(match analysis {
        AnalysisArg::Hb => {
            let mut engine = HbAnalysis::new(MemoryOnly, options);
            run(source, &mut [&mut engine], progress)?;
            engine.finish()
        }
        AnalysisArg::Wdc => {
            let mut engine = WdcAnalysis::new(MemoryOnly, options);
            run(source, &mut [&mut engine], progress)?;
            engine.finish()
        }
        AnalysisArg::Edc | AnalysisArg::EventDriven => {
            let mut engine = EdcAnalysis::new(specified(question, trace), options);
            run(source, &mut [&mut engine], progress)?;
            engine.finish()
        }
    })
}

/// Returns the specification of a trace. In memory it knows from the whole trace what is inside an invocation, also where internals were left out.
fn specified(question: &Question<'_>, trace: Option<&Trace>) -> Specified {
    match trace {
        Some(trace) => Specified::for_trace(question.types.clone(), Internals::Auto, trace),
        None => Specified::new(question.types.clone(), Internals::Auto),
    }
}

/// The blocks of a trace in memory, as a source that ends early when the job is stopped.
struct Stoppable<'a> {
    blocks: TraceBlocks<'a>,
    control: &'a Control<'a>,
}

impl TraceSource for Stoppable<'_> {
    fn tables(&self) -> &Tables {
        self.blocks.tables()
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        if self.control.check().is_err() {
            block.columns.clear();
            return Ok(false);
        }
        self.blocks.next_block(block)
    }

    fn problems(&self) -> &Problems {
        self.blocks.problems()
    }

    fn take_tables(&mut self) -> Tables {
        self.blocks.take_tables()
    }
}

fn failure(path: &Path, error: &PredictError) -> Failure {
    match error {
        PredictError::Read(error) => Failure::input(path, error),
        error => Failure::new(format!("{}: {}", shown(path), escape(&error.to_string()))),
    }
}
