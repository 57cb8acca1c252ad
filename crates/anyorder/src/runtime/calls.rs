//! Calls of objects with specifications: their numbers, and invocations of them.

use super::core::{self, Core};
use super::strand::Strand;
use super::version::mix;
use anyorder_threads::{Act, ObjectId, Op};
use rustc_hash::FxHashMap;
use std::any::{Any, TypeId};
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::Location;

/// What a specification says of two calls.
pub(crate) type Commute<C> = fn(&C, &C) -> bool;

/// All calls that were made, over all executions of a program.
#[derive(Default)]
pub(crate) struct Calls {
    all: Vec<Box<dyn Known>>,
    by_hash: FxHashMap<u64, Vec<usize>>,
}

/// A call of some type.
trait Known {
    fn as_any(&self) -> &dyn Any;
    fn commutes(&self, other: &dyn Known) -> bool;
    fn words(&self) -> String;
}

struct Call<C> {
    call: C,
    commute: Commute<C>,
}

impl<C: Eq + Debug + 'static> Known for Call<C> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn commutes(&self, other: &dyn Known) -> bool {
        // Calls of two types on one object: of two specifications, of which none knows the other.
        let other = other.as_any().downcast_ref::<Call<C>>();
        other.is_some_and(|other| {
            (self.commute)(&self.call, &other.call) && (self.commute)(&other.call, &self.call)
        })
    }

    fn words(&self) -> String {
        format!("{:?}", self.call)
    }
}

impl Calls {
    fn number<C: Clone + Eq + Hash + Debug + 'static>(
        &mut self,
        call: &C,
        commute: Commute<C>,
    ) -> u64 {
        let hash = super::version::hash_of(&(TypeId::of::<C>(), call));
        let is_same = |at: &usize| {
            let known = self.all[*at].as_any().downcast_ref::<Call<C>>();
            known.is_some_and(|known| {
                known.call == *call && std::ptr::fn_addr_eq(known.commute, commute)
            })
        };
        if let Some(found) =
            self.by_hash.get(&hash).and_then(|all| all.iter().find(|at| is_same(at)))
        {
            return *found as u64;
        }
        self.all.push(Box::new(Call { call: call.clone(), commute }));
        self.by_hash.entry(hash).or_default().push(self.all.len() - 1);
        self.all.len() as u64 - 1
    }

    /// Returns whether two calls commute.
    pub(super) fn commute(&self, call: u64, other: u64) -> bool {
        match (self.all.get(call as usize), self.all.get(other as usize)) {
            (Some(call), Some(other)) => call.commutes(&**other),
            _ => false,
        }
    }

    /// Returns a call in words.
    pub(super) fn words(&self, call: u64) -> String {
        self.all.get(call as usize).map_or_else(String::new, |call| call.words())
    }
}

/// An invocation that has begun. It ends with what its caller knows of it from then on, or, if it
/// unwinds, with all that the thread saw in it.
pub(crate) struct Invocation {
    object: ObjectId,
    call: u64,
    at: &'static Location<'static>,
    /// What the thread had seen at the begin.
    history: u64,
}

impl Invocation {
    /// Begins one. `None` outside of checks.
    pub(crate) fn begin<C: Clone + Eq + Hash + Debug + 'static>(
        object: ObjectId,
        call: &C,
        commute: Commute<C>,
        at: &'static Location<'static>,
    ) -> Option<Invocation> {
        core::with(|core| {
            let call = core.calls.borrow_mut().number(call, commute);
            core.perform(Op::new(object, Act::Invoke(call)), at);
            let history = core.with_current(|strand| {
                strand.has_altered = false;
                strand.history
            });
            Invocation { object, call, at, history }
        })
    }

    /// Ends it. The thread knows `result` of it, and nothing else.
    pub(crate) fn end(self, result: u64) {
        let history = self.history;
        core::with(|core| {
            let value = core.with_current(|strand| {
                let value = mix(mix(self.call, result), strand.beside_history());
                strand.history = mix(history, value);
                value
            });
            self.return_with(core, value);
            // The result of the operation is the same for all.
            core.with_current(|strand| strand.history = mix(history, value));
        });
        std::mem::forget(self);
    }

    fn return_with(&self, core: &Core, value: u64) {
        core.perform(Op::new(self.object, Act::Return { call: self.call, value }), self.at);
    }
}

impl Drop for Invocation {
    fn drop(&mut self) {
        core::with(|core| {
            let value = core.with_current(|strand| mix(strand.version(), strand.beside_history()));
            self.return_with(core, value);
        });
    }
}

impl Strand {
    /// A number for what a thread knows beside the results that it got: what it made, and what it
    /// read since it gave way last. Reads of an invocation that altered something are forgotten:
    /// who waits does not alter.
    fn beside_history(&mut self) -> u64 {
        if self.has_altered {
            self.forget_reads();
        }
        let counts = [self.made, self.spawned, self.firsts, u32::from(self.is_varied)];
        let hash = counts.iter().fold(0, |hash, count| mix(hash, u64::from(*count)));
        mix(mix(hash, self.bump.position_reached()), self.hash_of_reads())
    }
}
