//! What comes from outside, and events of the bus.

use super::program::Lower;
use super::trigger::{Listener, clock_words};
use crate::syntax::Trigger;
use anyorder_program::{FunctionBuilder, Op, PostTarget};

/// What listens to an event of the bus or of the outside.
pub(super) struct OutsideListener {
    id: String,
    data: Vec<(String, String)>,
    listener: Listener,
}

impl Lower<'_> {
    /// Adds a listener of something from outside.
    pub(super) fn outside(&mut self, words: &str, trigger: &Trigger, listener: Listener) {
        let listener = OutsideListener { id: trigger.id.clone(), data: Vec::new(), listener };
        self.outside.entry(words.to_owned()).or_default().push(listener);
    }

    /// Adds a listener of an event of the bus.
    pub(super) fn outside_event(
        &mut self,
        name: &str,
        data: &[(String, String)],
        trigger: &Trigger,
        listener: Listener,
    ) {
        let listener = OutsideListener { id: trigger.id.clone(), data: data.to_vec(), listener };
        self.outside.entry(format!("event {name}")).or_default().push(listener);
    }

    /// Fires an event of the bus: it is heard after what runs now.
    pub(super) fn fire_event(
        &mut self,
        f: &mut FunctionBuilder,
        name: &str,
        data: &[(String, Option<String>)],
    ) {
        let body = self.b.declare_function();
        let task = self.b.task(&format!("event {name}"), body, Some(self.handler));
        let post = self.b.post(task, PostTarget::Own);
        self.post(f, post, &[]);
        self.fired.push((name.to_owned(), data.to_vec(), body));
    }

    pub(super) fn define_fired(&mut self) {
        for (name, data, body) in std::mem::take(&mut self.fired) {
            let mut f = self.b.function(&format!("event {name}"), 0);
            Self::add(&mut f, self.pending, -1);
            let listeners = self.outside.remove(&format!("event {name}")).unwrap_or_default();
            for listener in &listeners {
                let fits = listener.data.iter().all(|(key, value)| {
                    let found = data.iter().find(|(k, _)| k == key);
                    found.is_some_and(|(_, v)| v.as_ref().is_none_or(|v| v == value))
                });
                if fits {
                    self.tell(&mut f, listener);
                }
            }
            self.rests(&mut f);
            self.outside.insert(format!("event {name}"), listeners);
            self.b.define(body, f);
        }
    }

    fn tell(&mut self, f: &mut FunctionBuilder, listener: &OutsideListener) {
        let id = self.text_reg(f, &listener.id);
        let none = f.value(|dst| Op::Null { dst });
        Self::call(f, listener.listener.then, &[id, none, none, none]);
    }

    /// Makes the events of the outside: each state may get each value, each trigger may come.
    pub(super) fn define_outside(&mut self) {
        for at in 0..self.states.len() {
            let key = self.table.keys[at].clone();
            let own = ["automation.", "script.", "timer."].iter().any(|d| key.starts_with(d));
            if own || !self.read.contains(&key) || self.given.contains_key(&at) {
                continue;
            }
            for value in self.table.values[at].clone() {
                let global = self.states[at];
                let mut g = self.b.function("can change", 0);
                let no = g.label();
                Self::unless_int(&mut g, self.pending, 0, no);
                let now = Self::get(&mut g, global);
                let new = self.text_reg(&mut g, &value);
                let differs = g.value(|dst| Op::Ne { dst, a: now, b: new });
                g.emit(Op::Return { src: differs });
                g.bind(no);
                let never = g.value(|dst| Op::Bool { dst, value: false });
                g.emit(Op::Return { src: never });
                let guard = self.b.add(g);
                let mut f = self.b.function("outside", 0);
                let new = self.text_reg(&mut f, &value);
                let set = self.set[at];
                Self::call(&mut f, set, &[new]);
                let name = match key.split_once('#') {
                    Some((entity, attribute)) => format!("{attribute} of {entity} becomes {value}"),
                    None => format!("{key} becomes {value}"),
                };
                self.event(&name, Some(guard), f);
            }
        }
        let mut outside = std::mem::take(&mut self.outside);
        let times = self.times.clone();
        for (at, seconds) in times.iter().enumerate() {
            let mut listeners = outside.remove(&clock_words(*seconds)).unwrap_or_default();
            listeners.sort_by_key(|listener| listener.listener.rank);
            let mut g = self.b.function("is before", 0);
            let no = g.label();
            Self::unless_int(&mut g, self.pending, 0, no);
            let before = (at + times.len() - 1) % times.len();
            let a = Self::get(&mut g, self.clock);
            let is = g.value(|dst| Op::EqInt { dst, a, value: before as i32 });
            g.emit(Op::Return { src: is });
            g.bind(no);
            let never = g.value(|dst| Op::Bool { dst, value: false });
            g.emit(Op::Return { src: never });
            let guard = self.b.add(g);
            let mut f = self.b.function("time of day", 0);
            Self::set_int(&mut f, self.clock, at as i32);
            for listener in &listeners {
                self.tell(&mut f, listener);
            }
            let counts = times.len() > 1 && self.given_clock.is_none();
            if counts || !listeners.is_empty() {
                self.event(&clock_words(*seconds), Some(guard), f);
            }
        }
        let mut g = self.b.function("nothing is pending", 0);
        let no = g.label();
        Self::unless_int(&mut g, self.pending, 0, no);
        let yes = g.value(|dst| Op::Bool { dst, value: true });
        g.emit(Op::Return { src: yes });
        g.bind(no);
        let never = g.value(|dst| Op::Bool { dst, value: false });
        g.emit(Op::Return { src: never });
        let idle = self.b.add(g);
        for (words, mut listeners) in outside {
            listeners.sort_by_key(|listener| listener.listener.rank);
            // Events with other data are other events.
            let mut kinds: Vec<Vec<(String, String)>> = Vec::new();
            for listener in &listeners {
                if !kinds.contains(&listener.data) {
                    kinds.push(listener.data.clone());
                }
            }
            for data in kinds {
                let mut f = self.b.function("outside", 0);
                for listener in listeners.iter().filter(|l| l.data.iter().all(|d| data.contains(d)))
                {
                    self.tell(&mut f, listener);
                }
                let of: Vec<String> = data.iter().map(|(k, v)| format!("{k}: {v}")).collect();
                let name = if of.is_empty() {
                    words.clone()
                } else {
                    format!("{words} ({})", of.join(", "))
                };
                self.event(&name, Some(idle), f);
            }
        }
    }
}
