//! Each format on one small result, after inspection by hand.

use anyorder_finding::run::Runs;
use anyorder_finding::{Finding, Kind, Outcome, Policy, Stat, option, stat};
use anyorder_report::{html, json, junit, sarif, terminal};

use crate::sample;

fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn outcome() -> Outcome {
    sample::outcome(&sample::trace())
}

fn at_terminal(outcome: &Outcome, options: &terminal::TextOptions) -> String {
    text(|out| terminal::write(outcome, &Policy::default(), &Runs::new(), options, out))
}

#[test]
fn terminal_plain() {
    let options = terminal::TextOptions { findings_max: 2, ..Default::default() };
    insta::assert_snapshot!(at_terminal(&outcome(), &options));
}

#[test]
fn terminal_in_colour() {
    let mut outcome = outcome();
    outcome.findings.truncate(1);
    let options = terminal::TextOptions { style: terminal::Style::Colour, ..Default::default() };
    insta::assert_snapshot!(at_terminal(&outcome, &options).replace('\x1b', "ESC"));
}

#[test]
fn terminal_without_findings() {
    let mut outcome = Outcome::new("check", "0.1.0");
    assert_eq!(at_terminal(&outcome, &Default::default()), "\nverdict: ok\n");
    outcome.cut_by(option::TIME_LIMIT);
    outcome.judge(&Policy::default());
    let text = at_terminal(&outcome, &Default::default());
    assert_eq!(text, "\nverdict: incomplete; the search was cut by --time-limit\n");
}

#[test]
fn ctrl_c_is_not_named_like_an_option() {
    let mut outcome = Outcome::new("check", "0.1.0");
    outcome.cut_by(option::INTERRUPT);
    outcome.judge(&Policy::default());
    let reports = |outcome: &Outcome| {
        [
            at_terminal(outcome, &terminal::TextOptions { width: 120, ..Default::default() }),
            text(|out| sarif::write(outcome, out)),
            text(|out| junit::write(outcome, &Policy::default(), out)),
            text(|out| {
                html::write(
                    outcome,
                    &Policy::default(),
                    None,
                    &Runs::new(),
                    &html::HtmlOptions::default(),
                    out,
                )
            }),
        ]
    };
    for report in reports(&outcome) {
        assert!(report.contains("interrupted"), "{report}");
        assert!(report.contains("(Ctrl-C)"), "{report}");
        assert!(!report.contains("--interrupt") && !report.contains("cut by"), "{report}");
    }
    outcome.cut_by(option::MAX_PAIRS);
    let [terminal, ..] = reports(&outcome);
    let expected = "\nverdict: incomplete; the search was interrupted (Ctrl-C); the search was cut by --max-pairs\n";
    assert_eq!(terminal, expected);
    for report in reports(&outcome) {
        assert!(report.contains("cut") && report.contains("max-pairs"), "{report}");
    }
}

#[test]
fn terminal_keeps_to_its_width() {
    for width in [40, 60, 80, 132] {
        let options = terminal::TextOptions { width, ..Default::default() };
        for line in at_terminal(&outcome(), &options).lines() {
            // Commands stay in one piece, so that users can copy them.
            let fits = line.chars().count() <= width || line.starts_with("    replay: ");
            assert!(fits, "{width}: {line}");
        }
    }
}

#[test]
fn long_chains_are_cut_in_the_middle() {
    let mut outcome = outcome();
    outcome.findings.truncate(1);
    outcome.findings[0].sites.truncate(1);
    outcome.findings[0].sites[0].chain = (1..=9).map(|n| format!("post {n}")).collect();
    let options = terminal::TextOptions { chain_max: 4, ..Default::default() };
    let text = at_terminal(&outcome, &options);
    let chain: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("<- ")).collect();
    assert_eq!(chain, ["post 1", "post 2", "… 6 posts …", "post 9"]);
}

/// Other ids of a finding are no part of a result.
fn forget_other_ids(finding: &mut Finding) {
    finding.known_as.clear();
}

#[test]
fn json_is_one_object_and_a_newline() {
    let mut outcome = outcome();
    let json = text(|out| json::write(&outcome, out));
    assert_eq!(json.matches('\n').count(), 1);
    assert!(json.starts_with("{\"schema\":1,\"tool\":\"anyorder\",") && json.ends_with("}\n"));
    outcome.findings.iter_mut().for_each(forget_other_ids);
    assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), outcome);
}

#[test]
fn json_lines_are_one_finding_each() {
    let mut outcome = outcome();
    let lines = text(|out| json::write_lines(&outcome.findings, out));
    let back: Vec<Finding> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    outcome.findings.iter_mut().for_each(forget_other_ids);
    assert_eq!(back, outcome.findings);
}

#[test]
fn sarif_log() {
    let mut outcome = outcome();
    outcome.findings.swap(1, 4);
    outcome.findings.truncate(2);
    outcome.cut_by(option::TIME_LIMIT);
    let log = text(|out| sarif::write(&outcome, out));
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&log).unwrap());
}

#[test]
fn sarif_points_at_its_rules() {
    let log = text(|out| sarif::write(&outcome(), out));
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 5);
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        assert_eq!(result["locations"].as_array().unwrap().len(), 1);
        assert_eq!(result["relatedLocations"].as_array().unwrap().len(), 1);
        assert!(result["locations"][0]["physicalLocation"].is_object());
        assert_eq!(result["codeFlows"][0]["threadFlows"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn junit_suite() {
    let mut outcome = outcome();
    outcome.findings.remove(1);
    outcome.cut_by(option::TIME_LIMIT);
    let suite = text(|out| junit::write(&outcome, &Policy::default(), out));
    insta::assert_snapshot!(suite);
    let document = roxmltree::Document::parse(&suite).unwrap();
    let number = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
    let suite = document.root_element();
    for (name, attribute) in [
        ("testcase", "tests"),
        ("failure", "failures"),
        ("error", "errors"),
        ("skipped", "skipped"),
    ] {
        assert_eq!(suite.attribute(attribute), Some(number(name).to_string().as_str()), "{name}");
    }
    assert_eq!((number("failure"), number("error"), number("skipped")), (2, 1, 1));
}

#[test]
fn html_page() {
    let sample = sample::trace();
    let mut outcome = sample::outcome(&sample);
    outcome.findings.truncate(1);
    let options = html::HtmlOptions::default();
    let policy = Policy::default();
    let page = text(|out| {
        html::write(&outcome, &policy, Some(&sample.trace), &Runs::new(), &options, out)
    });
    let page = page.replace("><", ">\n<");
    insta::assert_snapshot!(without_ours(&page));
}

/// Removes our own style sheet, scripts and hashes from a page, and keeps the rest.
fn without_ours(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    for (begin, end) in [
        ("style-src", "; base-uri"),
        ("<style>", "</style>"),
        ("<script>", "</script>"),
        ("<script>", "</script>"),
        ("<script>", "</script>"),
    ] {
        let (before, after) = rest.split_once(begin).unwrap();
        let (_, after) = after.split_once(end).unwrap();
        out.push_str(before);
        out.push_str(&format!("{begin}…{end}"));
        rest = after;
    }
    out + rest
}

#[test]
fn html_without_a_trace_or_findings() {
    let outcome = Outcome::new("check", "0.1.0");
    let options = html::HtmlOptions::default();
    let page =
        text(|out| html::write(&outcome, &Policy::default(), None, &Runs::new(), &options, out));
    assert!(page.contains("Nothing was found."));
    assert!(!page.contains("<canvas"));
}

#[test]
fn html_counts_threads_where_there_are_no_tasks() {
    let mut outcome = Outcome::new("check", "0.1.0");
    for (name, number) in [("events", 10_u64), ("tasks", 0), ("handlers", 0), ("threads", 2)] {
        outcome.stats.keep(name, Stat::from(number));
    }
    let options = html::HtmlOptions::default();
    let page =
        text(|out| html::write(&outcome, &Policy::default(), None, &Runs::new(), &options, out));
    assert!(page.contains(">2</span><span class=\"what\">threads<"), "{page}");
    assert!(!page.contains("\"what\">tasks<") && !page.contains("\"what\">handlers<"));
    outcome.stats.set(stat::TASKS, 1_u64);
    let page =
        text(|out| html::write(&outcome, &Policy::default(), None, &Runs::new(), &options, out));
    assert!(page.contains(">1</span><span class=\"what\">task<"), "{page}");
}

#[test]
fn html_states_its_omissions() {
    let sample = sample::trace();
    let outcome = sample::outcome(&sample);
    let budget = html::Budget { tasks_max: 8, lanes_max: 2, buckets: 16 };
    let options = html::HtmlOptions { findings_max: 2, pairs_max: 3, budget };
    let policy = Policy::default();
    let page = text(|out| {
        html::write(&outcome, &policy, Some(&sample.trace), &Runs::new(), &options, out)
    });
    assert_eq!(page.matches("<details class=\"finding").count(), 2);
    assert!(page.contains("<b>3 more</b> findings are not on this page"));
    assert!(page.contains("8 of 32 tasks (thread code included) have a box"));
    assert!(page.contains("2 of 3 handlers are shown"));
    assert!(page.contains("… and 12 more"));
}

#[test]
fn the_report_is_one_file_and_replaces_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/folder");
    let sample = sample::trace();
    let outcome = sample::outcome(&sample);
    let (policy, options) = (Policy::default(), html::HtmlOptions::default());
    for trace in [None, Some(&sample.trace)] {
        let page =
            html::write_report(&path, &outcome, &policy, trace, &Runs::new(), &options).unwrap();
        assert_eq!(page, path.join("index.html"));
        let names: Vec<_> =
            std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["index.html"]);
        let text = std::fs::read_to_string(page).unwrap();
        assert_eq!(text.contains("<canvas"), trace.is_some());
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(html::write_report(&file, &outcome, &policy, None, &Runs::new(), &options).is_err());
}

#[test]
fn reports_are_the_same_for_the_same_result() {
    let run = || {
        let sample = sample::trace();
        let outcome = sample::outcome(&sample);
        let (policy, options) = (Policy::default(), html::HtmlOptions::default());
        let page = text(|out| {
            html::write(&outcome, &policy, Some(&sample.trace), &Runs::new(), &options, out)
        });
        (text(|out| sarif::write(&outcome, out)), page)
    };
    assert_eq!(run(), run());
}

#[test]
fn explanations_of_other_kinds_are_shown() {
    let mut outcome = Outcome::new("check", "0.1.0");
    let finding =
        Finding { title: "a | b".into(), id: "0".repeat(16), ..Finding::new(Kind::Deadlock) };
    outcome.findings.push(finding);
    let text = at_terminal(&outcome, &Default::default());
    assert!(text.contains(" 1. warning: a | b\n    deadlock\n    id 0000000000000000\n"), "{text}");
}
