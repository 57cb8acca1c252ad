//! Steps kept as the program reported them, for reports. A report then draws a run without making
//! it again.

use anyorder_system::{
    Access, AccessKind, Choice, Failure, Posted, Step, TaskSystem, is_task_status,
};
use anyorder_trace::SiteId;
use std::collections::HashSet;
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
    pub site: Option<Arc<KeptSite>>,
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
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
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

/// The texts and places of steps that are kept: many accesses share each.
#[derive(Debug, Default)]
pub struct KeptTexts {
    texts: HashSet<Arc<str>>,
    sites: HashSet<Arc<KeptSite>>,
    /// The bytes of all of them.
    bytes: u64,
}

impl KeptTexts {
    fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let new: Arc<str> = Arc::from(text);
        self.bytes += (text.len() + 2 * size_of::<usize>() + size_of::<Arc<str>>()) as u64;
        self.texts.insert(new.clone());
        new
    }

    fn site(&mut self, site: KeptSite) -> Arc<KeptSite> {
        if let Some(known) = self.sites.get(&site) {
            return known.clone();
        }
        let texts = site.file.len() + site.function.len() + site.label.len();
        self.bytes += (texts + size_of::<KeptSite>() + size_of::<Arc<KeptSite>>()) as u64;
        let new = Arc::new(site);
        self.sites.insert(new.clone());
        new
    }

    /// The bytes that they count towards the memory limit.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.bytes
    }

    fn access(&mut self, system: &dyn TaskSystem, access: &Access) -> KeptAccess {
        let tables = system.tables();
        let mut value = |number: u64| KeptValue {
            number,
            text: system.value_text(number).map(|text| self.text(text)),
        };
        let (read, written) = (access.read.map(&mut value), access.written.map(&mut value));
        let site = (access.site != SiteId::UNKNOWN).then(|| {
            let site = tables.sites.get(access.site.index()).copied().unwrap_or_default();
            self.site(KeptSite {
                file: tables.name(site.file).to_owned(),
                line: site.line,
                column: site.column,
                function: tables.name(site.function).to_owned(),
                label: tables.name(site.label).to_owned(),
            })
        });
        KeptAccess {
            location: self.text(&tables.location_text(access.location)),
            is_data: !is_task_status(tables, access.location),
            kind: access.kind,
            read,
            written,
            site,
        }
    }
}

impl KeptStep {
    /// Keeps a step of a system, with texts shared with other steps.
    pub fn of(system: &dyn TaskSystem, step: &Step, texts: &mut KeptTexts) -> KeptStep {
        let accesses = step.accesses.as_slice().iter().map(|access| texts.access(system, access));
        KeptStep { accesses: accesses.collect(), posted: step.posted.clone().into() }
    }

    /// The bytes that it counts towards the memory limit, without its texts.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let posted: usize =
            self.posted.iter().map(|one| size_of_val(one) + one.handler.len()).sum();
        (size_of::<KeptStep>() + size_of_val(&*self.accesses) + posted) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{KeptSite, KeptTexts};
    use std::sync::Arc;

    #[test]
    fn equal_texts_and_places_are_kept_once() {
        let mut texts = KeptTexts::default();
        let site = |line| KeptSite {
            file: "a.js".to_owned(),
            line,
            column: 1,
            function: String::new(),
            label: String::new(),
        };
        let (text, place) = (texts.text("x.y"), texts.site(site(1)));
        let bytes = texts.memory_bytes();
        assert!(
            Arc::ptr_eq(&text, &texts.text("x.y")) && Arc::ptr_eq(&place, &texts.site(site(1)))
        );
        assert_eq!(texts.memory_bytes(), bytes);
        texts.site(site(2));
        assert!(texts.memory_bytes() > bytes);
    }
}
