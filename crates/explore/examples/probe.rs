//! Temporary.
#![allow(clippy::all, missing_docs)]
use anyorder_explore::stateful::{Options, explore};
use anyorder_search::{Options as Full, search};
use anyorder_system::Control;
use std::time::Instant;
fn median(mut f: impl FnMut()) -> f64 {
    let mut times = Vec::new();
    let begin = Instant::now();
    while times.len() < 3 || (begin.elapsed().as_millis() < 400 && times.len() < std::env::var("REPS").ok().and_then(|r| r.parse().ok()).unwrap_or(100)) {
        let t = Instant::now();
        f();
        times.push(t.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    if std::env::var("BEST").is_ok() { times[0] } else { times[times.len() / 2] }
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let env = |name: &str| std::env::var(name).is_ok();
    let options = Options {
        values: true,
        infer: !env("NOINFER"),
        updates: !env("NOUPD"),
        states_max: Some(1_000_000),
        ..Options::default()
    };
    let mut models: Vec<(String, String)> = Vec::new();
    let mut homes = false;
    if args[0].parse::<u64>().is_ok() {
        homes = true;
        let n: Vec<u64> = args.iter().map(|a| a.parse().unwrap()).collect();
        for events in n[0]..=n[1] {
            for seed in n[2]..n[3] {
                models.push((format!("home-{events}-{seed}"), anyorder_generate::smart_home(events, seed).unwrap()));
            }
        }
    } else {
        for file in &args {
            models.push((file.rsplit('/').next().unwrap().to_owned(), std::fs::read_to_string(file).unwrap()));
        }
    }
    let _ = homes;
    let (mut logs, mut full_sum, mut our_sum, mut worst, mut count) = (0.0, 0.0, 0.0, (0.0, String::new()), 0);
    for (name, text) in models {
        let Ok(c) = anyorder_lang::lower::compile(&text, "m") else { println!("{name}: does not compile"); continue };
        let Ok(m) = anyorder_vm::Machine::new(c.program) else { println!("{name}: no machine"); continue };
        let mut fs = None;
        let full_options = Full { threads: std::num::NonZeroUsize::MIN, states_max: Some(1_000_000), ..Full::default() };
        let tf = if env("NOFULL") { 1.0 } else { median(|| { fs = search(&m, &full_options, &Control::default()).ok().map(|o| (o.stats.states, o.stats.transitions, o.complete)) }) };
        let mut os = None;
        let tr = median(|| { os = explore(&m, &options, &Control::default()).ok() });
        let Some(o) = os else { println!("{name}: error"); continue };
        let ratio = tr / tf;
        logs += ratio.ln();
        full_sum += tf;
        our_sum += tr;
        count += 1;
        if ratio > worst.0 { worst = (ratio, name.clone()); }
        println!("{name:<28} full {fs:?} {tf:>9.1} us; ours {:?} ratio {ratio:.2} {tr:>9.1} us; {} {} exec {} inferred {} rounds {} fair {} again {} {:?}", o.stats.gave_up_reducing, o.stats.states, o.stats.transitions, o.stats.executions, o.stats.inferred, o.stats.rounds, o.stats.fairness_added, o.stats.re_expansions, o.limits);
    }
    println!("{count}: geometric mean {:.3}, sums {:.1} ms of {:.1} ms = {:.3}, worst {worst:?}", (logs / count as f64).exp(), our_sum / 1e3, full_sum / 1e3, our_sum / full_sum);
}
