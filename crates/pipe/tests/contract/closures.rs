//! The order form as closures on a small event loop. Kind 2: closures cannot be copied, so there
//! are no snapshots.

use super::by_hand::observation;
use super::recorder::Recorder;
use anyorder_system::{
    AccessDetail, Capabilities, Choice, Divergence, EnabledDetail, EnabledTask, Observation,
    ProgramIdentity, RunError, Step, TaskName, TaskSystem,
};
use anyorder_trace::Tables;
use std::collections::BTreeMap;

type Work = Box<dyn FnOnce(&mut Loop)>;

struct Task {
    name: TaskName,
    handler: &'static str,
    delay: u64,
    alternatives: u32,
    work: Work,
}

/// The loop and, for brevity, the variables of the one program that runs on it.
#[derive(Default)]
struct Loop {
    recorder: Recorder,
    pending: Vec<Task>,
    current: Option<TaskName>,
    /// How many tasks of a kind and label the current one has posted.
    ordinals: BTreeMap<(String, String), u32>,
    alternative: u32,
    clicks_left: std::ops::Range<u32>,
    click_enabled: bool,
    sending: u64,
    orders: u64,
    status: &'static str,
    log: String,
    panel: u64,
    failures: Vec<String>,
    waiting: BTreeMap<u64, (TaskName, TaskName)>,
}

impl Loop {
    /// Posts a task from the current one.
    fn post(
        &mut self,
        (kind, label): (&str, &str),
        (handler, delay, alternatives): (&'static str, u64, u32),
        work: impl FnOnce(&mut Loop) + 'static,
    ) -> TaskName {
        let ordinal = self.ordinals.entry((kind.to_owned(), label.to_owned())).or_default();
        let name = match &self.current {
            Some(creator) => creator.child(kind),
            None => TaskName::root(kind),
        };
        let name = name.with_label(label).with_ordinal(*ordinal);
        *ordinal += 1;
        if self.current.is_some() {
            self.recorder.posted(&name, handler, delay);
        }
        let work = Box::new(work);
        self.pending.push(Task { name: name.clone(), handler, delay, alternatives, work });
        name
    }

    fn cancel(&mut self, name: &TaskName) {
        self.recorder.cancels(name);
        if let Some(at) = self.pending.iter().position(|task| task.name == *name) {
            self.pending.remove(at);
            self.recorder.cancelled(name);
        }
    }

    fn enable_click(&mut self, enabled: bool) {
        self.click_enabled = enabled;
        for ordinal in 0..2 {
            self.recorder.switch(&TaskName::root("click").with_ordinal(ordinal));
        }
    }

    fn write_log(&mut self, text: &str) {
        let after = format!("{}{text};", self.log);
        self.recorder.rmw_text("log", &self.log, &after);
        self.log = after;
    }

    fn set_status(&mut self, status: &'static str) {
        self.recorder.write_text("status", status);
        self.status = status;
    }

    /// Positions in `pending` of the tasks that can run.
    fn runnable(&self) -> Vec<usize> {
        let is_runnable = |at: &usize| {
            let task = &self.pending[*at];
            let waits_for =
                |other: &Task| other.handler == task.handler && other.delay <= task.delay;
            task.handler == "net" || !self.pending[..*at].iter().any(waits_for)
        };
        (0..self.pending.len()).filter(is_runnable).collect()
    }

    fn click_name(&self) -> Option<TaskName> {
        let next = self.clicks_left.clone().next().filter(|_| self.click_enabled)?;
        Some(TaskName::root("click").with_ordinal(next))
    }
}

fn build(recorder: Recorder) -> Loop {
    let mut looper = Loop { recorder, clicks_left: 0..2, ..Loop::default() };
    looper.post(("load", ""), ("ui", 0, 1), |l| {
        l.set_status("ready");
        l.enable_click(true);
    });
    looper
}

fn click(l: &mut Loop) {
    l.post(("submit", ""), ("ui", 0, 1), |l| {
        l.recorder.rmw("sending", l.sending, l.sending + 1);
        l.sending += 1;
        l.enable_click(false);
        l.write_log("POST /orders");
        let number = l.sending;
        l.recorder.read("sending", number);
        let reply = l.post(("reply", "/orders"), ("net", 0, 2), move |l| {
            let timeout = l.waiting[&number].1.clone();
            l.cancel(&timeout);
            if l.alternative == 1 {
                return l.set_status("error");
            }
            l.recorder.rmw("orders", l.orders, l.orders + 1);
            l.orders += 1;
            if l.orders > 1 {
                l.recorder.failed("ordered twice");
                l.failures.push("ordered twice".to_owned());
            }
            l.set_status("done");
        });
        let timeout = l.post(("timeout", ""), ("ui", 50, 1), move |l| {
            let reply = l.waiting[&number].0.clone();
            l.cancel(&reply);
            l.set_status("timed out");
            for _ in 0..2 {
                l.post(("beep", ""), ("ui", 0, 1), |l| l.write_log("beep"));
            }
        });
        l.waiting.insert(number, (reply, timeout));
    });
}

/// The system.
pub(crate) struct Closures {
    program: ProgramIdentity,
    looper: Loop,
}

/// Makes one.
pub(crate) fn closures() -> Result<Closures, RunError> {
    Ok(Closures {
        program: ProgramIdentity::new("double submit"),
        looper: build(Recorder::default()),
    })
}

impl TaskSystem for Closures {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            snapshot: false,
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
        self.looper.recorder.tables()
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.looper = build(std::mem::take(&mut self.looper.recorder));
        Ok(())
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let l = &self.looper;
        let posted = l.runnable().into_iter().map(|at| &l.pending[at]).map(|task| EnabledTask {
            task: task.name.clone(),
            handler: task.handler.to_owned(),
            alternatives: task.alternatives,
        });
        let click = l.click_name().map(|task| EnabledTask {
            task,
            handler: "ui".to_owned(),
            alternatives: 1,
        });
        let help = (l.panel == 0).then(|| EnabledTask {
            task: TaskName::root("help"),
            handler: "ui".to_owned(),
            alternatives: 1,
        });
        Ok(posted.chain(click).chain(help).collect())
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let enabled = self.enabled()?;
        let can_run =
            |t: &EnabledTask| t.task == choice.task && choice.alternative < t.alternatives;
        if !enabled.iter().any(can_run) {
            let enabled = enabled.into_iter().map(|task| task.task).collect();
            let wanted = choice.task.clone();
            return Err(RunError::Diverged(Divergence { choice: 0, wanted, enabled }));
        }
        let l = &mut self.looper;
        let work = match l.pending.iter().position(|task| task.name == choice.task) {
            Some(at) => l.pending.remove(at).work,
            None if choice.task.segment().kind == "help" => Box::new(|l: &mut Loop| {
                l.recorder.rmw("panel", l.panel, l.panel + 1);
                l.panel += 1;
            }),
            None => {
                l.clicks_left.next();
                Box::new(click)
            }
        };
        l.current = Some(choice.task.clone());
        l.ordinals.clear();
        l.alternative = choice.alternative;
        l.recorder.begin(&choice.task);
        work(l);
        l.current = None;
        Ok(l.recorder.end())
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        let l = &self.looper;
        Ok(observation(l.status, l.panel, l.orders, &l.log, &l.failures))
    }
}
