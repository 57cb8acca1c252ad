//! The slide show of the paper's running example (System A and System B of the worked examples).

use crate::tests::r4::toy::{Effects, Model};
use anyorder_system::{AccessKind, Level, Observation, PartPath, TaskName, TaskRole};

/// The slide show.
#[derive(Clone, Debug)]
pub(crate) struct Slides {
    queue: Vec<&'static str>,
    shown: Vec<&'static str>,
    pending: Vec<TaskName>,
    clicked: u32,
    /// All timers are events, also those that `e1` and timers set.
    real: bool,
    /// System A: a timer that is set but is no event.
    silent_timers: u32,
}

pub(crate) fn event(name: &str) -> TaskName {
    TaskName::root(name)
}

/// The name by which the worked example knows a task of either system.
pub(crate) fn word(task: &TaskName) -> String {
    task.to_string().replace("e2/timer", "e4")
}

impl Slides {
    pub(crate) fn new(real: bool) -> Slides {
        let pending = ["e0", "e1", "e3", "e5"].map(event).to_vec();
        Slides { queue: vec![], shown: vec![], pending, clicked: 0, real, silent_timers: 0 }
    }

    fn show_next(&mut self, task: &TaskName, effects: &mut Effects) {
        if self.queue.is_empty() {
            effects.read("queue");
            if self.real || *task == event("e2") {
                let timer = task.child("timer");
                self.pending.push(timer.clone());
                effects.posted.push((timer, 100));
            } else {
                self.silent_timers += 1;
            }
        } else {
            effects.accesses.push(("queue".to_owned(), AccessKind::Rmw, None, None));
            self.shown.push(self.queue.remove(0));
        }
    }
}

impl Model for Slides {
    fn enabled(&self) -> Vec<TaskName> {
        let mut enabled = self.pending.clone();
        enabled.sort_by_key(|task| (word(task), task.depth()));
        enabled
    }

    fn run(&mut self, task: &TaskName, _alternative: u32) -> Effects {
        let mut effects = Effects::default();
        self.pending.retain(|other| other != task);
        match word(task).as_str() {
            "e0" => {
                self.queue.push("img2");
                effects.write("queue");
            }
            "e3" => {
                self.queue.push("img3");
                effects.write("queue");
            }
            "e5" => effects.write("stats"),
            "e1" => {
                self.show_next(task, &mut effects);
                self.pending.push(event("e2"));
                effects.flips(&event("e2"));
                self.clicked = 1;
            }
            _ => self.show_next(task, &mut effects),
        }
        effects
    }

    fn observe(&self) -> Observation {
        let mut observation = Observation::new();
        let set = |o: &mut Observation, name: &str, level, text: String| {
            o.set(PartPath::new([name]), level, text.as_bytes());
        };
        set(&mut observation, "shown", Level::Output, self.shown.join(" "));
        set(&mut observation, "queue", Level::Heap, self.queue.join(" "));
        let timers = self.pending.iter().filter(|task| task.creator().is_some()).count();
        set(&mut observation, "timers", Level::PendingTimers, timers.to_string());
        observation
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        match task.to_string().as_str() {
            "e1" | "e2" => TaskRole::Input,
            _ if task.creator().is_some() => TaskRole::Timer,
            _ => TaskRole::Task,
        }
    }
}
