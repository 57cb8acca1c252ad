//! `anyorder bug`, which is hidden: jobs that panic, never poll, or take all memory. Tests see with
//! them what the guard and the report of a panic do.

use crate::args::{BugArgs, BugKind};
use crate::failure::Failure;
use crate::guard::{Document, Kind};
use crate::output::{to_file, to_stdout};
use crate::watch::Watch;
use anyorder_drive::JobResult;
use anyorder_finding::{Finding, Input, Policy, Site, assign_ids};
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

/// A page of memory.
const PAGE: usize = 4096;

/// Misbehaves. Returns only by a panic.
pub(crate) fn run(args: &BugArgs, watch: &Watch) -> Result<ExitCode, Failure> {
    if args.kind == BugKind::Panic {
        panic!("this bug was asked for");
    }
    watch.begin(Document {
        command: "bug",
        out: args.out.clone(),
        max_findings: 20,
        policy: Policy::default(),
        kind: Kind::Search,
    });
    watch.draft().working_on(&[Input::new(Path::new("-"), "none")]);
    watch.control().publish(found(args.findings));
    match args.kind {
        BugKind::Panic | BugKind::Spin => spin(),
        BugKind::Grow => grow(),
        BugKind::Huge => drop(black_box(Vec::<u8>::with_capacity(1 << 60))),
        BugKind::Large => drop(black_box(vec![1_u8; 1 << 30])),
        BugKind::Fill => fill(black_box(vec![0_u8; 1 << 30])),
        BugKind::Hold => watch.draft().change(|_| spin()),
        BugKind::Linger => to_stdout(|out| writeln!(out, "all of it"))?,
        BugKind::Write => {
            let beside = args.out.output.clone().unwrap_or_default().with_extension("beside");
            to_file(&beside, |out| {
                out.write_all(&[b'x'; 1 << 17])?;
                spin()
            })?;
        }
    }
    spin()
}

/// Returns some findings.
fn found(number: u64) -> JobResult {
    let one = |at: u64| {
        let mut finding = Finding::new(anyorder_finding::Kind::Race);
        finding.title = format!("race number {at}");
        finding.sites = vec![Site::default(), Site::default()];
        finding
    };
    let mut findings: Vec<Finding> = (0..number).map(one).collect();
    assign_ids(&mut findings);
    let mut result = JobResult::default();
    findings.into_iter().for_each(|finding| result.push(finding, None));
    result
}

fn spin() -> ! {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

fn grow() {
    let mut pages = Vec::new();
    loop {
        pages.push(black_box(Box::new([1_u8; PAGE])));
    }
}

fn fill(mut memory: Vec<u8>) {
    memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    black_box(memory);
}
