//! All candidates of the recorded runs beside the checkout, where they are there.

use anyorder_predict::{
    Analysis, Answer, Conditions, ConfirmOptions, Confirmer, EdcAnalysis, NoCommunication, Options, run,
};
use anyorder_system::Cancel;
use anyorder_trace::format::std::StdReader;
use anyorder_trace::{EventId, Trace, TraceBlocks};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

fn native(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/native").join(name)
}

#[test]
fn candidates_of_recorded_runs() {
    for name in ["pbzip2/trace.std", "memcached/trace.std"] {
        let Ok(file) = File::open(native(name)) else {
            println!("skipped: {name} is not there");
            continue;
        };
        let mut source = StdReader::new(BufReader::new(file));
        let trace = Trace::read(&mut source).expect("the trace is right");
        let mut edc = EdcAnalysis::new(Conditions, Options::default());
        run(&mut TraceBlocks::new(&trace), &mut [&mut edc], |_| {}).expect("the trace is right");
        let report = edc.finish();
        let mut groups: BTreeMap<(u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
        for v in &report.violations {
            let group = groups.entry((v.first.site.0, v.second.site.0)).or_default();
            group.push((v.first.event as u32, v.second.event as u32));
        }
        let start = std::time::Instant::now();
        let mut nothing = NoCommunication;
        let mut confirmer = Confirmer::new(&trace, &mut nothing, ConfirmOptions::default());
        println!("{name}: {} pairs, {} groups, prepared in {:?}", report.violations.len(), groups.len(), start.elapsed());
        let mut answers: BTreeMap<String, usize> = BTreeMap::new();
        let mut lens = Vec::new();
        let most = std::env::var("PAIRS").map_or(10, |s| s.parse().unwrap());
        for (group, pairs) in &groups {
            for (a, b) in pairs.iter().take(most) {
                let before = confirmer.stats();
                let now = std::time::Instant::now();
                let answer = confirmer.confirm(EventId(*a), EventId(*b), &Cancel::new());
                let after = confirmer.stats();
                if now.elapsed().as_millis() > 200 {
                    println!("{group:?} {a} {b} {:?} {:?} {:?}", now.elapsed(), before, after);
                }
                let text = match answer {
                    Answer::Confirmed(w) => {lens.push(w.order.len()); format!("{:?} {} {}", w.form, w.shortest, if w.prefix > 0 {"prefix"} else {""})},
                    other => format!("{other:?}"),
                };
                *answers.entry(text).or_default() += 1;
            }
        }
        lens.sort();
        println!("lens {lens:?}");
        println!("{answers:#?} {:?} in {:?}", confirmer.stats(), start.elapsed());
    }
}

#[test]
fn races_of_recorded_applications() {
    for name in ["RemindMe", "twitter"] {
        let path = native("../droidracer").join(name).join("trace.txt");
        let Ok(file) = File::open(path) else {
            println!("skipped: {name} is not there");
            continue;
        };
        let input = Box::new(BufReader::new(file));
        let mut source = anyorder_trace::open::open(
            anyorder_trace::detect::Format::DroidRacer,
            input,
            &anyorder_trace::open::OpenOptions::default(),
        )
        .expect("it opens");
        let trace = Trace::read(&mut *source).expect("the trace is right");
        let cancel = Cancel::new();
        let races = anyorder_hb::races(
            &trace,
            anyorder_hb::RuleSet::Android,
            anyorder_hb::CoverageLevel::Task,
            &cancel,
        )
        .expect("not cancelled");
        let all: Vec<EventId> = (0..trace.len() as u32).map(EventId).collect();
        println!(
            "{name}: {} events, {} races, its own schedule {:?}",
            trace.len(), races.len(), anyorder_certify::check_schedule(&trace, &all)
        );
        let start = std::time::Instant::now();
        let mut nothing = NoCommunication;
        let options = ConfirmOptions { reorders: anyorder_predict::Reorders::Tasks, ..Default::default() };
        let mut confirmer = Confirmer::new(&trace, &mut nothing, options);
        println!("prepared in {:?}", start.elapsed());
        let mut answers: BTreeMap<String, usize> = BTreeMap::new();
        let most = std::env::var("PAIRS").map_or(200, |s| s.parse().unwrap());
        let mut lens = Vec::new();
        let step = (races.len() / most).max(1);
        for race in races.iter().step_by(step) {
            let now = std::time::Instant::now();
            let before = confirmer.stats();
            let answer = confirmer.confirm(race.first, race.second, &cancel);
            let after = confirmer.stats();
            if now.elapsed().as_millis() > 300 {
                println!("{} {} {:?} {:?} {:?}", race.first.0, race.second.0, now.elapsed(), before, after);
            }
            let text = match answer {
                Answer::Confirmed(w) => {
                    lens.push(w.order.len());
                    let whole: Vec<EventId> =
                        (0..w.prefix).map(EventId).chain(w.order.iter().copied()).collect();
                    let ok = anyorder_certify::check_schedule(&trace, &whole);
                    format!("{} {} {} {}", w.form.word(), w.shortest, w.prefix > 0, ok.is_ok())
                }
                other => format!("{other:?}"),
            };
            *answers.entry(text).or_default() += 1;
        }
        lens.sort_unstable();
        println!("{lens:?}");
        println!("{answers:#?} {:?} in {:?}", confirmer.stats(), start.elapsed());
    }
}
