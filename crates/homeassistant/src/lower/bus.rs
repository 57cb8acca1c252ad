//! The bus: how changes of states reach what hears of them.

use super::facts::Facts;
use super::program::Lower;
use anyorder_program::{Op, PostTarget};

/// How changes of states reach those that wait for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bus {
    /// Home Assistant since 2026.6: changes wait in a queue, and whoever waits when one is taken
    /// hears of it.
    #[default]
    Queue,
    /// Home Assistant before 2026.6: a change is dropped when it comes if nobody tracks the entity
    /// then, so a run that turns something on and then waits for that may miss it.
    Drop,
}

impl Lower<'_> {
    pub(super) fn define_states(&mut self) {
        for at in 0..self.states.len() {
            let key = self.table.keys[at].clone();
            let mut heard = self.heard[at].clone();
            heard.sort_by_key(|heard| heard.rank);
            let mut tell = self.b.function(&format!("{key} changed"), 2);
            let nothing = tell.value(|dst| Op::Null { dst });
            for global in self.forgets.get(&at).into_iter().flatten() {
                tell.emit(Op::SetGlobal { global: *global, src: nothing });
            }
            let dropped = tell.label();
            if self.options.bus == Bus::Drop && !self.is_tracked(&key) {
                let some = tell.label();
                for (pc, wait) in heard.iter().filter_map(|heard| heard.only) {
                    let now = Self::get(&mut tell, pc);
                    let waits = tell.value(|dst| Op::EqInt { dst, a: now, value: wait });
                    tell.jump_if(waits, some);
                }
                tell.jump(dropped);
                tell.bind(some);
            }
            // A message for each automation, one behind the other: nothing comes between them, and
            // what one of them does not know does not multiply with what the next one does not.
            for of_one in heard.chunk_by(|a, b| a.rank == b.rank) {
                let mut f = self.b.function(&format!("{key} changed"), 2);
                Self::add(&mut f, self.pending, -1);
                for listener in of_one {
                    let (old, new) = (f.param(0), f.param(1));
                    Self::call(&mut f, listener.func, &[old, new]);
                }
                self.rests(&mut f);
                let body = self.b.add(f);
                let task = self.b.task(&format!("{key} changed"), body, Some(self.handler));
                let post = self.b.post(task, PostTarget::Own);
                let (old, new) = (tell.param(0), tell.param(1));
                self.post(&mut tell, post, &[old, new]);
            }
            tell.bind(dropped);
            let body = self.tell[at];
            self.b.define(body, tell);
            let mut f = self.b.function("set", 1);
            let new = f.param(0);
            self.assign(&mut f, &key, new);
            let set = self.set[at];
            self.b.define(set, f);
        }
    }

    /// Whether a trigger of some automation of the home tracks an entity at all times.
    fn is_tracked(&self, key: &str) -> bool {
        let entity = |key: &str| key.split('#').next().unwrap_or(key).to_owned();
        self.home.automations.iter().any(|automation| {
            let mut facts = Facts::default();
            automation.triggers.iter().for_each(|t| super::facts::of_trigger(&mut facts, t, true));
            facts.triggers.iter().any(|tracked| entity(tracked) == entity(key))
        })
    }
}
