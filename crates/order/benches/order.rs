//! Throughput of clocks and chains.
//!
//! `cargo bench -p anyorder-order --bench order`. Each figure is the best of a few runs on one
//! core.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use anyorder_common::random::{Random, SplitMix64};
use anyorder_order::{Chains, Clock};
use std::hint::black_box;
use std::time::{Duration, Instant};

fn best(runs: u32, mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..runs).map(time).min().unwrap_or_default()
}

fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e6
}

fn main() {
    joins();
    placing();
}

fn joins() {
    for chains in [16u32, 200, 4000] {
        let mut numbers = SplitMix64(1);
        let mut clock = || {
            let entries: Vec<u32> = (0..chains).map(|_| numbers.below(1000) as u32).collect();
            Clock::from_slice(&entries)
        };
        let (a, b) = (clock(), clock());
        let mut kept = a.clone();
        kept.join(&b);
        let rounds = 40_000_000 / (chains as usize + 16);
        let same = best(3, || (0..rounds).for_each(|_| _ = black_box(kept.join(black_box(&b)))));
        let mut scratch = a.clone();
        let grow = best(3, || {
            for _ in 0..rounds {
                scratch.copy_from(&a);
                black_box(scratch.join(black_box(&b)));
            }
        });
        let bytes = rounds * chains as usize * 4;
        println!(
            "join, {chains} chains: {:.1} GB/s nothing new, {:.1} GB/s copied and grown",
            rate(bytes, same) / 1e3,
            rate(bytes, grow) / 1e3,
        );
    }
}

fn placing() {
    for live in [1u32, 20, 200] {
        let count = 1_000_000;
        let mut tries = 0;
        let time = best(3, || {
            let mut numbers = SplitMix64(2);
            let mut chains = Chains::default();
            tries = 0;
            for element in 0..count {
                let wanted = numbers.below(live.into()) as u32;
                chains.place(0, |chain, _| {
                    tries += 1;
                    chain.0 == wanted || element < live && chain.0 > wanted
                });
            }
        });
        println!(
            "place, {live} chains at random: {:.1} M/s, {:.1} questions each",
            rate(count as usize, time),
            f64::from(tries) / f64::from(count),
        );
    }
}
