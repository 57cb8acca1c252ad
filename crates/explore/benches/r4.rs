//! R4 on generated pages: how many races there are, how many conflicts are relevant, and how many
//! sequences run in a second.
//!
//! `cargo bench -p anyorder-explore --bench r4 -- [EVENTS] [BOUND] [MAX]`; without arguments a
//! table for 1,000, 2,000 and 4,000 events at bound 1, and beginnings of bounds 2 and 3.
#![allow(clippy::print_stdout, reason = "a bench prints")]

use anyorder_explore::r4::{ReversalOptions, explore};
use anyorder_system::{
    Access, AccessDetail, AccessKind, Accesses, Capabilities, Choice, Control, Divergence,
    EnabledDetail, EnabledTask, Hash128, Level, Limits, Observation, PartPath, Posted,
    ProgramIdentity, RunError, SnapshotId, Snapshots, Step, TaskName, TaskRole, TaskSystem,
};
use anyorder_trace::{Interner, Location, LocationId, SiteId, Tables};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// A page: scripts that load one after another, requests with their replies, timers, clicks.
struct Page {
    tasks: Vec<Task>,
    ids: HashMap<TaskName, usize>,
    interner: Interner,
    locations: Vec<LocationId>,
    shared: usize,
}

struct Task {
    name: TaskName,
    role: TaskRole,
    /// Locations it uses, and whether it changes them.
    uses: Vec<(usize, bool)>,
    posts: Vec<usize>,
    delay: u64,
    /// It can run from the start.
    is_root: bool,
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize % n
    }
}

/// Each task uses the locations of its widget; one in twenty uses a shared one.
fn page(events: usize) -> Arc<Page> {
    let numbers = &mut Numbers(20_151_025);
    let (widgets, shared) = (events / 20, 8);
    let mut page = Page {
        tasks: Vec::new(),
        ids: HashMap::new(),
        interner: Interner::default(),
        locations: Vec::new(),
        shared,
    };
    for place in 0..shared + 2 * widgets {
        let text = if place < shared { format!("shared{place}") } else { format!("w{place}") };
        let name = page.interner.name(&text).expect("fits");
        page.locations.push(page.interner.location(Location::Named(name)).expect("fits"));
    }
    let mut last_script: Option<usize> = None;
    while page.tasks.len() < events {
        let at = page.tasks.len();
        let widget = numbers.below(widgets);
        let own = shared + 2 * widget;
        let (mut role, mut delay, mut creator) = (TaskRole::Task, 0, None);
        let (kind, mut uses) = match numbers.below(10) {
            0 | 1 => {
                creator = last_script;
                last_script = Some(at);
                ("script", vec![(own, true)])
            }
            2 | 3 => {
                role = TaskRole::Input;
                ("click", vec![(own, false), (own + 1, true)])
            }
            4 | 5 => {
                (role, delay) = (TaskRole::Timer, 100);
                creator = (at > 0).then(|| numbers.below(at));
                ("timer", vec![(own, false)])
            }
            _ => {
                creator = (at > 0).then(|| numbers.below(at));
                ("reply", vec![(own + 1, numbers.below(4) == 0)])
            }
        };
        if numbers.below(20) == 0 {
            uses.push((numbers.below(shared), numbers.below(2) == 0));
        }
        let label = at.to_string();
        let name = match creator {
            // Scripts run one after another, and all belong to the document.
            _ if kind == "script" => TaskName::root("load").child(kind).with_label(&label),
            Some(creator) => page.tasks[creator].name.child(kind).with_label(&label),
            None => TaskName::root(kind).with_label(&label),
        };
        if let Some(creator) = creator {
            page.tasks[creator].posts.push(at);
        }
        page.ids.insert(name.clone(), at);
        let is_root = creator.is_none();
        page.tasks.push(Task { name, role, uses, posts: vec![], delay, is_root });
    }
    Arc::new(page)
}

#[derive(Clone)]
struct State {
    pending: Vec<bool>,
    values: Vec<u64>,
}

struct Browser {
    page: Arc<Page>,
    program: ProgramIdentity,
    state: State,
    saved: HashMap<u64, State>,
    next: u64,
}

fn start(page: &Page) -> State {
    let pending = page.tasks.iter().map(|task| task.is_root).collect();
    State { pending, values: vec![0; page.locations.len()] }
}

impl Browser {
    fn new(page: &Arc<Page>) -> Browser {
        let (program, state) = (ProgramIdentity::new("page"), start(page));
        Browser { page: page.clone(), program, state, saved: HashMap::new(), next: 0 }
    }
}

impl TaskSystem for Browser {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            snapshot: true,
            enabled: EnabledDetail::Exact,
            deterministic: true,
            values: true,
            accesses: AccessDetail::List,
            awaits: false,
        }
    }

    fn program(&self) -> &ProgramIdentity {
        &self.program
    }

    fn tables(&self) -> &Tables {
        &self.page.interner.tables
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        self.page.ids.get(task).map_or(TaskRole::Task, |at| self.page.tasks[*at].role)
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.state = start(&self.page);
        Ok(())
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let tasks =
            self.page.tasks.iter().zip(&self.state.pending).filter(|(_, pending)| **pending);
        let enabled = |task: &Task| EnabledTask {
            task: task.name.clone(),
            handler: "page".to_owned(),
            alternatives: 1,
        };
        Ok(tasks.map(|(task, _)| enabled(task)).collect())
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let page = &*self.page;
        let at = page.ids.get(&choice.task).copied().filter(|at| self.state.pending[*at]);
        let Some(at) = at else {
            let (wanted, enabled) = (choice.task.clone(), Vec::new());
            return Err(RunError::Diverged(Divergence { choice: 0, wanted, enabled }));
        };
        self.state.pending[at] = false;
        let mut accesses = Vec::with_capacity(2);
        let mut seen = at as u64;
        for (place, writes) in &page.tasks[at].uses {
            let before = self.state.values[*place];
            seen = seen.wrapping_mul(31).wrapping_add(before);
            let written = writes.then(|| {
                self.state.values[*place] = seen;
                seen
            });
            let kind = if *writes { AccessKind::Rmw } else { AccessKind::Read };
            let (location, site) = (page.locations[*place], SiteId::UNKNOWN);
            accesses.push(Access { location, kind, site, read: Some(before), written });
        }
        let mut step = Step::of(choice.task.clone());
        step.accesses = Accesses::List(accesses);
        for child in &page.tasks[at].posts {
            self.state.pending[*child] = true;
            let task = &page.tasks[*child];
            let handler = "page".to_owned();
            step.posted.push(Posted {
                task: task.name.clone(),
                handler,
                delay: task.delay,
                queue: None,
            });
        }
        Ok(step)
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        let mut observation = Observation::new();
        let bytes =
            |values: &[u64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
        let (shared, widgets) = self.state.values.split_at(self.page.shared);
        observation.set(PartPath::new(["shared"]), Level::Heap, &bytes(shared));
        observation.set(PartPath::new(["widgets"]), Level::Output, &bytes(widgets));
        Ok(observation)
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        Some(self)
    }
}

impl Snapshots for Browser {
    fn save(&mut self) -> Result<SnapshotId, RunError> {
        self.next += 1;
        self.saved.insert(self.next, self.state.clone());
        Ok(SnapshotId(self.next))
    }

    fn restore(&mut self, snapshot: SnapshotId) -> Result<(), RunError> {
        let state = self.saved.get(&snapshot.0).ok_or(RunError::Unsupported("this snapshot"))?;
        self.state.clone_from(state);
        Ok(())
    }

    fn forget(&mut self, snapshot: SnapshotId) {
        self.saved.remove(&snapshot.0);
    }

    fn fingerprint(&mut self) -> Hash128 {
        Hash128::new()
    }
}

/// All races of the recording: conflicting pairs that creation and the order of clicks leave
/// unordered.
fn races(page: &Arc<Page>) -> (usize, usize) {
    let mut browser = Browser::new(page);
    let mut order: Vec<usize> = Vec::new();
    while let Some(next) = browser.enabled().expect("enabled").first() {
        order.push(page.ids[&next.task]);
        browser.execute(&Choice::of(next.task.clone())).expect("it is enabled");
    }
    let mut before: Vec<Vec<u64>> = vec![Vec::new(); page.tasks.len()];
    let words = order.len().div_ceil(64);
    let mut place = vec![0; page.tasks.len()];
    let mut creator = vec![None; page.tasks.len()];
    for (at, task) in page.tasks.iter().enumerate() {
        task.posts.iter().for_each(|child| creator[*child] = Some(at));
    }
    let (mut last, mut count) = (None, 0);
    for (at, id) in order.iter().enumerate() {
        place[*id] = at;
        let mut row = vec![0u64; words];
        let task = &page.tasks[*id];
        let input = last.filter(|_| task.role == TaskRole::Input);
        for from in creator[*id].into_iter().chain(input) {
            row.iter_mut().zip(&before[from]).for_each(|(a, b)| *a |= b);
            row[place[from] / 64] |= 1 << (place[from] % 64);
        }
        for (earlier, other) in order[..at].iter().enumerate() {
            let uses = &page.tasks[*other].uses;
            let conflict =
                task.uses.iter().any(|(x, w)| uses.iter().any(|(y, v)| x == y && (*w || *v)));
            count += usize::from(conflict && row[earlier / 64] >> (earlier % 64) & 1 == 0);
        }
        before[*id] = row;
        if task.role == TaskRole::Input {
            last = Some(*id);
        }
    }
    (order.len(), count)
}

fn measure(events: usize, bound: u32, executions: Option<u64>, workers: usize) {
    let page = page(events);
    let factory = || Ok(Browser::new(&page));
    let (length, races) = races(&page);
    let options = ReversalOptions {
        bound: Some(bound),
        confirm: false,
        workers,
        ..ReversalOptions::default()
    };
    let limits = Limits { executions, ..Limits::NONE };
    let control = Control { limits, ..Control::default() };
    let begin = Instant::now();
    let outcome = explore(&factory, &options, &control).expect("it runs");
    let seconds = begin.elapsed().as_secs_f64();
    let first = outcome.runs.iter().filter(|run| run.depth == 1).count();
    let counts = outcome.counts;
    println!(
        "{length:6} {bound:5} {workers:7} {races:7} {first:8} {:6.1} % {:9} {:7} {:7} {:9.0} {seconds:7.2} s {}",
        100.0 * (1.0 - first as f64 / races as f64),
        counts.executions,
        counts.slept,
        counts.repeated,
        counts.executions as f64 / seconds,
        if outcome.complete { "" } else { "cut" },
    );
}

fn main() {
    let arguments: Vec<u64> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    println!(
        "events bound workers   races relevant  pruned executions   slept repeated seq/s      time"
    );
    if let [events, bound, rest @ ..] = arguments.as_slice() {
        measure(*events as usize, *bound as u32, rest.first().copied(), 1);
        return;
    }
    for events in [1_000, 2_000, 4_000] {
        measure(events, 1, None, 1);
    }
    measure(1_000, 2, Some(10_000), 1);
    measure(1_000, 3, Some(10_000), 1);
    measure(1_000, 2, Some(10_000), 2);
}
