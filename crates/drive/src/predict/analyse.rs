//! One prediction: an analysis of a trace, and the outcome of its candidates.

use super::calls::{SpecifiedCalls, communication};
use super::odd_calls::OddCalls;
use super::search::{FoundDeadlocks, Search};
use super::{Analysis, PredictOptions, Specifications};
use crate::failure::{Failure, Unusable};
use crate::not_understood::StreamDoubts;
use crate::rules::{fitting_rules, is_android};
use crate::trace_input::observed;
use crate::words::{self, DeadlockFinding, Predicted};
use anyorder_finding::Warning;
use anyorder_predict::check::{
    Candidate, CheckOptions, Checked, Confirms, Facts, Order, Pairs, Subject, check,
    check_unconfirmed,
};
use anyorder_predict::{
    Analysis as Engine, CandidateOptions, ConfirmOptions, Confirmer, DeadlockOptions, EdcAnalysis,
    HbAnalysis, Internals, LocksInMemory, OrderPaths, PredictError, Reorders, Report, Specified,
    Types, WdcAnalysis, event_driven, event_driven_order, run_until, without_internals,
};
use anyorder_system::Control;
use anyorder_trace::{
    Block, EventId, Problems, ReadError, Tables, Trace, TraceBlocks, TraceSource,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Each pair is tried in this part of the work of a search.
const ONE_BY_ONE: u64 = 1_000;

/// The parameters of a prediction.
pub(crate) struct Question<'a> {
    /// The name of the trace in messages.
    pub(super) name: &'a str,
    pub(super) options: &'a PredictOptions,
    types: Types,
}

/// Takes the deadlocks and the other findings so far, and the number of those left out.
type TakeSoFar<'a> = dyn Fn(&[DeadlockFinding], Vec<Predicted>, u64) + 'a;

/// Pairs that an earlier analysis handles.
pub(crate) struct KnownPairs<'a> {
    /// Additional pairs to search witnesses for, each in trace order.
    pub(crate) extra: &'a [(EventId, EventId)],
    /// Whether a pair is known and therefore not reported.
    pub(crate) is_known: &'a dyn Fn(&Candidate) -> bool,
    /// Takes what was found so far, while the search for witnesses runs.
    pub(crate) so_far: &'a TakeSoFar<'a>,
}

/// [`KnownPairs`], as the check takes them.
struct KnownCandidates<'a> {
    extra: &'a [(EventId, EventId)],
    is_known: &'a dyn Fn(&Candidate) -> bool,
    so_far: &'a dyn Fn(Checked),
}

/// The results of an analysis.
pub(crate) struct Analysed {
    /// What the check found, without its groups: they are in `predicted`.
    pub(crate) checked: Checked,
    /// The findings, the most important first.
    pub(crate) predicted: Vec<Predicted>,
    /// The deadlocks.
    pub(crate) deadlocks: FoundDeadlocks,
    pub(super) analysis: Analysis,
    /// The kind of reordering that witnesses use.
    pub(super) reorders: Reorders,
    /// Objects without a specification, with the number of their invocations: ignored.
    pub(crate) unspecified: BTreeMap<String, u64>,
    /// Calls that do not fit their type.
    pub(crate) odd_calls: OddCalls,
}

impl<'a> Question<'a> {
    pub(crate) fn new(name: &'a str, options: &'a PredictOptions) -> Result<Question<'a>, Failure> {
        let types = Specifications::types_of(options.specifications.as_ref())?;
        Ok(Question { name, options, types })
    }

    fn candidates(&self) -> CandidateOptions {
        CandidateOptions {
            violations_max: self.options.search.max_candidates,
            ..CandidateOptions::default()
        }
    }

    fn deadlock_options(&self) -> DeadlockOptions {
        let search = &self.options.search;
        let fitting = DeadlockOptions::default();
        DeadlockOptions {
            cycles_max: search.max_candidates.min(fitting.cycles_max),
            tries_max: search.max_tries.min(fitting.tries_max),
            work_max: search.max_work.min(fitting.work_max),
            ..fitting
        }
    }

    fn check_options(&self, tables: &Tables, analysis: Analysis) -> CheckOptions {
        let (search, max_pairs) = (&self.options.search, self.options.max_pairs);
        let fitting = CheckOptions::default();
        let pairs = match self.options.pairs {
            // A requested weaker analysis reports its own candidates.
            Pairs::Auto if matches!(analysis, Analysis::Hb | Analysis::Wdc) => Pairs::Candidates,
            // Its pairs are far apart, so that each search would visit nearly the whole log.
            Pairs::Auto if analysis == Analysis::EventDriven && is_android(tables) => {
                Pairs::Candidates
            }
            pairs => pairs,
        };
        CheckOptions {
            pairs,
            reorders: reorders(analysis, tables),
            tries_max: search.max_tries,
            work_max: search.max_work,
            one_by_one_max: (search.max_work / ONE_BY_ONE).max(fitting.one_by_one_max),
            max_pairs,
            strict: search.strict,
        }
    }
}

fn reorders(analysis: Analysis, tables: &Tables) -> Reorders {
    match analysis {
        Analysis::EventDriven if is_android(tables) => Reorders::Components,
        Analysis::EventDriven => Reorders::Tasks,
        _ => Reorders::Threads,
    }
}

/// Predicts from a trace in memory. Known pairs are searched and counted, but not reported.
pub(crate) fn analyse(
    whole: &Trace,
    question: &Question<'_>,
    known: &KnownPairs<'_>,
    control: &Control<'_>,
) -> Result<Analysed, Failure> {
    // Events inside an invocation are part of it. Analysis, search and check do not see them.
    let without = without_internals(whole, &question.types, Internals::Auto);
    let trace = without.as_ref().unwrap_or(whole);
    let analysis = question.options.analysis(trace.tables());
    let failed = |error| failure(question.name, error);
    control.progress.phase("analysing");
    let report = candidates((trace, whole), analysis, question, control).map_err(failed)?;
    let options = question.check_options(trace.tables(), analysis);
    if !question.options.confirm {
        return unconfirmed(&mut TraceBlocks::new(trace), &report, (question, analysis), control);
    }
    let mut communication = communication(trace, &question.types, &control.cancel);
    let confirm = ConfirmOptions {
        reorders: options.reorders,
        window: question.options.search.window,
        conflicts: question.options.search.max_conflicts,
    };
    control.progress.phase("preparing");
    let calls = SpecifiedCalls::new(trace, &question.types, &control.cancel);
    let cancel = &control.cancel;
    let confirmer = Confirmer::new_until(trace, &mut communication, confirm, cancel);
    let deadlocks = RefCell::default();
    let with_deadlocks = (question.deadlock_options(), &deadlocks);
    let mut search = Search::new(trace, confirmer, (&calls, options.reorders), with_deadlocks);
    let search = (&mut search as &mut dyn Confirms, &options);
    let known = &KnownCandidates {
        extra: known.extra,
        is_known: known.is_known,
        so_far: &|mut checked: Checked| {
            let predicted = words::predictions(trace.tables(), &mut checked);
            (known.so_far)(&deadlocks.borrow().findings, predicted, checked.left_out);
        },
    };
    let checked = confirmed((trace, whole), &report, (question, analysis), known, search, control);
    let unspecified = calls.unspecified(trace);
    let odd_calls = OddCalls::of(&calls, trace, cancel);
    let mut checked = checked.map_err(failed)?;
    let mut predicted = words::predictions(trace.tables(), &mut checked);
    words::with_trace(trace, &mut predicted, cancel);
    let (reorders, deadlocks) = (options.reorders, deadlocks.take());
    Ok(Analysed { checked, predicted, deadlocks, analysis, reorders, unspecified, odd_calls })
}

/// Searches for witnesses of the candidates of a report, with what the analysis knows of their
/// order.
fn confirmed(
    (trace, whole): (&Trace, &Trace),
    report: &Report,
    (question, analysis): (&Question<'_>, Analysis),
    &KnownCandidates { extra, is_known, so_far }: &KnownCandidates<'_>,
    (search, options): (&mut dyn Confirms, &CheckOptions),
    control: &Control<'_>,
) -> Result<Checked, PredictError> {
    let (candidates, cancel) = (question.candidates(), &control.cancel);
    match analysis {
        Analysis::Hb | Analysis::Wdc => {
            let mut hb = HbAnalysis::new(LocksInMemory::default(), candidates);
            let mut wdc = WdcAnalysis::new(LocksInMemory::default(), candidates);
            let engine: &mut dyn anyorder_predict::Analysis =
                if analysis == Analysis::Hb { &mut hb } else { &mut wdc };
            let order = Some(Order::Engine(engine));
            let spec = LocksInMemory::default();
            let subject =
                Subject { trace, report, spec, order, why: None, extra, is_known, so_far };
            check(subject, search, options, control)
        }
        Analysis::Edc => {
            let spec = specified(question, Some(whole));
            let mut engine = EdcAnalysis::new(spec.clone(), candidates);
            let order = Some(Order::Engine(&mut engine));
            let paths = OrderPaths::new_until(trace, spec.clone(), cancel).ok();
            let why = paths.as_ref();
            let subject = Subject { trace, report, spec, order, why, extra, is_known, so_far };
            check(subject, search, options, control)
        }
        Analysis::EventDriven => {
            let spec = specified(question, Some(whole));
            let rules = fitting_rules(trace);
            // The listing was stopped. Unlisted pairs count as ordered, and are not searched
            // either.
            let relation = event_driven_order(trace, rules, &mut spec.clone(), control).ok();
            let before = |a, b| relation.as_ref().is_none_or(|order| order.happens_before(a, b));
            let order = Some(Order::Relation(&before));
            let subject =
                Subject { trace, report, spec, order, why: None, extra, is_known, so_far };
            check(subject, search, options, control)
        }
    }
}

/// Runs an analysis over a trace without the events inside invocations; `whole` has them.
fn candidates(
    (trace, whole): (&Trace, &Trace),
    analysis: Analysis,
    question: &Question<'_>,
    control: &Control<'_>,
) -> Result<Report, PredictError> {
    if analysis != Analysis::EventDriven {
        return analysed(&mut TraceBlocks::new(trace), Some(whole), analysis, question, control);
    }
    let mut spec = specified(question, Some(whole));
    let rules = fitting_rules(trace);
    // The caller detects a stop through the control; the partial result is dropped.
    let found = event_driven(trace, rules, &mut spec, &question.candidates(), control);
    Ok(found.map(|found| found.report).unwrap_or_default())
}

/// Lists the candidates of a trace that is too long for memory, and the warnings of its reader.
/// Reads the trace twice.
pub(super) fn analyse_stream<'s>(
    source: &mut dyn TraceSource,
    reopen: &mut dyn FnMut() -> Result<Box<dyn TraceSource + 's>, Failure>,
    question: &Question<'_>,
    control: &Control<'_>,
) -> Result<(Analysed, Vec<Warning>), Failure> {
    let name = question.name;
    let failed = |error| failure(name, error);
    control.progress.phase("analysing");
    let analysis = question.options.analysis(source.tables());
    if analysis == Analysis::EventDriven {
        return Err(Failure::input(name, Unusable::NotInMemory));
    }
    let report = analysed(source, None, analysis, question, control).map_err(failed)?;
    observed(name, source.tables())?;
    control.progress.phase("reading again");
    let mut second = reopen()?;
    let mut source = Following { source: &mut *second, doubts: StreamDoubts::default() };
    let analysed = unconfirmed(&mut source, &report, (question, analysis), control)?;
    let (is_whole, problems) = (control.cancel.reason().is_none(), source.problems());
    let warnings = source.doubts.warnings(name, source.tables(), problems, is_whole);
    Ok((analysed, warnings))
}

/// A source that is followed for what is not understood.
struct Following<'s> {
    source: &'s mut dyn TraceSource,
    doubts: StreamDoubts,
}

impl TraceSource for Following<'_> {
    fn tables(&self) -> &Tables {
        self.source.tables()
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        let more = self.source.next_block(block)?;
        if more {
            self.doubts.block(self.source.tables(), block);
        }
        Ok(more)
    }

    fn problems(&self) -> &Problems {
        self.source.problems()
    }

    fn take_tables(&mut self) -> Tables {
        self.source.take_tables()
    }
}

/// Lists the candidates of a report without a search. Reads the trace.
fn unconfirmed(
    source: &mut dyn TraceSource,
    report: &Report,
    (question, analysis): (&Question<'_>, Analysis),
    control: &Control<'_>,
) -> Result<Analysed, Failure> {
    let cancel = &control.cancel;
    let facts = Facts::gather_until(source, Facts::wanted(report), cancel, |_| {});
    let facts = Arc::new(facts.map_err(|error| failure(question.name, error))?);
    let options = question.check_options(source.tables(), analysis);
    let mut checked = check_unconfirmed((source.tables(), &facts), report, &options, cancel);
    let predicted = words::predictions(source.tables(), &mut checked);
    let (reorders, unspecified) = (options.reorders, BTreeMap::new());
    let (deadlocks, odd_calls) = Default::default();
    Ok(Analysed { checked, predicted, deadlocks, analysis, reorders, unspecified, odd_calls })
}

/// Runs an analysis over a stream.
fn analysed(
    source: &mut dyn TraceSource,
    trace: Option<&Trace>,
    analysis: Analysis,
    question: &Question<'_>,
    control: &Control<'_>,
) -> Result<Report, PredictError> {
    let options = question.candidates();
    let total = trace.map(|trace| trace.len() as u64);
    let progress = |done| {
        if total.is_some() {
            control.progress.report(done, total);
        }
    };
    let mut engine: Box<dyn Engine> = match analysis {
        Analysis::Hb => Box::new(HbAnalysis::new(LocksInMemory::default(), options)),
        Analysis::Wdc => Box::new(WdcAnalysis::new(LocksInMemory::default(), options)),
        Analysis::Edc | Analysis::EventDriven => {
            Box::new(EdcAnalysis::new(specified(question, trace), options))
        }
    };
    run_until(source, &mut [&mut *engine], &control.cancel, progress)?;
    Ok(engine.finish())
}

/// Returns the specification of a trace. For a trace in memory, it also knows the events inside
/// invocations, which `trace` may lack.
fn specified(question: &Question<'_>, trace: Option<&Trace>) -> Specified {
    match trace {
        Some(trace) => Specified::for_trace(question.types.clone(), Internals::Auto, trace),
        None => Specified::new(question.types.clone(), Internals::Auto),
    }
}

fn failure(name: &str, error: PredictError) -> Failure {
    match error {
        PredictError::Read(error) => Failure::trace(Path::new(name), error),
        error => Failure::input(name, Unusable::Prediction(error)),
    }
}
