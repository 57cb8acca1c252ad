//! Checks whether the atomic blocks of a trace of threads are serializable.

use super::CheckTraceOptions;
use crate::control::JobControl;
use crate::limits::stopped_by;
use crate::result::JobResult;
use crate::trace_input::TraceInput;
use crate::words;
use anyorder_finding::{Warning, WarningKind, option, stat};
use anyorder_robust::transactions::{Marks, TransactionOptions, check, marks};
use anyorder_trace::EventKind;

/// Adds the findings about atomic blocks to a result.
pub(super) fn add(
    input: &TraceInput,
    options: &CheckTraceOptions,
    control: &JobControl<'_>,
    result: &mut JobResult,
) {
    let trace = &input.trace;
    match (options.transactions, marks(trace)) {
        (Some(true), _) | (None, Marks::Blocks) => {}
        (None, Marks::Unbalanced) => {
            let text = "`begin` and `end` seem to mark atomic blocks, but some end without a \
                        begin: whether these are atomic is not checked";
            result.warnings.push(Warning::new(WarningKind::Odd, &input.name, text, 1));
            return;
        }
        (Some(false), _) | (None, Marks::Threads) => return,
    }
    let of_engine = TransactionOptions {
        whole_threads: options.transactions == Some(true),
        max_cycles: usize::MAX,
        ..TransactionOptions::default()
    };
    let checked = check(trace, &of_engine, control);
    result.options.set(option::TRANSACTIONS, true);
    result
        .stats
        .set(stat::TRANSACTIONS, checked.transactions)
        .set(stat::TRANSACTIONS_ON_CYCLES, checked.on_cycles);
    let not_seen = trace
        .events()
        .filter(|event| matches!(event.kind(), EventKind::Invoke | EventKind::Barrier));
    let not_seen = not_seen.count() as u64;
    if checked.transactions > 0 && not_seen > 0 {
        let text = "calls of objects and barriers give no order among atomic blocks";
        result.warnings.push(Warning::new(WarningKind::Odd, &input.name, text, not_seen));
    }
    let mut findings = words::transactions(trace, &checked.violations);
    let last = checked.violations.iter().map(|v| v.links.last().map_or(v.begin, |l| l.after));
    let of_each = findings.iter_mut().zip(last);
    let of_each = of_each.map(|(finding, last)| (finding, last, &[][..]));
    input.not_understood.mark_all(trace, of_each);
    findings.into_iter().for_each(|finding| result.push(finding, None));
    match checked.stopped {
        Some(reason) => result.cut_by(stopped_by(reason)),
        None if checked.is_cut => result.cut_by(option::MAX_WORK),
        None => {}
    }
}
