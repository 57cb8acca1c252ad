//! Semaphores, as calls of an object.
//!
//! If the initialisation of a semaphore was recorded, the trace begins with its initial count: a
//! `try_acquire` that fails, so that the count is zero before, and a `release` for each permit. A
//! part of a long recording begins with the count at its border. A later initialisation is as many
//! calls as the count changes by.

use super::Maker;
use super::misuse::What;
use crate::recording::{Event, kind};
use crate::to_trace::stacks::Where;
use anyorder_trace::{EventKind, Invocation, InvocationId, TableFull};

/// The most permits that a trace gives a semaphore in the beginning. Nobody waits where there are
/// so many.
const PERMITS_MAX: u64 = 1 << 16;

/// The method that takes a permit.
const TAKES: &str = "acquire";
/// The method that gives one.
const GIVES: &str = "release";
/// The method of an attempt that fails.
const TRIES: &str = "try_acquire";

impl Maker<'_> {
    pub(super) fn semaphore(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let address = event.address;
        if event.kind == kind::SEM_INIT {
            self.begins(lane, event, What::Semaphore)?;
            let is_first = |first: &(u64, u64)| first.0 == event.time;
            if self.survey.permits_first.get(&address).is_some_and(is_first) {
                return Ok(());
            }
            return self.has_permits((lane, Some(event)), address, event.third);
        }
        self.uses(lane, event, address, What::Semaphore)?;
        self.touches(lane, event)?;
        let (method, change) = match event.kind {
            kind::SEM_WAIT => (TAKES, -1),
            kind::SEM_POST => (GIVES, 1),
            kind::SEM_REFUSED => (TRIES, 0),
            _ => return Ok(()),
        };
        if let Some(left) = self.permits_left.get_mut(&address) {
            *left += change;
        }
        self.call_semaphore((lane, Some(event)), address, method)
    }

    /// Sets the count of a semaphore.
    fn has_permits(
        &mut self,
        (lane, at): (usize, Option<&Event>),
        address: u64,
        permits: u64,
    ) -> Result<(), TableFull> {
        // More than are ever taken make no difference.
        let Some(taken) = self.survey.permits_taken.get(&address).copied() else { return Ok(()) };
        let permits = permits.min(PERMITS_MAX).min(taken.into()) as i64;
        let left = match self.permits_left.insert(address, permits) {
            None => {
                self.call_semaphore((lane, at), address, TRIES)?;
                0
            }
            Some(left) => left,
        };
        let method = if permits > left { GIVES } else { TAKES };
        for _ in 0..permits.abs_diff(left) {
            self.call_semaphore((lane, at), address, method)?;
        }
        Ok(())
    }

    /// Begins the first trace with the permits of each semaphore.
    pub(super) fn tell_permits(&mut self, lane: usize) -> Result<(), TableFull> {
        let first = self.survey.permits_first.iter().map(|(of, (_, permits))| (*of, *permits));
        let mut first: Vec<(u64, u64)> = first.collect();
        first.sort_unstable();
        first.into_iter().try_for_each(|(of, permits)| self.has_permits((lane, None), of, permits))
    }

    /// Begins another one with the permits that are left.
    pub(super) fn repeat_permits(&mut self, lane: usize) -> Result<(), TableFull> {
        // Below zero, permits came from what is not recorded.
        let left = self.permits_left.drain();
        let known = left.filter_map(|(of, left)| Some((of, u64::try_from(left).ok()?)));
        let mut known: Vec<(u64, u64)> = known.collect();
        known.sort_unstable();
        known.into_iter().try_for_each(|(of, permits)| self.has_permits((lane, None), of, permits))
    }

    /// Returns no fewer events than that takes.
    pub(super) fn permits_to_repeat(&self) -> u64 {
        self.permits_left.values().map(|permits| 2 + 2 * permits.unsigned_abs()).sum()
    }

    fn call_semaphore(
        &mut self,
        (lane, at): (usize, Option<&Event>),
        address: u64,
        method: &'static str,
    ) -> Result<(), TableFull> {
        let key = (address, method);
        let call = match self.permits.get(&key) {
            Some(known) => *known,
            None => {
                let call = self.semaphore_call(address, method)?;
                self.permits.insert(key, call);
                call
            }
        };
        for kind in [EventKind::Invoke, EventKind::Return] {
            match at {
                Some(event) => self.push(lane, event, kind, call.0)?,
                None => self.push_at(lane, kind.into(), call.0, Where::NOWHERE),
            }
        }
        Ok(())
    }

    fn semaphore_call(
        &mut self,
        address: u64,
        method: &'static str,
    ) -> Result<InvocationId, TableFull> {
        let object = self.interner.name(&format!("semaphore:{address:#x}"))?;
        let result = (method == TRIES).then_some(0);
        let method = self.interner.name(method)?;
        self.interner.push_invocation(Invocation { object, method, arguments: Vec::new(), result })
    }
}
