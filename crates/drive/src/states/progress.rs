//! The progress of a search, and an estimate of the rest.
//!
//! The number of states is unknown before the search. But in breadth-first order, the levels of
//! most programs first grow and then shrink, much like binomial coefficients: the ratio of a level
//! to the previous one falls by about the same factor each time. Once levels shrink, the estimate
//! of the rest extrapolates this. While they grow, an estimate would be worthless, so there is
//! none.

use anyorder_common::numbers::{bytes, count};
use anyorder_search::Gauge;
use std::time::Duration;

/// The maximum number of levels to extrapolate.
const LEVELS_MAX: u32 = 100_000;

/// The progress of a search, from its gauges.
#[derive(Clone, Debug)]
pub struct SearchProgress {
    /// The number of states known at the start, expanded or not.
    first: u64,
    /// The number of these states that were not expanded.
    waited: u64,
    levels: bool,
    depth_max: Option<u32>,
    /// The last gauge.
    last: Option<Gauge>,
    /// The number of states after each of the last levels was expanded, the latest last.
    totals: Vec<u64>,
}

impl SearchProgress {
    /// Starts to follow a search, which may be a resumed one. `levels` says whether it expands
    /// level by level.
    #[must_use]
    pub fn new(start: &Gauge, levels: bool, depth_max: Option<u32>) -> SearchProgress {
        SearchProgress {
            first: start.states,
            waited: start.frontier,
            levels,
            depth_max,
            last: None,
            totals: Vec::new(),
        }
    }

    /// Updates the progress.
    pub fn note(&mut self, gauge: &Gauge) {
        if let Some(last) = self.last.replace(*gauge)
            && last.depth != gauge.depth
        {
            self.totals.push(last.states);
            if self.totals.len() > 4 {
                self.totals.remove(0);
            }
        }
    }

    /// Describes the progress of the search after this time, as a text after the number of states.
    #[must_use]
    pub fn words(&self, elapsed: Duration) -> String {
        let Some(gauge) = &self.last else { return String::new() };
        let seconds = elapsed.as_secs_f64().max(1e-3);
        let rate = (gauge.states.saturating_sub(self.first)) as f64 / seconds;
        let expanded = |states: u64, waiting: u64| states.saturating_sub(waiting);
        let done = expanded(gauge.states, gauge.frontier)
            .saturating_sub(expanded(self.first, self.waited));
        let left = match self.left(gauge) {
            Some(states) if done > 0 => about(seconds * states / done as f64),
            _ => "rest unknown".to_owned(),
        };
        let (rate, frontier) = (count(rate as u64), count(gauge.frontier));
        let (depth, bytes) = (gauge.depth, bytes(gauge.bytes));
        format!(" ({rate}/s, {frontier} waiting, depth {depth}, {bytes}, {left})")
    }

    /// Estimates the number of states still to be expanded, if levels shrink.
    fn left(&self, gauge: &Gauge) -> Option<f64> {
        let sizes: Vec<f64> =
            self.totals.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64).collect();
        let [.., a, b, c] = sizes[..] else { return None };
        let shrink = b < a && c < b;
        if !self.levels || !shrink {
            return None;
        }
        let (before, ratio) = (b / a, c / b);
        let slope = (ratio / before).min(1.0);
        // The level after the last complete one is incomplete; its known states already wait.
        let bound = self.depth_max.map_or(LEVELS_MAX, |most| most.saturating_sub(gauge.depth));
        let (mut level, mut ratio, mut rest) = (c, ratio, 0.0);
        for _ in 0..bound.min(LEVELS_MAX) {
            ratio *= slope;
            level *= ratio;
            rest += level;
            if level < 0.5 {
                break;
            }
        }
        let found = gauge.states.saturating_sub(self.totals.last().copied().unwrap_or(0)) as f64;
        Some((rest - found).max(0.0) + gauge.frontier as f64)
    }
}

/// Describes a remaining time.
fn about(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        seconds @ 0..120 => format!("about {seconds} s left"),
        seconds @ 120..7_200 => format!("about {} min left", seconds.div_ceil(60)),
        seconds => format!("about {} h left", count(seconds.div_ceil(3_600))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows a search with levels of these sizes, one gauge per level, up to the given level.
    /// Returns the estimate and the true number.
    fn guess(
        sizes: &[u64],
        upto: usize,
        levels: bool,
        depth_max: Option<u32>,
    ) -> (Option<f64>, f64) {
        let gauge = |depth: usize| Gauge {
            states: sizes[..=(depth + 1).min(sizes.len() - 1)].iter().sum(),
            transitions: 0,
            frontier: sizes.get(depth + 1).copied().unwrap_or(0),
            depth: depth as u32,
            bytes: 0,
        };
        let start = Gauge { states: 1, transitions: 0, frontier: 1, depth: 0, bytes: 0 };
        let mut progress = SearchProgress::new(&start, levels, depth_max);
        (0..=upto).for_each(|depth| progress.note(&gauge(depth)));
        let truth: u64 = sizes.iter().skip(upto + 1).sum();
        (progress.left(&gauge(upto)), truth as f64)
    }

    fn binomial(n: u64) -> Vec<u64> {
        (0..n).scan(1, |now, k| Some(std::mem::replace(now, *now * (n - k) / (k + 1)))).collect()
    }

    #[test]
    fn nothing_is_guessed_while_levels_grow() {
        let sizes = binomial(30);
        for upto in 0..16 {
            assert_eq!(guess(&sizes, upto, true, None).0, None, "{upto}");
        }
        assert_eq!(guess(&sizes, 22, false, None).0, None);
    }

    #[test]
    fn what_is_left_is_about_right_once_they_shrink() {
        for n in [20, 30, 40] {
            let sizes = binomial(n);
            for upto in (n / 2 + 3) as usize..(n - 4) as usize {
                let (guess, truth) = guess(&sizes, upto, true, None);
                let guess = guess.expect("levels shrink");
                assert!(guess < truth * 1.5 && truth < guess * 1.5, "{n} {upto}: {guess} {truth}");
            }
        }
        // Levels that shrink by a constant factor.
        let sizes: Vec<u64> = (0..20).map(|k| 1 << (20 - k)).collect();
        let (guess, truth) = guess(&sizes, 8, true, None);
        assert!((guess.expect("levels shrink") / truth - 1.0).abs() < 0.05);
    }

    #[test]
    fn a_bound_on_the_depth_ends_the_guess() {
        let (guess, truth) =
            (guess(&binomial(30), 18, true, Some(19)).0, guess(&binomial(30), 18, true, None).1);
        assert!(guess.expect("levels shrink") < truth * 0.7, "{guess:?} {truth}");
    }

    #[test]
    fn words_say_what_is_known() {
        let start = Gauge { states: 1, transitions: 0, frontier: 1, depth: 0, bytes: 0 };
        let mut progress = SearchProgress::new(&start, true, None);
        assert_eq!(progress.words(Duration::from_secs(1)), "");
        progress.note(&Gauge {
            states: 2_001,
            transitions: 0,
            frontier: 500,
            depth: 7,
            bytes: 2048,
        });
        let words = progress.words(Duration::from_secs(2));
        assert!(words.starts_with(" (1,000/s, 500 waiting, depth 7, 2"), "{words}");
        assert!(words.ends_with(", rest unknown)"), "{words}");
        assert_eq!(about(3.2), "about 4 s left");
        assert_eq!(about(600.0), "about 10 min left");
        assert_eq!(about(1e7), "about 2,778 h left");
    }
}
