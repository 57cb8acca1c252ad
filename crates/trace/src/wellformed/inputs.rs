//! Inputs must be enabled before they are triggered.

use super::report::{Report, input_name};
use crate::event::{Event, EventKind};
use crate::tables::InputFamily;
use rustc_hash::FxHashSet;

/// The inputs enabled so far.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    enabled: FxHashSet<u32>,
}

impl Inputs {
    pub(super) fn event(&mut self, event: &Event, report: &mut Report<'_>) {
        if event.kind() == EventKind::Enable {
            self.enabled.insert(event.operand);
        }
        if event.kind() != EventKind::Trigger {
            return;
        }
        let trace = report.trace;
        let family = trace.tables().inputs.get(event.operand as usize).map(|input| input.family);
        // In the other families, a callback has another state than its request.
        let paired = matches!(
            family,
            Some(InputFamily::Plain | InputFamily::Ui | InputFamily::Focus | InputFamily::Idle)
        );
        if report.observed && paired && !self.enabled.contains(&event.operand) {
            report.warning(event.id, || {
                format!("triggers `{}`, which was never enabled", input_name(trace, event))
            });
        }
    }
}
