//! Steps kept as the program reported them, for reports. A report then draws a run without making
//! it again.

use anyorder_system::{
    Access, AccessKind, Choice, Failure, Posted, Step, TaskSystem, is_task_status,
};
use anyorder_trace::SiteId;
use std::sync::Arc;

/// A step, with the texts of its locations and values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeptStep {
    /// Its accesses.
    pub accesses: Box<[KeptAccess]>,
    /// The tasks that it created.
    pub posted: Box<[Posted]>,
}

/// An access of a kept step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptAccess {
    /// The text of the location.
    pub location: Arc<str>,
    /// Whether it is data, not whether a task may run.
    pub is_data: bool,
    /// The kind of access.
    pub kind: AccessKind,
    /// The value read, if known.
    pub read: Option<KeptValue>,
    /// The value written, if known.
    pub written: Option<KeptValue>,
    /// The source position, if known.
    pub site: Option<Box<KeptSite>>,
}

/// A value of a kept step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptValue {
    /// The value, or its hash.
    pub number: u64,
    /// Its text, if the program has one.
    pub text: Option<Arc<str>>,
}

/// A source position of a kept step. Empty texts and zeros are unknown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptSite {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The function.
    pub function: String,
    /// The label of a place without a file.
    pub label: String,
}

/// A task of a run, with its kept step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptTask {
    /// The choice that ran it.
    pub choice: Choice,
    /// The handler that ran it; empty if unknown.
    pub handler: String,
    /// What it did.
    pub step: Arc<KeptStep>,
    /// The failures of the program in this step.
    pub failures: Vec<Failure>,
}

impl KeptStep {
    /// Keeps a step of a system.
    pub fn of(system: &dyn TaskSystem, step: &Step) -> KeptStep {
        let accesses = step.accesses.as_slice().iter().map(|access| kept(system, access));
        KeptStep { accesses: accesses.collect(), posted: step.posted.clone().into() }
    }

    /// The bytes that it counts towards the memory limit.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let text = |value: &Option<KeptValue>| {
            value.as_ref().and_then(|value| value.text.as_ref()).map_or(0, |text| text.len() + 16)
        };
        let access = |access: &KeptAccess| {
            let site = access.site.as_ref().map_or(0, |site| {
                size_of::<KeptSite>() + site.file.len() + site.function.len() + site.label.len()
            });
            size_of::<KeptAccess>()
                + access.location.len()
                + text(&access.read)
                + text(&access.written)
                + site
        };
        let accesses: usize = self.accesses.iter().map(access).sum();
        let posted: usize =
            self.posted.iter().map(|one| size_of_val(one) + one.handler.len()).sum();
        (size_of::<KeptStep>() + accesses + posted) as u64
    }
}

fn kept(system: &dyn TaskSystem, access: &Access) -> KeptAccess {
    let tables = system.tables();
    let value = |number: u64| KeptValue { number, text: system.value_text(number).map(Arc::from) };
    let known = (access.site != SiteId::UNKNOWN).then(|| {
        let site = tables.sites.get(access.site.index()).copied().unwrap_or_default();
        Box::new(KeptSite {
            file: tables.name(site.file).to_owned(),
            line: site.line,
            column: site.column,
            function: tables.name(site.function).to_owned(),
            label: tables.name(site.label).to_owned(),
        })
    });
    KeptAccess {
        location: tables.location_text(access.location).into(),
        is_data: !is_task_status(tables, access.location),
        kind: access.kind,
        read: access.read.map(value),
        written: access.written.map(value),
        site: known,
    }
}
