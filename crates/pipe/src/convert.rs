//! Converts replies to the types of engines.

use crate::options::PipeOptions;
use crate::protocol::{
    AccessEntry, EnabledReply, LocationEntry, ObserveReply, SiteEntry, StepReply, ValueEntry,
};
use crate::roles::Roles;
use anyorder_system::{
    Access, AccessDetail, AccessKind, Accesses, EnabledTask, Failure, Observation, PartPath,
    Posted, Step, TASK_STATUS, TaskName,
};
use anyorder_trace::{Interner, Location, LocationId, Site, SiteId, TableFull, Tables};
use std::collections::{HashMap, HashSet};

/// The description of a mistake in a reply.
pub(crate) type ReplyMistake = String;

/// The most characters kept of a value's text.
const TEXT_CHARS_MAX: usize = 1_000;

/// Converts replies; keeps the tables, which only grow.
#[derive(Default)]
pub(crate) struct Converter {
    interner: Interner,
    pub(crate) roles: Roles,
    /// The texts that values stand for, and their bytes.
    texts: HashMap<u64, String>,
    texts_bytes: usize,
}

impl Converter {
    pub(crate) fn tables(&self) -> &Tables {
        &self.interner.tables
    }

    /// Returns the text that a value stands for.
    pub(crate) fn text(&self, value: u64) -> Option<&str> {
        self.texts.get(&value).map(String::as_str)
    }

    /// Returns a value as 64 bits, and keeps its text as long as there is room. Texts are for
    /// readers only, so a missing one changes no result.
    fn value(&mut self, entry: Option<&ValueEntry>, options: &PipeOptions) -> Option<u64> {
        let entry = entry?;
        if let Some(text) = &entry.text
            && !self.texts.contains_key(&entry.bits)
        {
            let cut: String = text.chars().take(TEXT_CHARS_MAX).collect();
            let bytes = self.texts_bytes + cut.len() + size_of::<(u64, String)>();
            if bytes <= options.tables_bytes_max {
                self.texts_bytes = bytes;
                self.texts.insert(entry.bits, cut);
            }
        }
        Some(entry.bits)
    }

    /// Converts the reply to `execute` to a step. Running a task reads its status, and posting
    /// or cancelling it writes the status: these become accesses here if the child does not list
    /// them.
    pub(crate) fn step(
        &mut self,
        task: &TaskName,
        reply: StepReply,
        detail: AccessDetail,
        options: &PipeOptions,
    ) -> Result<Step, ReplyMistake> {
        let cancelled = names(&reply.cancelled, options)?;
        let mut posted = Vec::with_capacity(reply.posted.len());
        for entry in reply.posted {
            let task = name(&entry.task, options)?;
            self.roles.record(&task, entry.role, options)?;
            posted.push(Posted { task, handler: entry.handler, delay: entry.delay, queue: None });
        }
        let changed: Vec<&TaskName> =
            posted.iter().map(|posted| &posted.task).chain(&cancelled).collect();
        let accesses = match detail {
            AccessDetail::None => Accesses::Unknown,
            AccessDetail::List => {
                Accesses::List(self.accesses(task, &reply.accesses, &changed, options)?)
            }
            AccessDetail::Set => {
                Accesses::Set(merged(self.accesses(task, &reply.accesses, &changed, options)?))
            }
        };
        let failures = reply.failures.into_iter().map(Failure::from).collect();
        Ok(Step { task: task.clone(), accesses, posted, cancelled, failures })
    }

    fn accesses(
        &mut self,
        task: &TaskName,
        entries: &[AccessEntry],
        changed: &[&TaskName],
        options: &PipeOptions,
    ) -> Result<Vec<Access>, ReplyMistake> {
        let mut accesses = Vec::with_capacity(entries.len() + changed.len() + 1);
        let own = self.shadow(task).map_err(full)?;
        accesses.push(bare(own, AccessKind::Read));
        for entry in entries {
            accesses.push(self.access(entry, options)?);
        }
        let written = accesses.iter().filter(|access| access.kind != AccessKind::Read);
        let mut written: HashSet<LocationId> = written.map(|access| access.location).collect();
        for name in changed {
            let shadow = self.shadow(name).map_err(full)?;
            if written.insert(shadow) {
                accesses.push(bare(shadow, AccessKind::Write));
            }
        }
        // Names are the only part of the tables whose size a child can choose freely.
        if self.interner.tables.names.memory_bytes() > options.tables_bytes_max {
            let most = options.tables_bytes_max;
            return Err(format!("all names together take more than {most} bytes"));
        }
        Ok(accesses)
    }

    fn access(
        &mut self,
        entry: &AccessEntry,
        options: &PipeOptions,
    ) -> Result<Access, ReplyMistake> {
        let location = match &entry.location {
            LocationEntry::Name(text) => self
                .interner
                .name(text)
                .and_then(|name| self.interner.location(Location::Named(name)))
                .map_err(full)?,
            LocationEntry::Task { task } => self.shadow(&name(task, options)?).map_err(full)?,
        };
        let site = entry.site.as_ref().map_or(Ok(SiteId::UNKNOWN), |site| self.site(site));
        let read = self.value(entry.read.as_ref(), options);
        let written = self.value(entry.written.as_ref(), options);
        Ok(Access { location, kind: entry.kind, site: site.map_err(full)?, read, written })
    }

    /// Returns the location of a task's status: whether it may run. No variable has a location of
    /// this kind.
    fn shadow(&mut self, task: &TaskName) -> Result<LocationId, TableFull> {
        let class = self.interner.name(TASK_STATUS)?;
        let field = self.interner.name(&task.to_string())?;
        self.interner.location(Location::Static { class, field })
    }

    fn site(&mut self, site: &SiteEntry) -> Result<SiteId, TableFull> {
        let site = match site {
            SiteEntry::Label(label) => {
                Site { label: self.interner.name(label)?, ..Site::default() }
            }
            SiteEntry::Position { file, line, column, function } => Site {
                file: self.interner.name(file)?,
                function: self.interner.name(function)?,
                line: *line,
                column: *column,
                ..Site::default()
            },
        };
        self.interner.site(site)
    }
}

/// Converts the reply to `enabled` to tasks, and records their roles.
pub(crate) fn enabled(
    reply: EnabledReply,
    roles: &mut Roles,
    options: &PipeOptions,
) -> Result<Vec<EnabledTask>, ReplyMistake> {
    let mut tasks = Vec::with_capacity(reply.tasks.len());
    let mut seen = HashSet::new();
    for entry in reply.tasks {
        let task = name(&entry.task, options)?;
        if entry.alternatives == 0 {
            return Err(format!("`{task}` has no alternative"));
        }
        if !seen.insert(task.clone()) {
            return Err(format!("two enabled tasks have the name `{task}`"));
        }
        roles.record(&task, entry.role, options)?;
        let alternatives = entry.alternatives;
        tasks.push(EnabledTask { task, handler: entry.handler, alternatives });
    }
    Ok(tasks)
}

/// Converts the reply to `observe` to an observation.
pub(crate) fn observation(
    reply: ObserveReply,
    options: &PipeOptions,
) -> Result<Observation, ReplyMistake> {
    let mut observation = Observation::new();
    for part in reply.parts {
        let path = PartPath::new(part.path);
        if observation.part(&path).is_some() {
            return Err(format!("two parts have the path `{path}`"));
        }
        observation.set(path.clone(), part.level, part.content.as_bytes());
        if options.keep_texts {
            observation.keep_text(&path, &part.content);
        }
    }
    Ok(observation)
}

/// Parses task names.
pub(crate) fn names(
    texts: &[String],
    options: &PipeOptions,
) -> Result<Vec<TaskName>, ReplyMistake> {
    texts.iter().map(|text| name(text, options)).collect()
}

fn name(text: &str, options: &PipeOptions) -> Result<TaskName, ReplyMistake> {
    if text.len() > options.name_bytes_max {
        return Err(format!("a task name is longer than {} bytes", options.name_bytes_max));
    }
    text.parse().map_err(|error| format!("{error}"))
}

fn bare(location: LocationId, kind: AccessKind) -> Access {
    Access { location, kind, site: SiteId::UNKNOWN, read: None, written: None }
}

fn full(error: TableFull) -> ReplyMistake {
    error.to_string()
}

/// Keeps one entry per location and kind, in the order of first occurrence, with the first value
/// read and the last value written.
fn merged(accesses: Vec<Access>) -> Vec<Access> {
    let mut places: HashMap<(LocationId, AccessKind), usize> = HashMap::new();
    let mut set: Vec<Access> = Vec::new();
    for access in accesses {
        let place = *places.entry((access.location, access.kind)).or_insert(set.len());
        match set.get_mut(place) {
            Some(known) => known.written = access.written,
            None => set.push(access),
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(detail: AccessDetail, json: &str) -> Result<(Step, Converter), ReplyMistake> {
        let mut converter = Converter::default();
        let reply = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let task = TaskName::root("t");
        let step = converter.step(&task, reply, detail, &PipeOptions::default())?;
        Ok((step, converter))
    }

    fn shown(detail: AccessDetail, json: &str) -> Vec<String> {
        let (step, converter) = step(detail, json).unwrap();
        let show = |a: &Access| {
            let location = converter.tables().location_text(a.location);
            format!("{:?} {location} {:?} {:?}", a.kind, a.read, a.written)
        };
        step.accesses.as_slice().iter().map(show).collect()
    }

    const TWICE: &str = r#"{"accesses":[
        {"location":"x","kind":"rmw","read":1,"written":2},
        {"location":"x","kind":"rmw","read":2,"written":3,"site":"here"},
        {"location":{"task":"b"},"kind":"write"}],
        "posted":[{"task":"t/p"}],"cancelled":["b","c"]}"#;

    #[test]
    fn running_posting_and_cancelling_are_accesses_too() {
        let expected = [
            "Read task.t None None",
            "Rmw x Some(1) Some(2)",
            "Rmw x Some(2) Some(3)",
            "Write task.b None None",
            "Write task.t/p None None",
            "Write task.c None None",
        ];
        assert_eq!(shown(AccessDetail::List, TWICE), expected);
    }

    #[test]
    fn a_set_keeps_the_first_value_read_and_the_last_written() {
        let expected = [
            "Read task.t None None",
            "Rmw x Some(1) Some(3)",
            "Write task.b None None",
            "Write task.t/p None None",
            "Write task.c None None",
        ];
        assert_eq!(shown(AccessDetail::Set, TWICE), expected);
        assert_eq!(shown(AccessDetail::None, TWICE), [""; 0]);
    }

    #[test]
    fn bad_replies_say_what_is_wrong() {
        let check = |json: &str| {
            let reply = serde_json::from_str(json).unwrap();
            enabled(reply, &mut Roles::default(), &PipeOptions::default())
        };
        let two = r#"{"tasks":[{"task":"a"},{"task":"a#0"}]}"#;
        assert_eq!(check(two).unwrap_err(), "two enabled tasks have the name `a`");
        let none = r#"{"tasks":[{"task":"a","alternatives":0}]}"#;
        assert_eq!(check(none).unwrap_err(), "`a` has no alternative");
        assert_eq!(check(r#"{"tasks":[{"task":""}]}"#).unwrap_err(), "empty step in a task name");
        let long = format!(r#"{{"tasks":[{{"task":"{}"}}]}}"#, "a".repeat(70_000));
        assert_eq!(check(&long).unwrap_err(), "a task name is longer than 65536 bytes");
        let twice = r#"{"parts":[{"path":["a"],"level":"heap"},{"path":["a"],"level":"heap"}]}"#;
        let reply = serde_json::from_str(twice).unwrap();
        let error = observation(reply, &PipeOptions::default()).unwrap_err();
        assert_eq!(error, "two parts have the path `a`");
    }

    #[test]
    fn tables_have_a_limit() {
        let options = PipeOptions { tables_bytes_max: 100, ..PipeOptions::default() };
        let json =
            format!(r#"{{"accesses":[{{"location":"{}","kind":"read"}}]}}"#, "x".repeat(200));
        let reply = serde_json::from_str(&json).unwrap();
        let mut converter = Converter::default();
        let error = converter.step(&TaskName::root("t"), reply, AccessDetail::List, &options);
        assert_eq!(error.unwrap_err(), "all names together take more than 100 bytes");
    }
}
