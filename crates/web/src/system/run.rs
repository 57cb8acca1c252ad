//! The state of one run: what waits, under which names, and what is enabled.

use crate::page::{HOLD_PATH, Held, Queued};
use crate::rules::{Waiting, is_held_back};
use crate::sabotage::Sabotage;
use crate::source::path_of;
use anyorder_system::{EnabledTask, TaskName, TaskRole};
use std::collections::BTreeMap;

/// An event that waits.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Pending {
    pub(super) name: TaskName,
    pub(super) what: What,
    pub(super) delay: u64,
    pub(super) waiting: Waiting,
}

/// What happens in an event.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum What {
    /// A request gets its response.
    Request(Box<Held>),
    /// A queued event of the page is fired.
    Queued(u64),
    /// The page goes to another document.
    Navigation(String),
}

/// The state of one run.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) pending: Vec<Pending>,
    /// The number of the user's steps that were taken, or left out because their controls stayed
    /// disabled.
    pub(super) steps_taken: usize,
    /// Whether the next of them can be taken.
    pub(super) step_ready: bool,
    /// The virtual time.
    pub(super) now: u64,
    pub(super) loaded: bool,
    /// Another document has come: nothing happens any more.
    pub(super) left: Option<String>,
    /// The last event.
    pub(super) last: Option<TaskName>,
    pub(super) enabled: Vec<EnabledTask>,
    /// What was sent without a request.
    pub(super) sent: Vec<(String, String)>,
    pub(super) errors: Vec<String>,
    ordinals: BTreeMap<(TaskName, String, String), u32>,
    order: u64,
    /// A fault injected by tests.
    pub(super) sabotage: Sabotage,
}

/// The event with which each run begins: the document comes.
pub(super) fn load() -> TaskName {
    TaskName::root("load")
}

/// The kinds of events that are timers, for the engine.
const TIMERS: &[&str] = &["timeout", "interval", "frame", "idle", "animation"];

/// Returns the role of an event: those that no event created are the user's, except the first.
pub(super) fn role(task: &TaskName) -> TaskRole {
    match task.segment().kind.as_str() {
        "load" => TaskRole::Task,
        _ if task.depth() == 1 => TaskRole::Input,
        kind if TIMERS.contains(&kind) => TaskRole::Timer,
        _ => TaskRole::Task,
    }
}

/// How often a request or message may be the creator of an equal one. A page that polls by requests
/// or posts itself messages has no other end. Schedulers of libraries post themselves a message for
/// each slice of work, so it is more than for timers.
const CHAIN_MAX: u32 = 12;

/// Returns the kind of a request's event.
fn kind_of(held: &Held) -> &'static str {
    if held.is_hold_point() {
        return "parse";
    }
    match held.resource.as_str() {
        "Document" => "frame_document",
        "Stylesheet" => "style",
        "Image" => "image",
        "Media" => "media",
        "Font" => "font",
        "Script" => "script",
        // The browser does not tell one from the other.
        "XHR" | "Fetch" | "EventSource" => "fetch",
        "Ping" => "beacon",
        _ => "request",
    }
}

/// The longest label of an event, in characters.
const LABEL_MAX: usize = 160;

/// Returns the label of a request's event: its method unless it is GET, and its path; with the host
/// if that is not the page's.
fn label_of(held: &Held, origin: &str) -> String {
    let url = &held.request.url;
    let path = path_of(url);
    if let Some(point) = path.strip_prefix(HOLD_PATH) {
        return point.trim_end_matches(".js").to_owned();
    }
    let shown = if url.starts_with(origin) { path } else { url };
    let method = &held.request.method;
    let label = if method == "GET" { shown.to_owned() } else { format!("{method} {shown}") };
    label.chars().take(LABEL_MAX).collect()
}

impl Run {
    /// Returns the name of a new event of a creator: equal ones are numbered.
    fn name(&mut self, creator: &TaskName, kind: &str, label: &str) -> TaskName {
        let (last, none) = (self.pending.last().map(|one| one.name.clone()), load());
        let creator = match &last {
            Some(last) if self.sabotage == Sabotage::LastCreator => last,
            _ if self.sabotage == Sabotage::NoCreator => &none,
            _ => creator,
        };
        let key = (creator.clone(), kind.to_owned(), label.to_owned());
        let ordinal = self.ordinals.entry(key).or_default();
        let name = creator.child(kind).with_label(label).with_ordinal(*ordinal);
        *ordinal += 1;
        name
    }

    fn push(&mut self, name: TaskName, what: What, queued: Option<(i64, Queued)>) {
        self.order += 1;
        let creator = name.creator().cloned().unwrap_or_else(load);
        let (context, queued) = queued.unzip();
        let (channel, due, delay) =
            queued.map(|one| (one.channel, one.due, one.delay)).unwrap_or_default();
        let channel = if self.sabotage == Sabotage::Free {
            format!("{channel} {}", self.order)
        } else if self.sabotage == Sabotage::Chained {
            "all".to_owned()
        } else {
            channel
        };
        let context = context.unwrap_or_default();
        let waiting = Waiting { creator, order: self.order, channel, context, due, delay };
        self.pending.push(Pending { name, what, delay, waiting });
    }

    /// Adds the request for the page itself.
    pub(super) fn push_load(&mut self, held: Held) {
        self.push(load(), What::Request(Box::new(held)), None);
    }

    /// Adds a request of an event, and returns the name of the event of its response.
    pub(super) fn push_request(
        &mut self,
        creator: &TaskName,
        mut held: Held,
        origin: &str,
    ) -> TaskName {
        let name = self.name(creator, kind_of(&held), &label_of(&held, origin));
        held.request.ordinal = name.segment().ordinal;
        self.push(name.clone(), What::Request(Box::new(held)), None);
        name
    }

    pub(super) fn push_queued(&mut self, creator: &TaskName, context: i64, queued: Queued) {
        let label: String = queued.label.chars().take(LABEL_MAX).collect();
        let name = self.name(creator, &queued.kind, &label);
        self.push(name, What::Queued(queued.id), Some((context, queued)));
    }

    pub(super) fn push_navigation(&mut self, creator: &TaskName, url: String, origin: &str) {
        let shown = if url.starts_with(origin) { path_of(&url) } else { &url };
        let name = self.name(creator, "leave", shown);
        self.push(name, What::Navigation(url), None);
    }

    /// Returns how often an event's creators are equal to it.
    fn repeats(task: &TaskName) -> u32 {
        let own = task.segment();
        let mut repeats = 0;
        let mut at = task.creator();
        while let Some(creator) = at {
            let same = creator.segment().kind == own.kind && creator.segment().label == own.label;
            repeats += u32::from(same);
            at = creator.creator();
        }
        repeats
    }

    /// Returns whether an event never runs, as equal events have created each other too often.
    pub(super) fn is_spent(pending: &Pending, repeats_max: u32) -> bool {
        // The browser itself ends these.
        if matches!(&pending.what, What::Request(held) if held.is_redirected) {
            return false;
        }
        let is_timer = role(&pending.name) == TaskRole::Timer;
        let most = if is_timer { repeats_max } else { CHAIN_MAX.max(repeats_max) };
        Run::repeats(&pending.name) > most
    }

    /// Lists the enabled events in the order of the default scheduler: responses and messages in
    /// the order in which they were asked for; timers that were set the first time; the next step
    /// of the user; timers and responses that repeat themselves. Timers are in the order in which
    /// they are due.
    pub(super) fn list_enabled(
        &mut self,
        next_step: Option<&TaskName>,
        (alternatives, repeats_max): (u32, u32),
    ) {
        self.enabled.clear();
        if self.left.is_some() && self.sabotage != Sabotage::StaysAfterLeaving {
            return;
        }
        let mut ranked: Vec<(u32, u64, u64, EnabledTask)> = Vec::new();
        let queued: Vec<&Waiting> = self
            .pending
            .iter()
            .filter(|one| matches!(one.what, What::Queued(_)))
            .map(|one| &one.waiting)
            .collect();
        for one in &self.pending {
            let is_queued = matches!(one.what, What::Queued(_));
            let held = is_queued && queued.iter().any(|by| is_held_back(&one.waiting, by));
            if held || Run::is_spent(one, repeats_max) {
                continue;
            }
            let is_timer = role(&one.name) == TaskRole::Timer;
            let can_poll = is_timer || matches!(one.what, What::Request(_));
            let again = can_poll && Run::repeats(&one.name) > 0;
            let rank = match (is_timer, again) {
                (false, _) if matches!(one.what, What::Navigation(_)) => 5,
                (false, false) => 0,
                (true, false) => 1,
                (_, true) => 3,
            };
            let is_response = matches!(&one.what, What::Request(held)
                if !held.is_hold_point() && one.name.depth() > 1);
            let alternatives = if is_response { alternatives } else { 1 };
            let task = one.name.clone();
            let enabled = EnabledTask { task, handler: "page".to_owned(), alternatives };
            let due = if is_timer { one.waiting.due } else { 0 };
            ranked.push((rank, due, one.waiting.order, enabled));
        }
        let waits = self.sabotage == Sabotage::StepsLast && !ranked.is_empty();
        if let Some(step) = next_step.filter(|_| self.step_ready && !waits) {
            let (task, handler) = (step.clone(), "page".to_owned());
            ranked.push((2, 0, 0, EnabledTask { task, handler, alternatives: 1 }));
        }
        ranked.sort_by_key(|(rank, due, order, _)| (*rank, *due, *order));
        if self.sabotage == Sabotage::OnlyFirst {
            ranked.truncate(1);
        }
        if self.sabotage == Sabotage::LeavesLast && ranked.len() > 1 {
            ranked.retain(|(.., one)| one.task.segment().kind != "leave");
        }
        self.enabled.extend(ranked.into_iter().map(|(.., enabled)| enabled));
    }

    pub(super) fn is_enabled(&self, task: &TaskName) -> Option<&EnabledTask> {
        self.enabled.iter().find(|enabled| enabled.task == *task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::PageRequest;

    fn held(url: &str, method: &str, resource: &str) -> Held {
        let request =
            PageRequest { method: method.into(), url: url.into(), body: Vec::new(), ordinal: 0 };
        let id = || "1".to_owned();
        Held {
            session: String::new(),
            fetch_id: id(),
            network_id: id(),
            request,
            resource: resource.into(),
            frame: id(),
            is_redirected: false,
            headers: Vec::new(),
            origin: None,
            referrer: None,
        }
    }

    fn queued(kind: &str, label: &str, due: u64) -> Queued {
        let (kind, label, channel) = (kind.to_owned(), label.to_owned(), String::new());
        Queued { id: 1, kind, label, due, delay: due, channel }
    }

    fn names(run: &mut Run, step: Option<&TaskName>) -> Vec<String> {
        run.list_enabled(step, (3, 3));
        run.enabled.iter().map(|enabled| enabled.task.to_string()).collect()
    }

    #[test]
    fn names_have_creators_and_numbers() {
        let mut run = Run::default();
        let origin = "http://localhost";
        for (url, method, resource) in [
            ("http://localhost/x.png?v=1", "GET", "Image"),
            ("http://localhost/x.png?v=1", "GET", "Image"),
            ("http://localhost/save", "POST", "Fetch"),
            ("http://other/a.js", "GET", "Script"),
            ("http://localhost/__anyorder/hold/3.js", "GET", "Script"),
        ] {
            run.push_request(&load(), held(url, method, resource), origin);
        }
        let expected = [
            "load/image@%2Fx.png?v=1",
            "load/image@%2Fx.png?v=1#1",
            "load/fetch@POST%20%2Fsave",
            "load/script@http:%2F%2Fother%2Fa.js",
            "load/parse@3",
        ];
        assert_eq!(names(&mut run, None), expected);
        let alternatives: Vec<u32> = run.enabled.iter().map(|one| one.alternatives).collect();
        assert_eq!(alternatives, [3, 3, 3, 3, 1], "the parser is no connection");
    }

    #[test]
    fn the_default_order() {
        let mut run = Run { step_ready: true, ..Run::default() };
        let step = TaskName::root("click");
        run.push_queued(&load(), 1, queued("timeout", "a:1", 20));
        run.push_queued(&load(), 1, queued("timeout", "a:2", 10));
        let tick = load().child("interval").with_label("a:3");
        run.push_queued(&tick, 1, queued("interval", "a:3", 5));
        run.push_navigation(&load(), "http://localhost/next".to_owned(), "http://localhost");
        run.push_request(&load(), held("http://localhost/i", "GET", "Image"), "http://localhost");
        let expected = [
            "load/image@%2Fi",
            "load/timeout@a:2",
            "load/timeout@a:1",
            "click",
            "load/interval@a:3/interval@a:3",
            "load/leave@%2Fnext",
        ];
        assert_eq!(names(&mut run, Some(&step)), expected);
        run.left = Some("http://localhost/next".to_owned());
        assert_eq!(names(&mut run, Some(&step)), [""; 0]);
    }

    #[test]
    fn what_repeats_for_ever_ends() {
        let mut run = Run::default();
        let mut creator = load();
        for _ in 0..5 {
            run.push_queued(&creator, 1, queued("interval", "a:1", 1));
            creator = creator.child("interval").with_label("a:1");
        }
        let spent: Vec<bool> = run.pending.iter().map(|one| Run::is_spent(one, 3)).collect();
        assert_eq!(spent, [false, false, false, false, true]);
    }

    #[test]
    fn roles() {
        let role_of = |name: &str| role(&name.parse().unwrap());
        assert_eq!(role_of("load"), TaskRole::Task);
        assert_eq!(role_of("click@%23a"), TaskRole::Input);
        assert_eq!(role_of("load/timeout@a:1"), TaskRole::Timer);
        assert_eq!(role_of("load/image"), TaskRole::Task);
    }
}
