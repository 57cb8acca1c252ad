//! Semaphores, as calls of an object.
//!
//! If the initialisation of a semaphore was recorded, the trace begins with its initial count: a
//! `try_acquire` that fails, so that the count is zero before, and a `release` for each permit. A
//! part of a long recording begins with the count at its border, or with as many permits as it can
//! take: more make no difference to it. A later initialisation is as many calls as the count
//! changes by.

use super::Maker;
use super::misuse::What;
use crate::recording::{Event, kind};
use crate::to_trace::stacks::Where;
use anyorder_trace::{EventKind, Invocation, InvocationId, TableFull};
use rustc_hash::FxHashMap;

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
        self.takes += u64::from(event.kind == kind::SEM_WAIT);
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
        let told = match self.permits_left.insert(address, permits) {
            None => {
                self.call_semaphore((lane, at), address, TRIES)?;
                0
            }
            Some(left) => left - self.permits_untold.remove(&address).unwrap_or(0),
        };
        let method = if permits > told { GIVES } else { TAKES };
        for _ in 0..permits.abs_diff(told) {
            self.call_semaphore((lane, at), address, method)?;
        }
        Ok(())
    }

    /// Says how many permits the next part can take, by semaphore.
    pub(in crate::to_trace) fn will_take(&mut self, counts: &FxHashMap<u64, u32>) {
        self.will_take = Some(counts.clone());
    }

    /// Returns how many permits the part so far has taken.
    pub(in crate::to_trace) fn takes(&self) -> u64 {
        self.takes
    }

    /// Begins the first trace with the permits of each semaphore.
    pub(super) fn tell_permits(&mut self, lane: usize) -> Result<(), TableFull> {
        let taken = |of: &u64| self.survey.permits_taken.get(of).copied();
        let first = self.survey.permits_first.iter().filter_map(|(of, (_, permits))| {
            // More than are ever taken make no difference.
            let permits = (*permits).min(PERMITS_MAX).min(taken(of)?.into());
            Some((*of, permits as i64))
        });
        self.permits_left = first.collect();
        self.repeat_permits(lane)
    }

    /// Begins a trace with the permits that are left, as many as it can take.
    pub(super) fn repeat_permits(&mut self, lane: usize) -> Result<(), TableFull> {
        // Below zero, permits came from what is not recorded.
        self.permits_left.retain(|_, left| *left >= 0);
        let mut known: Vec<(u64, u64)> =
            self.permits_left.iter().filter_map(|(of, left)| self.needed(*of, *left)).collect();
        known.sort_unstable();
        let told: FxHashMap<u64, u64> = known.iter().copied().collect();
        let untold = |(of, left): (&u64, &i64)| {
            let told = told.get(of).copied().unwrap_or(0) as i64;
            (*left > told).then_some((*of, *left - told))
        };
        self.permits_untold = self.permits_left.iter().filter_map(untold).collect();
        for (of, permits) in known {
            self.call_semaphore((lane, None), of, TRIES)?;
            for _ in 0..permits {
                self.call_semaphore((lane, None), of, GIVES)?;
            }
        }
        Ok(())
    }

    /// Returns how many permits of a semaphore a part needs in the beginning; `None` if it takes
    /// none.
    fn needed(&self, semaphore: u64, left: i64) -> Option<(u64, u64)> {
        let left = u64::try_from(left).ok()?;
        match &self.will_take {
            None => Some((semaphore, left)),
            Some(counts) => {
                let taken = counts.get(&semaphore).copied().filter(|taken| *taken > 0)?;
                Some((semaphore, left.min(taken.into())))
            }
        }
    }

    /// Returns no fewer events than that takes.
    pub(super) fn permits_to_repeat(&self) -> u64 {
        let needed = self.permits_left.iter().filter_map(|(of, left)| self.needed(*of, *left));
        needed.map(|(_, permits)| 2 + 2 * permits).sum()
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
