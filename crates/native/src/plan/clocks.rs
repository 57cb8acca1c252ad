//! Clocks over a witness: what comes before an event by threads, forks, joins, and holds so far.

/// The clocks of the events of a run, in its order.
pub(super) struct Clocks {
    threads: usize,
    /// By event: for each thread, how many of its events come before or are this one.
    rows: Vec<u32>,
    /// By thread: the clock of its last event.
    last: Vec<u32>,
}

impl Clocks {
    /// Makes clocks for this many threads and events; `None` if they would be too large.
    pub(super) fn new(threads: usize, events: usize) -> Option<Clocks> {
        let size = threads.checked_mul(events).filter(|size| *size <= 1 << 26)?;
        Some(Clocks { threads, rows: Vec::with_capacity(size), last: vec![0; threads * threads] })
    }

    /// Begins the next event: its clock is that of its thread, with itself.
    pub(super) fn begin(&mut self, thread: usize) {
        let own = &mut self.last[thread * self.threads..][..self.threads];
        own[thread] += 1;
        self.rows.extend_from_slice(own);
    }

    /// Returns how many events of its thread stand before or at an event.
    pub(super) fn number(&self, (thread, at): (usize, usize)) -> u32 {
        self.rows[at * self.threads + thread]
    }

    /// Returns whether an event comes before the current one.
    pub(super) fn is_before(&self, other: (usize, usize), thread: usize) -> bool {
        self.last[thread * self.threads + other.0] >= self.number(other)
    }

    /// Lets an event, with all that is before it, come before the current one of a thread.
    pub(super) fn join(&mut self, other: usize, thread: usize) {
        let own = &mut self.last[thread * self.threads..][..self.threads];
        let row = &self.rows[other * self.threads..][..self.threads];
        own.iter_mut().zip(row).for_each(|(own, other)| *own = (*own).max(*other));
        let at = self.rows.len() - self.threads;
        self.rows[at..].copy_from_slice(own);
    }
}
