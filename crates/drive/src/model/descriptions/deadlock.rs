//! Describes deadlocks: waiting lanes, lock holders, and the cycle if there is one.

use super::findings::{named, nowhere, site_at};
use crate::model::Model;
use anyorder_finding::Site;
use anyorder_search::Path;
use anyorder_vm::program::SourceSite;
use anyorder_vm::{Machine, Reason, Waiting, WaitingPlace};

/// The maximum number of sites of a deadlock, and of lanes that its text names.
const SITES_MAX: usize = 64;
const WORDS_MAX: usize = 4;

/// The lanes that wait at the end of a path.
pub(super) struct DeadlockReport {
    /// First the lanes of the cycle, in cycle order; then the others. Lanes that may wait for ever
    /// come last.
    waiting: Vec<WaitingLane>,
    /// The length of the cycle.
    cycle: usize,
    places: Vec<WaitingPlace>,
}

/// A waiting lane; if it waits for a lock, also the step that took the lock.
struct WaitingLane {
    waiting: Waiting,
    since: Option<(usize, Option<SourceSite>)>,
}

impl DeadlockReport {
    pub(super) fn of(model: &Model, path: &Path<Machine>) -> DeadlockReport {
        let all = model.machine.waiting(path.last());
        let cycle = cycle(&all);
        let mut others: Vec<usize> = (0..all.len()).filter(|one| !cycle.contains(one)).collect();
        others.sort_by_key(|one| all[*one].may);
        let lane = |index: &usize| {
            let waiting = all[*index].clone();
            let since = match &waiting.reason {
                Reason::Lock { number, .. } => since(&model.machine, path, *number),
                _ => None,
            };
            WaitingLane { waiting, since }
        };
        let waiting = cycle.iter().chain(&others).map(lane).collect();
        let places = model.machine.waiting_places(path.last());
        DeadlockReport { waiting, cycle: cycle.len(), places }
    }

    /// Returns the title.
    pub(super) fn title(&self) -> String {
        let own = |one: &WaitingLane| format!("`{}`", one.waiting.who);
        match (&self.waiting[..self.cycle], &self.waiting[..]) {
            ([one], _) => format!("{} waits for what it holds itself", own(one)),
            ([a, b], _) => format!("{} and {} wait for each other", own(a), own(b)),
            ([rest @ .., last], _) => {
                let rest: Vec<String> = rest.iter().map(own).collect();
                format!("{} and {} wait for each other in a circle", rest.join(", "), own(last))
            }
            ([], []) => "all is done, and a lock is still held".to_owned(),
            ([], [one, rest @ ..]) if rest.iter().all(|other| other.waiting.may) => {
                format!("nothing can happen any more, and {} waits for ever", own(one))
            }
            _ => "nothing can happen any more, and something still waits".to_owned(),
        }
    }

    /// Returns the text at the end of the run.
    pub(super) fn end(&self, title: &str) -> String {
        let mut words: Vec<String> =
            self.blocked_lanes().take(WORDS_MAX).map(WaitingLane::words).collect();
        let more = self.blocked_lanes().count().saturating_sub(WORDS_MAX);
        if more > 0 {
            words.push(format!("{more} more wait"));
        }
        if words.is_empty() {
            return title.to_owned();
        }
        format!("{title}: {}", words.join("; "))
    }

    /// Returns the lanes that must not wait for ever.
    fn blocked_lanes(&self) -> impl Iterator<Item = &WaitingLane> {
        self.waiting.iter().filter(|one| !one.waiting.may)
    }

    /// Returns the sites of the places where something waits, one for each. They are equal for all
    /// runs to the deadlock and for all that is one finding with it, because its id is a hash of
    /// them.
    pub(super) fn sites(&self, model: &Model) -> Vec<Site> {
        let label = Some(model.machine.program().name.clone());
        let site = |place: &WaitingPlace| {
            let at = site_at(model, place.site);
            let who = place.first.as_ref().map(|lane| lane.who.to_string());
            let at = match place.first.as_ref().and_then(|lane| lane.runs.as_ref()) {
                Some(_) => Site { handler: who, ..at },
                None => Site { thread: who, ..at },
            };
            named(Site { label: label.clone(), ..at }, &access(place))
        };
        let mut sites: Vec<Site> = self.places.iter().take(SITES_MAX).map(site).collect();
        if let Some(rest) = self.places.get(SITES_MAX..).filter(|rest| !rest.is_empty()) {
            let rest: Vec<String> = rest.iter().map(WaitingPlace::words).collect();
            sites.push(named(nowhere(model), &format!("waits: {}", rest.join(", "))));
        }
        if sites.is_empty() { vec![named(nowhere(model), "nothing can happen")] } else { sites }
    }
}

/// Describes why something waits at a place: `waits for lock b, held by right`. Members of arrays
/// and families are not told apart.
fn access(place: &WaitingPlace) -> String {
    let message = place.first.as_ref().is_some_and(|lane| lane.message);
    match &place.reason {
        Reason::Lock { lock, .. } if place.first.is_none() => format!("lock {lock} held"),
        Reason::Lock { lock, holder: Some(holder), .. } => {
            format!("waits for lock {lock}, held by {holder}")
        }
        Reason::Lock { lock, holder: None, .. } => {
            format!("waits for lock {lock}, held by one that has ended")
        }
        Reason::Notify { cond } => format!("waits for {cond}"),
        Reason::End { of } => format!("waits for the end of {of}"),
        Reason::Assumption if !message => "waits for what it assumes".to_owned(),
        Reason::Assumption | Reason::Turn => match &place.mailbox {
            Some(mailbox) => format!("{} left in mailbox {mailbox}", place.what),
            None => format!("left in mailbox {}", place.what),
        },
    }
}

impl WaitingLane {
    /// Describes the wait in this run: `waits for lock b, held by right since 17:5 (step 2)`.
    fn what(&self) -> String {
        let runs = self.waiting.runs.as_ref().map(ToString::to_string).unwrap_or_default();
        match &self.waiting.reason {
            Reason::Lock { lock, holder, .. } => {
                let since = match self.since {
                    Some((step, Some(site))) => {
                        format!(" since {}:{} (step {})", site.line, site.column, step + 1)
                    }
                    Some((step, None)) => format!(" since step {}", step + 1),
                    None => String::new(),
                };
                let holder = holder.as_ref().map(ToString::to_string);
                let holder = holder.unwrap_or_else(|| "one that has ended,".to_owned());
                format!("waits for lock {lock}, held by {holder}{since}")
            }
            Reason::End { of } => format!("waits for the end of {of}"),
            Reason::Assumption if self.waiting.message => {
                format!("cannot run {runs}, which assumes what does not hold")
            }
            Reason::Notify { cond } => format!("waits for {cond}"),
            Reason::Assumption => "waits for what it assumes".to_owned(),
            Reason::Turn => format!("never gets to {runs}"),
        }
    }

    fn words(&self) -> String {
        let at = match self.waiting.site {
            Some(site) => format!(" at {}:{}", site.line, site.column),
            None => String::new(),
        };
        format!("`{}`{at} {}", self.waiting.who, self.what())
    }
}

/// Returns the last step that took a lock, and its position. The lock is held at the end of the
/// path.
fn since(
    machine: &Machine,
    path: &Path<Machine>,
    lock: u32,
) -> Option<(usize, Option<SourceSite>)> {
    let steps = path.steps.iter().enumerate().rev();
    let mut found = steps.filter_map(|(number, step)| {
        let site = machine.lock_site(path.state(number)?, &step.action, lock)?;
        Some((number, (site.line > 0).then_some(site)))
    });
    found.next()
}

/// Returns a cycle of waiting lanes, in order; empty if there is none.
fn cycle(all: &[Waiting]) -> Vec<usize> {
    let next = |index: usize| {
        let for_whom = match &all[index].reason {
            Reason::Lock { holder, .. } => holder.as_ref()?,
            Reason::End { of } => of,
            _ => return None,
        };
        all.iter().position(|other| other.who == *for_whom && !matches!(other.reason, Reason::Turn))
    };
    for start in 0..all.len() {
        let mut way = vec![start];
        while let Some(index) = next(way[way.len() - 1]) {
            if index == start {
                return way;
            }
            if way.contains(&index) {
                break;
            }
            way.push(index);
        }
    }
    Vec::new()
}
