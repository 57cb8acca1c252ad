//! Adds up the statistics of several inputs.

use anyorder_finding::{Stat, Stats};

/// What is no sum over inputs, but the largest of them.
const LARGEST: [&str; 3] = ["max_depth", "frontier_peak", "bytes_per_state"];

/// Whether a list of algorithms holds one.
fn has(known: &str, word: &str) -> bool {
    known.split('+').any(|one| one == word)
}

/// Adds `more` to `sum`, name by name.
pub(crate) fn add_stats(sum: &mut Stats, more: &Stats) {
    for (name, stat) in more.iter() {
        let total = match (sum.get(name), stat) {
            (Some(Stat::Integer(a)), Stat::Integer(b)) if LARGEST.contains(&name) => {
                Stat::Integer(*a.max(b))
            }
            (Some(Stat::Integer(a)), Stat::Integer(b)) => Stat::Integer(a.saturating_add(*b)),
            (Some(Stat::Map(a)), Stat::Map(b)) => {
                let mut total = a.clone();
                for (key, number) in b.iter() {
                    let before = total.get(key).copied().unwrap_or(0);
                    total.set(key, before.saturating_add(*number));
                }
                Stat::Map(total)
            }
            (Some(Stat::List(a)), Stat::List(b)) => {
                let at = |list: &[u64], i: usize| list.get(i).copied().unwrap_or(0);
                let length = a.len().max(b.len());
                Stat::List((0..length).map(|i| at(a, i).saturating_add(at(b, i))).collect())
            }
            (Some(Stat::Text(a)), Stat::Text(b)) if name == "algorithm" && !has(a, b) => {
                Stat::Text(format!("{a}+{b}"))
            }
            (Some(Stat::Text(a)), Stat::Text(_)) if name == "algorithm" => Stat::Text(a.clone()),
            (_, stat) => stat.clone(),
        };
        sum.set(name, total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::Ordered;

    #[test]
    fn statistics_add_up() {
        let one = || -> Stats {
            let map: Ordered<u64> = [("delayed", 2u64), ("co_enabled", 1)].into_iter().collect();
            let mut stats = Stats::new();
            stats.set("events", 5u64).set("by", map).set("list", vec![1u64, 2]);
            stats
        };
        let mut sum = Stats::new();
        add_stats(&mut sum, &one());
        assert_eq!(sum, one());
        add_stats(&mut sum, &one());
        assert_eq!(sum.get("events"), Some(&Stat::Integer(10)));
        assert_eq!(sum.get("list"), Some(&Stat::List(vec![2, 4])));
        let Some(Stat::Map(map)) = sum.get("by") else { panic!("a map stays a map") };
        assert_eq!(map.get("delayed"), Some(&4));
    }
}
