//! The data of the timeline: tasks on their handlers over the positions of their events, of bounded
//! size.

use super::labels::Labels;
use super::lanes::{self, Choice};
use crate::escape::clipped;
use anyorder_finding::Finding;
use anyorder_trace::{TaskId, TaskKind, Trace};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The most characters kept of a name.
const NAME_CHARS_MAX: usize = 120;

/// The most tasks kept of one chain of posts.
const CHAIN_TASKS_MAX: usize = 200;

/// The limits of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// The most tasks with a box. The other tasks of a handler are merged into one density bar.
    pub tasks_max: usize,
    /// The most handlers.
    pub lanes_max: usize,
    /// The number of parts of a density bar.
    pub buckets: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { tasks_max: 20_000, lanes_max: 128, buckets: 512 }
    }
}

/// The timeline of a trace. Tasks of findings are kept before all others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TimelineData {
    /// The number of events of the trace.
    events: usize,
    /// The handlers shown.
    lanes: Vec<Lane>,
    /// The names of tasks, each once.
    names: Vec<String>,
    /// The tasks shown, ordered by first event.
    tasks: TaskColumns,
    /// Bars for the tasks of a lane without a box.
    density: Vec<Density>,
    /// The findings that have events here.
    marks: Vec<Mark>,
    /// The number of tasks that ran, shown or not.
    tasks_total: usize,
    /// The number of handlers that ran a task, shown or not.
    lanes_total: usize,
}

/// One handler.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct Lane {
    name: String,
    mailbox: &'static str,
}

/// One list for each property: less than half the size of one object for each task.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
struct TaskColumns {
    lane: Vec<u32>,
    first: Vec<u32>,
    last: Vec<u32>,
    name: Vec<u32>,
    /// 0 for code outside posted tasks, 1 for posted tasks, 2 for bursts.
    kind: Vec<u8>,
    /// The position of the post, -1 for none.
    post: Vec<i64>,
    /// The index of the posting task here, -1 for none or one that is not shown.
    poster: Vec<i64>,
    /// Virtual time from first to last event, -1 where the trace has none.
    time: Vec<i64>,
}

/// The tasks of one lane without a box.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct Density {
    lane: usize,
    tasks: usize,
    /// The number of running tasks in each part of the trace.
    running: Vec<u32>,
}

/// The places of a finding's sites.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct Mark {
    finding: usize,
    sites: Vec<SiteMark>,
}

/// The place of a site.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct SiteMark {
    event: u32,
    label: String,
    access: String,
    /// Indices of tasks: that of the site, the one that posted it, and so on.
    chain: Vec<usize>,
}

impl TimelineData {
    /// Selects the part of a trace that a page can show. O(events + tasks · log tasks). The result
    /// has at most `budget.tasks_max` tasks and `budget.lanes_max` lanes for any trace.
    #[must_use]
    pub fn from_trace(trace: &Trace, findings: &[Finding], budget: &Budget) -> TimelineData {
        let labels = Labels::resolve(trace, findings);
        let mut involved = BTreeSet::new();
        for event in findings.iter().flat_map(|f| &f.sites).filter_map(|site| site.event.as_ref()) {
            let Some(event) = labels.get(event) else { continue };
            involved.extend(lanes::chain(trace, trace.event(event).task, CHAIN_TASKS_MAX));
        }
        let choice = lanes::choose(trace, &involved, budget);
        let shown: BTreeMap<TaskId, usize> =
            choice.tasks.iter().enumerate().map(|(index, task)| (*task, index)).collect();
        let (names, tasks) = columns(trace, &choice, &shown);
        TimelineData {
            events: trace.len(),
            lanes: lanes_of(trace, &choice),
            names,
            tasks,
            density: densities(trace, &choice, budget.buckets.max(1)),
            marks: marks(trace, findings, &labels, &shown),
            tasks_total: choice.tasks_total,
            lanes_total: choice.lanes_total,
        }
    }

    /// Describes what the timeline omits or merges; `None` if nothing.
    pub(super) fn note(&self) -> Option<String> {
        let number = |n: usize| anyorder_common::numbers::count(n as u64);
        let mut notes = Vec::new();
        if self.tasks.lane.len() < self.tasks_total {
            notes.push(format!(
                "{} of {} tasks (thread code included) have a box: those of findings first, then the longest; the others are merged into density bars.",
                number(self.tasks.lane.len()),
                number(self.tasks_total)
            ));
        }
        if self.lanes.len() < self.lanes_total {
            notes.push(format!(
                "{} of {} handlers are shown: those of findings first, then the busiest.",
                number(self.lanes.len()),
                number(self.lanes_total)
            ));
        }
        if notes.is_empty() { None } else { Some(notes.join(" ")) }
    }

    /// Returns whether the timeline can show a finding of the list.
    pub(super) fn has_finding(&self, finding: usize) -> bool {
        self.marks.binary_search_by_key(&finding, |mark| mark.finding).is_ok()
    }
}

fn lanes_of(trace: &Trace, choice: &Choice) -> Vec<Lane> {
    let lane = |handler: &anyorder_trace::HandlerId| Lane {
        name: clipped(trace.handler_name(*handler), NAME_CHARS_MAX).into_owned(),
        mailbox: trace.tables().handlers[handler.index()].mailbox.word(),
    };
    choice.lanes.iter().map(lane).collect()
}

/// Makes the columns of the shown tasks, and the list of their names.
fn columns(
    trace: &Trace,
    choice: &Choice,
    shown: &BTreeMap<TaskId, usize>,
) -> (Vec<String>, TaskColumns) {
    let mut names: Vec<String> = Vec::new();
    let mut name_ids: BTreeMap<&str, u32> = BTreeMap::new();
    let mut columns = TaskColumns::default();
    for task in &choice.tasks {
        let span = trace.span(*task);
        // Every chosen task runs on a chosen lane.
        let lane = choice.lanes.binary_search(&span.handler).unwrap_or(0);
        let name = *name_ids.entry(trace.task_name(*task)).or_insert_with_key(|name| {
            names.push(clipped(name, NAME_CHARS_MAX).into_owned());
            names.len() as u32 - 1
        });
        let times = &trace.columns().times;
        let time = times.get(span.last.0).zip(times.get(span.first.0));
        let time = time.and_then(|(last, first)| i64::try_from(last.checked_sub(first)?).ok());
        let post = span.post.some().filter(|post| *post < span.first);
        let poster = post.and_then(|post| shown.get(&trace.event(post).task));
        columns.lane.push(lane as u32);
        columns.first.push(span.first.0);
        columns.last.push(span.last.0);
        columns.name.push(name);
        columns.kind.push(match trace.tables().tasks[task.index()].kind {
            TaskKind::Initial => 0,
            TaskKind::Posted => 1,
            TaskKind::Burst => 2,
        });
        columns.post.push(post.map_or(-1, |post| i64::from(post.0)));
        columns.poster.push(poster.map_or(-1, |poster| *poster as i64));
        columns.time.push(time.unwrap_or(-1));
    }
    (names, columns)
}

/// Merges the tasks without a box, lane by lane.
fn densities(trace: &Trace, choice: &Choice, buckets: usize) -> Vec<Density> {
    let mut by_lane: BTreeMap<usize, Vec<TaskId>> = BTreeMap::new();
    for task in &choice.merged {
        let lane = choice.lanes.binary_search(&trace.span(*task).handler).unwrap_or(0);
        by_lane.entry(lane).or_default().push(*task);
    }
    let density = |(lane, tasks): (usize, Vec<TaskId>)| {
        let running = lanes::density(trace, &tasks, buckets);
        Density { lane, tasks: tasks.len(), running }
    };
    by_lane.into_iter().map(density).collect()
}

/// Locates the findings in the trace. Marks only those where every site has a box.
fn marks(
    trace: &Trace,
    findings: &[Finding],
    labels: &Labels,
    shown: &BTreeMap<TaskId, usize>,
) -> Vec<Mark> {
    let site = |site: &anyorder_finding::Site| {
        let label = site.event.as_deref()?;
        let event = labels.get(label)?;
        let chain = lanes::chain(trace, trace.event(event).task, CHAIN_TASKS_MAX);
        let chain: Vec<usize> = chain.iter().map_while(|task| shown.get(task).copied()).collect();
        (!chain.is_empty()).then(|| SiteMark {
            event: event.0,
            label: clipped(label, NAME_CHARS_MAX).into_owned(),
            access: clipped(crate::words::access(site), NAME_CHARS_MAX).into_owned(),
            chain,
        })
    };
    let mark = |(finding, it): (usize, &Finding)| {
        let sites: Option<Vec<SiteMark>> = it.sites.iter().map(site).collect();
        let sites = sites.filter(|sites| !sites.is_empty())?;
        Some(Mark { finding, sites })
    };
    findings.iter().enumerate().filter_map(mark).collect()
}
