//! The order form of `examples/pipe`, written by hand as a state that can be copied. Kind 1: with
//! snapshots.

use super::recorder::Recorder;
use anyorder_system::{
    AccessDetail, Capabilities, Choice, Divergence, EnabledDetail, EnabledTask, Hash128, Level,
    Observation, PartPath, ProgramIdentity, RunError, SnapshotId, Snapshots, Step, TaskName,
    TaskSystem,
};
use anyorder_trace::Tables;
use std::collections::BTreeMap;

const CLICKS: u32 = 2;

#[derive(Clone, PartialEq, Eq)]
struct Pending {
    name: TaskName,
    handler: &'static str,
    delay: u64,
    alternatives: u32,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Click,
    Help,
    Submit,
    Reply(u64),
    Timeout(u64),
    Beep,
}

#[derive(Clone)]
struct State {
    pending: Vec<Pending>,
    click_enabled: bool,
    clicks: u32,
    sending: u64,
    orders: u64,
    status: &'static str,
    log: String,
    panel: u64,
    /// What was used last, where this is part of the program.
    focus: &'static str,
    failures: Vec<String>,
    /// Reply and time-out of each order.
    waiting: BTreeMap<u64, (TaskName, TaskName)>,
}

fn start() -> State {
    let load = Pending {
        name: TaskName::root("load"),
        handler: "ui",
        delay: 0,
        alternatives: 1,
        kind: Kind::Load,
    };
    State {
        pending: vec![load],
        click_enabled: false,
        clicks: 0,
        sending: 0,
        orders: 0,
        status: "",
        log: String::new(),
        panel: 0,
        focus: "",
        failures: Vec::new(),
        waiting: BTreeMap::new(),
    }
}

/// The system.
pub(crate) struct ByHand {
    program: ProgramIdentity,
    recorder: Recorder,
    /// Whether clicks and help take the focus.
    has_focus: bool,
    state: State,
    saved: BTreeMap<u64, State>,
    saves: u64,
}

/// Makes one.
pub(crate) fn by_hand() -> Result<ByHand, RunError> {
    let (program, recorder) = (ProgramIdentity::new("double submit"), Recorder::default());
    let (saved, has_focus) = (BTreeMap::new(), false);
    Ok(ByHand { program, recorder, has_focus, state: start(), saved, saves: 0 })
}

/// Makes one that also shows what was used last. In the variable for it a click and help conflict,
/// and nowhere else: in the order form alone, all tasks that conflict in a variable also conflict
/// in the order of the mailbox.
pub(crate) fn by_hand_with_focus() -> Result<ByHand, RunError> {
    Ok(ByHand { has_focus: true, ..by_hand()? })
}

impl ByHand {
    fn runnable(&self) -> Vec<Pending> {
        let mut least: Option<u64> = None;
        let mut runnable = Vec::new();
        for task in &self.state.pending {
            if task.handler == "net" || least.is_none_or(|least| task.delay < least) {
                runnable.push(task.clone());
            }
            if task.handler == "ui" {
                least = Some(least.map_or(task.delay, |least| least.min(task.delay)));
            }
        }
        if self.state.click_enabled && self.state.clicks < CLICKS {
            let name = TaskName::root("click").with_ordinal(self.state.clicks);
            let (delay, alternatives) = (0, 1);
            runnable.push(Pending { name, handler: "ui", delay, alternatives, kind: Kind::Click });
        }
        if self.state.panel == 0 {
            let (name, delay, alternatives) = (TaskName::root("help"), 0, 1);
            runnable.push(Pending { name, handler: "ui", delay, alternatives, kind: Kind::Help });
        }
        runnable
    }

    fn post(&mut self, task: Pending) {
        self.recorder.posted(&task.name, task.handler, task.delay);
        self.state.pending.push(task);
    }

    fn cancel(&mut self, name: &TaskName) {
        self.recorder.cancels(name);
        let before = self.state.pending.len();
        self.state.pending.retain(|task| task.name != *name);
        if self.state.pending.len() < before {
            self.recorder.cancelled(name);
        }
    }

    fn switch_clicks(&mut self, enabled: bool) {
        self.state.click_enabled = enabled;
        for ordinal in 0..CLICKS {
            self.recorder.switch(&TaskName::root("click").with_ordinal(ordinal));
        }
    }

    fn set_status(&mut self, status: &'static str) {
        self.recorder.write_text("status", status);
        self.state.status = status;
    }

    fn take_focus(&mut self, focus: &'static str) {
        if self.has_focus {
            self.recorder.write_text("focus", focus);
            self.state.focus = focus;
        }
    }

    fn write_log(&mut self, text: &str) {
        let after = format!("{}{text};", self.state.log);
        self.recorder.rmw_text("log", &self.state.log, &after);
        self.state.log = after;
    }

    fn run(&mut self, task: &Pending, alternative: u32) {
        let me = &task.name;
        let ui = |name: TaskName, delay, kind| Pending {
            name,
            handler: "ui",
            delay,
            alternatives: 1,
            kind,
        };
        match task.kind {
            Kind::Load => {
                self.set_status("ready");
                self.switch_clicks(true);
            }
            Kind::Help => {
                self.recorder.rmw("panel", self.state.panel, self.state.panel + 1);
                self.state.panel += 1;
                self.take_focus("help");
            }
            Kind::Click => {
                self.post(ui(me.child("submit"), 0, Kind::Submit));
                self.take_focus("button");
            }
            Kind::Submit => {
                let number = self.state.sending + 1;
                self.recorder.rmw("sending", self.state.sending, number);
                self.state.sending = number;
                self.switch_clicks(false);
                self.write_log("POST /orders");
                self.recorder.read("sending", number);
                let reply = me.child("reply").with_label("/orders");
                let timeout = me.child("timeout");
                self.post(Pending {
                    name: reply.clone(),
                    handler: "net",
                    delay: 0,
                    alternatives: 2,
                    kind: Kind::Reply(number),
                });
                self.post(ui(timeout.clone(), 50, Kind::Timeout(number)));
                self.state.waiting.insert(number, (reply, timeout));
            }
            Kind::Reply(number) => {
                let (_, timeout) = self.state.waiting[&number].clone();
                self.cancel(&timeout);
                if alternative == 1 {
                    self.set_status("error");
                    return;
                }
                self.recorder.rmw("orders", self.state.orders, self.state.orders + 1);
                self.state.orders += 1;
                if self.state.orders > 1 {
                    self.recorder.failed("ordered twice");
                    self.state.failures.push("ordered twice".to_owned());
                }
                self.set_status("done");
            }
            Kind::Timeout(number) => {
                let (reply, _) = self.state.waiting[&number].clone();
                self.cancel(&reply);
                self.set_status("timed out");
                for ordinal in 0..2 {
                    self.post(ui(me.child("beep").with_ordinal(ordinal), 0, Kind::Beep));
                }
            }
            Kind::Beep => self.write_log("beep"),
        }
    }
}

impl TaskSystem for ByHand {
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
        self.recorder.tables()
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.state = start();
        Ok(())
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let enabled = |task: Pending| EnabledTask {
            task: task.name,
            handler: task.handler.to_owned(),
            alternatives: task.alternatives,
        };
        Ok(self.runnable().into_iter().map(enabled).collect())
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let mut runnable = self.runnable();
        let at = runnable
            .iter()
            .position(|t| t.name == choice.task && choice.alternative < t.alternatives);
        let Some(at) = at else {
            let enabled = runnable.into_iter().map(|task| task.name).collect();
            let wanted = choice.task.clone();
            return Err(RunError::Diverged(Divergence { choice: 0, wanted, enabled }));
        };
        let task = runnable.swap_remove(at);
        match task.kind {
            Kind::Click => self.state.clicks += 1,
            _ => self.state.pending.retain(|pending| pending.name != task.name),
        }
        self.recorder.begin(&task.name);
        self.run(&task, choice.alternative);
        Ok(self.recorder.end())
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        let state = &self.state;
        let mut observation =
            observation(state.status, state.panel, state.orders, &state.log, &state.failures);
        if self.has_focus {
            let path = PartPath::new(["page", "focus"]);
            observation.set(path, Level::Output, state.focus.as_bytes());
        }
        Ok(observation)
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        Some(self)
    }
}

/// The observable outcome of a run of the order form.
pub(crate) fn observation(
    status: &str,
    panel: u64,
    orders: u64,
    log: &str,
    failures: &[String],
) -> Observation {
    let mut parts = vec![
        (vec!["page", "status"], Level::Output, status.to_owned()),
        (vec!["page", "help"], Level::Output, panel.to_string()),
        (vec!["server", "orders"], Level::Persistent, orders.to_string()),
        (vec!["requests"], Level::Request, log.to_owned()),
    ];
    if !failures.is_empty() {
        parts.push((vec!["failures"], Level::Failure, failures.join("\n")));
    }
    let mut observation = Observation::new();
    for (path, level, text) in parts {
        let path = PartPath::new(path);
        observation.set(path.clone(), level, text.as_bytes());
        observation.keep_text(&path, &text);
    }
    observation
}

impl Snapshots for ByHand {
    fn save(&mut self) -> Result<SnapshotId, RunError> {
        self.saved.insert(self.saves, self.state.clone());
        self.saves += 1;
        Ok(SnapshotId(self.saves - 1))
    }

    fn restore(&mut self, snapshot: SnapshotId) -> Result<(), RunError> {
        let state = self.saved.get(&snapshot.0);
        self.state = state.ok_or(RunError::Unsupported("a forgotten snapshot"))?.clone();
        Ok(())
    }

    fn forget(&mut self, snapshot: SnapshotId) {
        self.saved.remove(&snapshot.0);
    }

    fn fingerprint(&mut self) -> Hash128 {
        let state = &self.state;
        let hash = state
            .pending
            .iter()
            .fold(Hash128::new(), |hash, task| hash.part(task.name.to_string().as_bytes()));
        let waiting = state
            .waiting
            .values()
            .fold(hash.number(state.pending.len() as u64), |hash, (reply, _)| {
                hash.part(reply.to_string().as_bytes())
            });
        waiting
            .number(u64::from(state.click_enabled))
            .number(u64::from(state.clicks))
            .number(state.sending)
            .number(state.orders)
            .number(state.panel)
            .part(state.status.as_bytes())
            .part(state.focus.as_bytes())
            .part(state.log.as_bytes())
            .part(state.failures.join("\n").as_bytes())
    }
}
