//! When to begin the search anew.

/// A moving average of the last `1 / weight` values or so, without the bias of its start.
struct Average {
    value: f64,
    weight: f64,
    /// The weight of the newest value: 1, 1/2, 1/4 ... down to `weight`.
    present: f64,
    left: u64,
    period: u64,
}

impl Average {
    fn new(weight: f64) -> Average {
        Average { value: 0.0, weight, present: 1.0, left: 0, period: 0 }
    }

    fn add(&mut self, value: f64) {
        self.value += self.present * (value - self.value);
        if self.present > self.weight {
            if self.left > 0 {
                self.left -= 1;
                return;
            }
            self.period = 2 * (self.period + 1) - 1;
            self.left = self.period;
            self.present = (self.present / 2.0).max(self.weight);
        }
    }
}

/// Restarts when the clauses learned of late span more levels than those learned over a long time.
pub(super) struct Restarts {
    fast: Average,
    slow: Average,
    /// Conflicts since the last restart.
    conflicts: u64,
}

/// At least so many conflicts lie between two restarts.
const CONFLICTS_MIN: u64 = 10;
/// So much worse than usual must the recent clauses be.
const MARGIN: f64 = 1.15;

impl Restarts {
    pub(super) fn new() -> Restarts {
        Restarts { fast: Average::new(1.0 / 32.0), slow: Average::new(1.0 / 8192.0), conflicts: 0 }
    }

    /// Takes note of a learned clause.
    pub(super) fn learned(&mut self, glue: u32) {
        self.fast.add(glue.into());
        self.slow.add(glue.into());
        self.conflicts += 1;
    }

    /// Whether to restart now; the caller does so.
    pub(super) fn due(&mut self) -> bool {
        let due = self.conflicts >= CONFLICTS_MIN && self.fast.value > MARGIN * self.slow.value;
        if due {
            self.conflicts = 0;
        }
        due
    }
}
