//! Finds the events of a trace that findings name by label, in one pass for all.

use anyorder_finding::Finding;
use anyorder_trace::{EventId, LabelScheme, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The events with a label in some finding's site.
#[derive(Debug, Default)]
pub(super) struct Labels(BTreeMap<String, EventId>);

impl Labels {
    /// Looks up the sites of the findings, whose labels name one event each. O(events + sites · log
    /// sites). It converts no event number to text.
    pub(super) fn resolve(trace: &Trace, findings: &[Finding]) -> Labels {
        let sites = findings.iter().flat_map(|finding| &finding.sites);
        let wanted: BTreeSet<&str> = sites.filter_map(|site| site.event.as_deref()).collect();
        let numbered = wanted.iter().filter(|label| label.starts_with('@'));
        let numbered: Vec<(String, EventId)> =
            numbered.filter_map(|label| Some(((*label).to_owned(), trace.find(label)?))).collect();
        let wanted = wanted.into_iter().filter(|label| !label.starts_with('@'));
        let mut labels = match trace.tables().meta.labels {
            LabelScheme::Position => Labels::by_position(trace, wanted),
            LabelScheme::Name => {
                let names = &trace.tables().names;
                let wanted: BTreeSet<&str> = wanted.collect();
                let ids = names
                    .iter()
                    .filter_map(|(id, name)| wanted.get(name).map(|label| (id.0, *label)));
                Labels::by_number(trace, ids)
            }
            LabelScheme::Line | LabelScheme::AccessOrOperation => {
                let ids = wanted.filter_map(|label| Some((bare(label).parse().ok()?, label)));
                Labels::by_number(trace, ids)
            }
        };
        labels.0.extend(numbered);
        labels
    }

    /// Returns the event with a label.
    pub(super) fn get(&self, label: &str) -> Option<EventId> {
        self.0.get(label).copied()
    }

    fn by_position<'a>(trace: &Trace, wanted: impl Iterator<Item = &'a str>) -> Labels {
        let event = |label: &'a str| {
            let number: u32 = label.parse().ok()?;
            let row = number.checked_sub(1)?;
            ((row as usize) < trace.len()).then(|| (label.to_owned(), EventId(row)))
        };
        Labels(wanted.filter_map(event).collect())
    }

    /// Searches the column of numbers. Of several events with one number, the first access wins, or
    /// else the first event. For a label of an operation number, the first event that is not an
    /// access wins.
    fn by_number<'a>(trace: &Trace, labels: impl Iterator<Item = (u32, &'a str)>) -> Labels {
        let mut wanted: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        for (number, label) in labels {
            wanted.entry(number).or_default().insert(label);
        }
        let mut found: BTreeMap<String, EventId> = BTreeMap::new();
        if wanted.is_empty() {
            return Labels(found);
        }
        let is_access = |event: EventId| trace.event(event).kind().is_access();
        for (row, number) in trace.columns().numbers.iter().enumerate().take(trace.len()) {
            let event = EventId::from_index(row);
            for label in wanted.get(number).into_iter().flatten() {
                let best = !label.starts_with("op:");
                match found.get(*label) {
                    Some(first) if is_access(*first) == best || is_access(event) != best => {}
                    _ => {
                        found.insert((*label).to_owned(), event);
                    }
                }
            }
        }
        Labels(found)
    }
}

/// Removes the name of the numbering from a label such as `rwId:7`.
fn bare(label: &str) -> &str {
    label.rsplit_once(':').map_or(label, |(_, number)| number)
}
