//! The recorded runs of `data`.

use anyorder_formats::std::StdReader;
use anyorder_predict::{
    Analysis, CandidateOptions, Conditions, EdcAnalysis, HbAnalysis, MemoryOnly, Object,
    ViolationKind, run,
};
use anyorder_trace::TraceSource;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

fn native(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/native").join(name)
}

#[test]
fn recorded_runs_are_analysed_to_their_ends() {
    for name in ["pbzip2/trace.std", "memcached/trace.std"] {
        let file = File::open(native(name)).expect("the trace is there");
        let mut source = StdReader::new(BufReader::new(file));
        let options = CandidateOptions::default();
        let mut hb = HbAnalysis::new(MemoryOnly, options);
        let mut edc = EdcAnalysis::new(Conditions, options);
        let analyses: &mut [&mut dyn Analysis] = &mut [&mut hb, &mut edc];
        let events = run(&mut source, analyses, |_| {}).expect("the trace is right");
        let (hb, edc) = (hb.finish(), edc.finish());
        println!("{name}: {events} events\nhb {:?}\nedc {:?}", hb.counts, edc.counts);
        assert_eq!(hb.counts.events, events);
        assert!(edc.counts.racy_seconds >= hb.counts.racy_seconds, "EDC orders less than HB");
        let kinds = |kind| -> BTreeSet<(String, String)> {
            let tables = source.tables();
            let site = |side: anyorder_predict::Side| tables.site_text(side.site);
            let of = edc.violations.iter().filter(|v| v.kind == kind);
            of.map(|v| (site(v.first), site(v.second))).collect()
        };
        let (racy, other) = (kinds(ViolationKind::Racy), kinds(ViolationKind::NonRacy));
        println!("pairs of sites: {} racy, {} non-racy", racy.len(), other.len());
        for pair in racy.iter().take(8).chain(other.iter().take(4)) {
            println!("  {pair:?}");
        }
        assert!(edc.violations.iter().all(|v| v.first.event < v.second.event));
        let objects: BTreeSet<Object> = edc.violations.iter().map(|v| v.object).collect();
        assert!(!objects.is_empty(), "both runs have known races");
    }
}
