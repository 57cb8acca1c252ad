//! Temporary.
#![allow(clippy::all, missing_docs)]
use anyorder_explore::stateful::{Options, explore};
use anyorder_search::{Options as Full, search};
use anyorder_system::{Control, Limits};
use std::time::Instant;
fn main() {
    let events: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let seeds: u64 = std::env::args().nth(2).unwrap().parse().unwrap();
    for seed in 0..seeds {
        let text = anyorder_generate::smart_home(events, seed).unwrap();
        let m = anyorder_vm::Machine::new(anyorder_lang::lower::compile(&text, "m").unwrap().program).unwrap();
        let t = Instant::now();
        let f = if events <= 20 { let o = search(&m, &Full { threads: std::num::NonZeroUsize::MIN, ..Full::default() }, &Control::default()).ok(); o.map(|o| (o.stats.states, o.stats.transitions)) } else { None };
        let tf = t.elapsed();
        let t = Instant::now();
        let values = std::env::args().nth(3).is_some();
        let o = explore(&m, &Options { values, states_max: Some(300_000), ..Options::default() }, &Control::default()).unwrap();
        let tr = t.elapsed();
        println!("{events} {seed}: full {f:?} {tf:?}; ours {} {} exec {} inferred {} rounds {} fair {} {tr:?} {:?}", o.stats.states, o.stats.transitions, o.stats.executions, o.stats.inferred, o.stats.rounds, o.stats.fairness_added, o.limits);
    }
}
