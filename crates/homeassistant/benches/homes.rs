//! Checks whole homes: real ones, and generated ones that grow.
//!
//! `cargo bench -p anyorder-homeassistant --bench homes` generates homes of 10 to 100 automations
//! over 40 devices, and searches each with and without the reduction. With directories as arguments
//! it checks the configurations in them. `--seconds N` is the time for each (60), `--list` prints
//! the findings, `--constructs` what was not understood. Prints rows of a table.
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use anyorder_homeassistant::analyse::{Checked, Options, Understanding, check};
use anyorder_homeassistant::config::load;
use anyorder_homeassistant::place::Severity;
use anyorder_homeassistant::syntax::Home;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() {
    let mut seconds = 60;
    let (mut paths, mut list, mut constructs) = (Vec::new(), false, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => {
                seconds = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(seconds);
            }
            "--list" => list = true,
            "--constructs" => constructs = true,
            word if word.starts_with("--") => {}
            path => paths.push(path.to_owned()),
        }
    }
    if paths.is_empty() {
        return growth(seconds);
    }
    println!(
        "| home | automations | whole | in part | not | searches | cut | left | states | s | findings |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for path in paths {
        let home = match load(path.as_ref()) {
            Ok(config) => Home::new(config),
            Err(error) => {
                println!("| {path} | {error} |");
                continue;
            }
        };
        let (checked, took) = timed(&home, &Options::default(), seconds);
        let of = |level| checked.understood.get(&level).copied().unwrap_or(0);
        let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
        for finding in &checked.findings {
            *kinds.entry(format!("{:?}", finding.kind)).or_default() += 1;
        }
        println!(
            "| {path} | {} | {} | {} | {} | {} | {} | {} | {} | {took:.1} | {kinds:?} |",
            home.automations.iter().filter(|a| !a.is_script()).count(),
            of(Understanding::Whole),
            of(Understanding::Part),
            of(Understanding::Nothing),
            checked.pairs,
            checked.cut,
            checked.left,
            checked.states
        );
        if constructs {
            print_constructs(&checked);
        }
        if list {
            print_findings(&home, &checked);
        }
    }
}

fn timed(home: &Home, options: &Options, seconds: u64) -> (Checked, f64) {
    let start = Instant::now();
    let end = start + Duration::from_secs(seconds);
    let checked = check(home, options, &|| Instant::now() > end);
    (checked, start.elapsed().as_secs_f64())
}

fn print_constructs(checked: &Checked) {
    let mut counts: BTreeMap<(Severity, &str), u64> = BTreeMap::new();
    for problem in &checked.problems {
        *counts.entry((problem.severity, &problem.construct)).or_default() += 1;
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for ((severity, construct), count) in sorted {
        println!("  {count:5} {severity:?} {construct}");
    }
}

fn print_findings(home: &Home, checked: &Checked) {
    for finding in &checked.findings {
        println!("  - {:?} {} assumed: {}", finding.kind, finding.entity, finding.assumed);
        for writer in &finding.writers {
            let file = home.files.get(usize::from(writer.place.file)).map_or("", String::as_str);
            let (name, value, line) = (&writer.name, &writer.value, writer.place.line);
            println!("      {name}: {value} at {file}:{line}");
        }
        println!("      start: {:?}", finding.start);
        for step in &finding.steps {
            println!("      > {} given {:?} guessed {:?}", step.event, step.given, step.guessed);
            for (who, place, key, value) in &step.changes {
                let who = who.as_deref().unwrap_or("?");
                println!("          {who} sets {key} to {value} ({})", place.line);
            }
        }
    }
}

/// Homes of more and more automations over 40 devices.
fn growth(seconds: u64) {
    println!("| automations | searches | states | cut | left | s | findings |  peak MB |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for count in [10, 20, 40, 70, 100] {
        for reduced in [true, false] {
            let folder = std::env::temp_dir().join(format!("anyorder-home-{count}"));
            let home = generated(&folder, count);
            let options = Options { reduced, ..Options::default() };
            let (checked, took) = timed(&home, &options, seconds);
            println!(
                "| {count}{} | {} | {} | {} | {} | {took:.1} | {} | {} |",
                if reduced { "" } else { ", nothing left out" },
                checked.pairs,
                checked.states,
                checked.cut,
                checked.left,
                checked.findings.len(),
                peak_mb()
            );
        }
    }
}

fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let kb: u64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    kb / 1024
}

/// A home of motion lights, timers, modes and notifications over 40 devices. Each automation asks
/// for one or two of 12 sensors and switches, and a third of what it does changes nothing.
fn generated(folder: &Path, count: u64) -> Home {
    let mut random = 0x2545_F491_4F6C_DD1D ^ count;
    let mut below = |most: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % most
    };
    let mut text = String::new();
    for number in 0..count {
        let sensor = below(12);
        let light = below(20);
        let switch = below(8);
        let to = ["on", "off"][below(2) as usize];
        let mode = ["single", "restart", "queued", "parallel"][below(4) as usize];
        let _ = writeln!(text, "- alias: automation {number}\n  mode: {mode}\n  triggers:");
        let _ = writeln!(
            text,
            "    - {{trigger: state, entity_id: binary_sensor.s{sensor}, to: \"{to}\"}}"
        );
        if below(4) == 0 {
            let hour = below(6) + 17;
            let _ = writeln!(text, "    - {{trigger: time, at: \"{hour}:00:00\"}}");
        }
        text += "  conditions:\n";
        for _ in 0..=below(2) {
            let asked = below(8);
            let _ = writeln!(
                text,
                "    - {{condition: state, entity_id: input_boolean.b{asked}, state: \"on\"}}"
            );
        }
        text += "  actions:\n";
        let call = |text: &mut String, what: &str, entity: &str| {
            let _ = writeln!(text, "    - {{action: {what}, target: {{entity_id: {entity}}}}}");
        };
        let light = format!("light.l{light}");
        call(&mut text, &format!("light.turn_{to}"), &light);
        if below(2) == 0 {
            let _ = writeln!(
                text,
                "    - if: [{{condition: state, entity_id: binary_sensor.s{}, state: \"on\"}}]\n      \
                 then: [{{action: notify.phone, data: {{message: hello}}}}]",
                below(12)
            );
        }
        if below(3) == 0 {
            let minutes = below(9) + 1;
            let _ = writeln!(text, "    - delay: \"00:0{minutes}:00\"");
            call(&mut text, "light.turn_off", &light);
        }
        if below(3) == 0 {
            call(&mut text, &format!("switch.turn_{to}"), &format!("switch.w{switch}"));
        }
    }
    let _ = std::fs::create_dir_all(folder);
    let path = folder.join("automations.yaml");
    let _ = std::fs::write(&path, text);
    load(&path).map(Home::new).unwrap_or_default()
}
