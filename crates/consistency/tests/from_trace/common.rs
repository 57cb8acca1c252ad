//! Renders converted traces as text, and reads small traces.

use anyorder_consistency::{FromTrace, FromTraceError, Given, Kept, MailboxRule, PartialTrace};
use anyorder_formats::edtrace::{EdtraceOptions, EdtraceReader};
use anyorder_trace::Trace;

/// Reads an edtrace; adds its first line.
pub(crate) fn edtrace(text: &str) -> Trace {
    let text = format!("edtrace 1\n{text}");
    let options = EdtraceOptions { infer_coherence: true };
    Trace::read(&mut EdtraceReader::with_options(text.as_bytes(), options)).expect("a trace")
}

/// Converts with plain fifo mailboxes.
pub(crate) fn fifo(trace: &Trace) -> Result<(PartialTrace, Kept), FromTraceError> {
    PartialTrace::from_trace(trace, &FromTrace::default())
}

/// Converts with delayed mailboxes.
pub(crate) fn delayed(trace: &Trace) -> (PartialTrace, Kept) {
    let options = FromTrace { mailboxes: MailboxRule::Delayed, ..FromTrace::default() };
    PartialTrace::from_trace(trace, &options).expect("a partial trace")
}

/// Returns the orders between messages, sorted, as `a ReadsFrom b`.
pub(crate) fn given(trace: &Trace, partial: &PartialTrace) -> Vec<String> {
    orders(trace, partial, &partial.given)
}

/// Returns orders in words, sorted.
pub(crate) fn orders(trace: &Trace, partial: &PartialTrace, orders: &[Given]) -> Vec<String> {
    let label = |slot: u32| trace.label(partial.events[slot as usize]);
    let mut shown: Vec<String> = orders
        .iter()
        .map(|order| format!("{} {:?} {}", label(order.from), order.relation, label(order.to)))
        .collect();
    shown.sort();
    shown
}

/// Returns the messages: name, its handler's number, `*` for an initial one, its events.
pub(crate) fn messages(trace: &Trace, partial: &PartialTrace) -> Vec<String> {
    partial
        .messages
        .iter()
        .map(|message| {
            let events: Vec<String> = message
                .slots
                .clone()
                .map(|slot| trace.label(partial.events[slot as usize]))
                .collect();
            let initial = if message.initial { "*" } else { "" };
            let name = trace.task_name(message.task);
            format!("{name} h{}{initial}: {}", message.handler, events.join(" "))
        })
        .collect()
}
