//! What a report of a page shows besides the two runs: pictures right after the pair and at the
//! end, the texts in which the ends differ, and the lines of the conflicting accesses.
//!
//! Both runs of a finding are made once more for it.

use super::difference::difference;
use super::program::PageProgram;
use super::texts::Texts;
use crate::explore::{TaskProgram, TaskWords};
use crate::schedules::{reference_of, schedule_of};
use crate::{JobResult, Reported};
use anyorder_finding::run::{Comparison, Conflict, Picture, TextDifference};
use anyorder_finding::{Harm, Site, Stat, Stats, stat};
use anyorder_system::{
    AccessKind, Control, Observation, PartPath, RunError, Schedule, Step, TaskName, TaskSystem,
    is_task_status,
};
use anyorder_trace::{LocationId, Tables};
use anyorder_web::PageSystem;
use std::collections::BTreeMap;

/// The most findings that get pictures. Each takes two runs.
const PICTURED_MAX: usize = 20;

/// The most conflicts that are shown with their lines.
const CONFLICTS_MAX: usize = 6;

impl PageProgram {
    /// Adds the lines of the source to the places of all findings, and the posts that led to their
    /// tasks. Takes no run.
    pub fn add_sources(&self, result: &mut JobResult) {
        let texts = self.texts();
        for one in &mut result.findings {
            for site in &mut one.finding.sites {
                texts.add_lines(site);
                if site.chain.is_empty()
                    && let Some(task) = site.task.as_ref().and_then(|task| task.parse().ok())
                {
                    site.chain = self.chain(&task);
                }
            }
        }
    }

    /// Returns how a task came to run, from its own creator to the first event.
    fn chain(&self, task: &TaskName) -> Vec<String> {
        let mut chain = Vec::new();
        let mut at = task.creator();
        while let Some(creator) = at {
            chain.push(self.words().task(creator));
            at = creator.creator();
        }
        chain
    }

    /// Adds to findings that are compared runs what a report shows of both: pictures, texts and
    /// lines; to the first 20 that may be harmful. Takes two runs for each, which count; ends early
    /// if the job is stopped. A run that is lost has no picture.
    pub fn add_evidence(&self, result: &mut JobResult, control: &Control<'_>) {
        let mut texts = self.texts();
        let mut system = None;
        let mut runs = 0_u64;
        let counts = |harm: Harm| harm != Harm::Harmless;
        let findings = result.findings.iter_mut().filter(|one| counts(one.finding.harm));
        for one in findings.take(PICTURED_MAX) {
            if control.check().is_err() {
                break;
            }
            if system.is_none() {
                system = self.start(None).ok();
            }
            let Some(system) = &mut system else { break };
            runs += add(one, system, self.words(), &mut texts);
        }
        let stats = &mut result.stats;
        let before = |stats: &Stats, name: &str| stats.get(name).and_then(Stat::integer);
        let (made, shown) =
            (before(stats, stat::EXECUTIONS.word()), before(stats, stat::SHOWN.word()));
        stats.set(stat::EXECUTIONS, made.unwrap_or(0) + runs);
        stats.set(stat::SHOWN, shown.unwrap_or(0) + runs);
    }
}

/// Adds what is seen to one finding. Returns the number of runs.
fn add(
    one: &mut Reported,
    system: &mut PageSystem,
    words: &dyn TaskWords,
    texts: &mut Texts,
) -> u64 {
    let Some(schedule) = schedule_of(&one.finding) else { return 0 };
    let pair: Vec<TaskName> = one
        .finding
        .sites
        .iter()
        .take(2)
        .filter_map(|site| site.task.as_ref()?.parse().ok())
        .collect();
    let compared = one.run.as_mut().and_then(|run| run.compared.as_mut());
    let (Some(reference), Some(compared)) = (reference_of(&schedule), compared) else { return 0 };
    let before = seen(system, &reference, &pair);
    let after = seen(system, &schedule, &pair);
    if let Ok(before) = &before {
        compared.conflicts = conflicts(&before.pair, system.tables(), words, texts);
    }
    let titles = [compared.before_title.clone(), compared.after_title.clone()];
    let (mut ends, mut middles) = (Vec::new(), Vec::new());
    for (title, run) in titles.iter().zip([&before, &after]) {
        let Ok(run) = run else { continue };
        let picture =
            |png: &Option<Vec<u8>>| Some(Picture { title: title.clone(), png: png.clone()? });
        ends.extend(picture(&run.end));
        middles.extend(picture(&run.after_pair));
    }
    // A slider needs both sides.
    if middles.len() == 2 {
        compared.after_pair = middles;
    }
    compared.pictures = ends;
    if let (Ok(before), Ok(after)) = (&before, &after) {
        compared.texts = differences(&before.observation, &after.observation);
    }
    note(compared, texts);
    2
}

fn note(compared: &mut Comparison, texts: &mut Texts) {
    for file in std::mem::take(&mut texts.without_map) {
        compared.notes.push(format!(
            "`{file}` names a source map that could not be read, so its lines are those of the \
             script that was built"
        ));
    }
}

/// What a run showed.
struct Seen {
    after_pair: Option<Vec<u8>>,
    end: Option<Vec<u8>>,
    observation: Observation,
    /// The steps of the pair, in its order.
    pair: Vec<Option<Step>>,
}

/// Runs a schedule, and looks at the page right after both tasks of the pair, and at the end.
fn seen(page: &mut PageSystem, schedule: &Schedule, pair: &[TaskName]) -> Result<Seen, RunError> {
    page.reset()?;
    let mut steps: Vec<Option<Step>> = vec![None; pair.len()];
    let mut after_pair = None;
    for choice in &schedule.choices {
        let step = page.execute(choice)?;
        let Some(at) = pair.iter().position(|task| *task == choice.task) else { continue };
        steps[at] = Some(step);
        if steps.iter().all(Option::is_some) {
            page.observe()?;
            after_pair = page.picture().map(<[u8]>::to_vec);
        }
    }
    let observation = page.observe()?;
    let end = page.picture().map(<[u8]>::to_vec);
    Ok(Seen { after_pair, end, observation, pair: steps })
}

/// The accesses of a task to a location: the first one, or the first write, with its place.
fn accesses(step: &Step, tables: &Tables) -> BTreeMap<LocationId, (bool, Site)> {
    let all = step.accesses.as_slice().iter();
    let mut found: BTreeMap<LocationId, (bool, Site)> = BTreeMap::new();
    for access in all.filter(|one| !is_task_status(tables, one.location)) {
        let writes = access.kind != AccessKind::Read;
        let known = found.get(&access.location);
        if known.is_none_or(|(writes_already, _)| writes && !writes_already) {
            let place = tables.sites.get(access.site.index()).copied().unwrap_or_default();
            let number = |number: u32| Some(number).filter(|number| *number > 0);
            let file = Some(tables.name(place.file).to_owned()).filter(|file| !file.is_empty());
            let access_word = match access.kind {
                AccessKind::Read => "read",
                AccessKind::Write => "write",
                AccessKind::Rmw => "rmw",
            };
            let site = Site {
                file,
                line: number(place.line),
                column: number(place.column),
                access: Some(access_word.to_owned()),
                ..Site::default()
            };
            found.insert(access.location, (writes, site));
        }
    }
    found
}

/// Returns the conflicting accesses of the pair, those with places first.
fn conflicts(
    pair: &[Option<Step>],
    tables: &Tables,
    words: &dyn TaskWords,
    texts: &mut Texts,
) -> Vec<Conflict> {
    let [Some(first), Some(second)] = pair else { return Vec::new() };
    let (ours, theirs) = (accesses(first, tables), accesses(second, tables));
    let mut found = Vec::new();
    for (location, (writes, site)) in &ours {
        let Some((other_writes, other)) = theirs.get(location) else { continue };
        let name = tables.location_text(*location);
        if (*writes || *other_writes) && words.lists(&name) {
            let unknown = [site, other].iter().filter(|site| site.line.is_none()).count();
            found.push((unknown, name, site, other));
        }
    }
    found.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    found.truncate(CONFLICTS_MAX);
    let conflict = |(_, location, first, second): (usize, String, &Site, &Site)| Conflict {
        location,
        first: texts.original(first),
        second: texts.original(second),
    };
    found.into_iter().map(conflict).collect()
}

/// Returns the texts in which the two ends differ.
fn differences(before: &Observation, after: &Observation) -> Vec<TextDifference> {
    let text = |observation: &Observation, name: &str| {
        let part = observation.part(&PartPath::new(["page", name]));
        part.and_then(|part| part.text.clone()).unwrap_or_default()
    };
    [("text", "Text of the page"), ("html", "Elements of the page")]
        .into_iter()
        .filter_map(|(name, title)| difference(title, &text(before, name), &text(after, name)))
        .collect()
}
