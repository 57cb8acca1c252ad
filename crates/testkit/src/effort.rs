//! How much the random tests of all crates try, and from which seeds.
//!
//! Each says how much it tries with effort 1. `ANYORDER_EFFORT=N` makes it try `N` times as much;
//! the nightly script uses 4. Without the variable, as on a push, it is half as much.
//! `ANYORDER_SEED=N` adds seeds that no other `N` has; `test.sh` takes one from the day of the
//! commit. Without it each run tries the same.
//!
//! Tests also measure what their random instances had: a rule that never fired fails them. So the
//! seeds of a push are the same in every run, and what they have does not change. An eighth as many
//! fresh ones come on top, and with more effort all that is added is fresh.

use std::iter::Chain;
use std::ops::Range;

/// The distance of two values of `ANYORDER_SEED`: more than any test tries.
const STRIDE: u64 = 100_000_000;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse().unwrap_or_else(|_| panic!("{variable}={text}: expected a number"));
    Some(number)
}

/// Returns the effort that is asked for; `None` on a push.
fn asked() -> Option<u64> {
    Some(number("ANYORDER_EFFORT")?.max(1))
}

/// Returns how many times as much as with effort 1 is tried, at least 1.
#[must_use]
pub fn effort() -> u64 {
    asked().unwrap_or(1)
}

/// Returns a number of cases, given that with effort 1.
#[must_use]
pub fn cases(number: u64) -> u64 {
    times(number, asked())
}

fn times(number: u64, asked: Option<u64>) -> u64 {
    asked.map_or(number.div_ceil(2), |effort| number * effort)
}

/// Returns whether a test that puts faults to an oracle goes on with a fault that it has noticed.
/// On a push it does not: the same faults are noticed in the same instances, and more of them tell
/// nothing new. At night it counts how often each is.
#[must_use]
pub fn counts_all() -> bool {
    effort() > 1
}

/// The seeds of a random test: those of every run, then those of this one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seeds {
    /// The seeds of every run.
    pub known: Range<u64>,
    /// The seeds that `ANYORDER_SEED` adds.
    pub fresh: Range<u64>,
}

impl Seeds {
    /// Returns the number of seeds.
    #[must_use]
    pub fn count(&self) -> u64 {
        (self.known.end - self.known.start) + (self.fresh.end - self.fresh.start)
    }

    /// Returns the seeds for one of several workers.
    pub fn part(&self, worker: usize, workers: usize) -> impl Iterator<Item = u64> + use<> {
        self.clone().into_iter().skip(worker).step_by(workers)
    }

    fn of(usual: u64, asked: Option<u64>, number: Option<u64>) -> Seeds {
        let all = times(usual, asked);
        let Some(number) = number else {
            return Seeds { known: 1..1 + all, fresh: 0..0 };
        };
        let known = all.min(usual);
        let fresh = if all > usual { all - usual } else { known / 8 };
        let first = number * STRIDE;
        Seeds { known: 1..1 + known, fresh: first..first + fresh }
    }
}

impl IntoIterator for Seeds {
    type Item = u64;
    type IntoIter = Chain<Range<u64>, Range<u64>>;

    fn into_iter(self) -> Self::IntoIter {
        self.known.chain(self.fresh)
    }
}

/// Returns the seeds of a random test, given how many it tries with effort 1.
#[must_use]
pub fn seeds(usual: u64) -> Seeds {
    Seeds::of(usual, asked(), number("ANYORDER_SEED").filter(|number| *number > 0))
}

/// Returns the seeds of a random test whose cases take long: the night tries `whole` times its
/// effort.
#[must_use]
pub fn sampled(usual: u64, whole: u64) -> Seeds {
    seeds(if effort() > 1 { whole } else { usual })
}

/// Returns whether a costly item of a list is due, of which a push tries one in `parts`: others for
/// another `ANYORDER_SEED`. At night all are due.
#[must_use]
pub fn is_due(index: usize, parts: usize) -> bool {
    let turn = number("ANYORDER_SEED").unwrap_or(0) as usize;
    effort() > 1 || index % parts == turn % parts
}

/// Returns the first seed of a test that measures nothing: 1 without `ANYORDER_SEED`.
#[must_use]
pub fn first_seed() -> u64 {
    1 + number("ANYORDER_SEED").unwrap_or(0) * STRIDE
}

#[cfg(test)]
mod tests {
    use super::Seeds;

    #[test]
    fn what_is_added_is_fresh() {
        let known = |of: std::ops::Range<u64>| Seeds { known: of, fresh: 0..0 };
        assert_eq!(Seeds::of(16, None, None), known(1..9));
        assert_eq!(Seeds::of(8, Some(1), None), known(1..9));
        assert_eq!(Seeds::of(8, Some(2), None), known(1..17));
        let seeds = Seeds::of(8, Some(3), Some(3));
        assert_eq!(seeds, Seeds { known: 1..9, fresh: 300_000_000..300_000_016 });
        let seeds = Seeds::of(16, None, Some(3));
        assert_eq!(seeds, Seeds { known: 1..9, fresh: 300_000_000..300_000_001 });
        assert_eq!(seeds.count(), 9);
        let parts: Vec<u64> = (0..2).flat_map(|worker| seeds.part(worker, 2)).collect();
        assert_eq!(parts, [1, 3, 5, 7, 300_000_000, 2, 4, 6, 8]);
    }
}
