//! What is found.

use crate::place::Place;
use std::collections::BTreeMap;

/// The kinds of findings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// One event starts two automations that set one state differently: which value stays depends
    /// on which of them comes first.
    Order,
    /// One event makes an automation set a state, and another one sets it to something else at
    /// once.
    Fight,
    /// Automations start each other, or themselves, without end.
    Loop,
    /// An automation goes on after a wait, and overwrites what another one has set meanwhile.
    Overwritten,
    /// `single` refuses a start that would have kept a state as it is.
    Refused,
    /// Two runs of one automation live at once, and the first one undoes what the second one did.
    Overlapping,
    /// `restart` ends a run in the middle, and nobody does what it would still have done.
    CutShort,
}

/// An automation that sets a state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Writer {
    /// Its name.
    pub name: String,
    /// Where it sets the state.
    pub place: Place,
    /// The value.
    pub value: String,
}

/// A step of the run that shows a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// What comes from outside, or that time passes.
    pub event: String,
    /// What changes then: who, where, what, the value.
    pub changes: Vec<(Option<String>, Place, String, String)>,
    /// The states that are read meanwhile and may have any value, with the value here.
    pub given: BTreeMap<String, String>,
    /// What is not known, with the answer that is assumed here.
    pub guessed: BTreeMap<String, String>,
}

/// A problem of two automations, or of one with itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What kind.
    pub kind: FindingKind,
    /// The state that it is about.
    pub entity: String,
    /// Other states that the same steps of the same automations set in the same way.
    pub also: Vec<String>,
    /// The automations, in the order in which they set it.
    pub writers: Vec<Writer>,
    /// The states at the start that are read.
    pub start: Vec<(String, String)>,
    /// The shortest run that was found.
    pub steps: Vec<Step>,
    /// The values at the end in each order, for [`FindingKind::Order`].
    pub ends: Vec<String>,
    /// Whether the run rests on something that is not known.
    pub assumed: bool,
}

impl Finding {
    /// What makes two findings the same.
    pub(crate) fn key(&self) -> (FindingKind, String, Vec<String>) {
        let mut names: Vec<String> =
            self.writers.iter().map(|writer| writer.name.clone()).collect();
        names.sort();
        // A ring is one fault, wherever it begins.
        let ring = self.kind == FindingKind::Loop && names.len() > 2;
        let entity = if ring { String::new() } else { self.entity.clone() };
        (self.kind, entity, names)
    }

    /// Returns whether another finding is about the same steps of the same automations.
    pub(crate) fn is_same(&self, other: &Finding) -> bool {
        let places = |of: &Finding| {
            let mut all: Vec<(String, Place)> =
                of.writers.iter().map(|writer| (writer.name.clone(), writer.place)).collect();
            all.sort();
            all
        };
        self.kind == other.kind && places(self) == places(other)
    }

    /// Returns what to change, in one or two sentences.
    #[must_use]
    pub fn advice(&self) -> String {
        let name = |at: usize| self.writers.get(at).map_or("the automation", |w| w.name.as_str());
        let (first, second) = (name(0), name(1));
        match self.kind {
            FindingKind::Refused => format!(
                "give `{first}` the mode `restart`, or wait for the end of what started it instead \
                 of a time"
            ),
            FindingKind::Overlapping => {
                format!("give `{first}` the mode `restart`, so that a new start ends the old run")
            }
            FindingKind::CutShort => format!(
                "put what may end `{first}` into an automation of its own, or give it the mode \
                 `queued`"
            ),
            FindingKind::Order => format!(
                "give one of them a condition that excludes the other, or put both into one \
                 automation with `choose`: Home Assistant runs `{first}` and `{second}` in the order \
                 of the configuration, which changes when one is turned off and on"
            ),
            FindingKind::Fight => format!(
                "give `{second}` a condition under which it leaves alone what `{first}` sets, or \
                 remove one of the two"
            ),
            FindingKind::Loop => {
                "let a condition ask for the state that the automation is about to \
                set, or trigger `from` and `to` different states"
                    .to_owned()
            }
            FindingKind::Overwritten => format!(
                "let `{second}` ask for the state again after its wait, or use `mode: restart` and \
                 a trigger that ends the wait when `{first}` acts"
            ),
        }
    }
}
