//! Names that try to escape from every report.

use anyorder_finding::run::Runs;
use anyorder_finding::{
    CheckedHome, ExplanationStep, Finding, Input, Kind, OptionValue, Outcome, Policy, Related,
    RelatedKind, Site, SourceLines, Stat, Suppressed, Usage, Warning, WarningKind, Witness,
    WitnessPlace, option,
};
use anyorder_report::{html, json, junit, sarif, terminal};
use anyorder_trace::{Mailbox, Trace, TraceBuilder};

/// Everything at once: markup, ends of scripts and sections, terminal escapes, NUL, C1 controls,
/// reordering, invisible characters, line ends, attribute ends, links.
const HOSTILE: &str = "<script>alert(1)</script>]]>--><img src=x onerror=alert(1)>\x1b[2J\x1b]0;t\x07\0\u{9b}31m\u{202e}\u{200b}\u{2028}\r\n\"'`&amp;[x](javascript:alert(1))../../etc";

/// Parts that must never appear unchanged.
const RAW: [&str; 10] = [
    "<script>alert",
    "<img src",
    "]]>",
    "-->",
    "\x1b",
    "\x07",
    "\0",
    "\u{9b}",
    "\u{202e}",
    "\u{200b}",
];

fn trace() -> Trace {
    let mut b = TraceBuilder::new();
    let handler = b.handler(HOSTILE, Mailbox::Fifo).unwrap();
    let task = b.task(HOSTILE, handler).unwrap();
    b.post(b.initial(handler), task).unwrap();
    b.get(task).unwrap();
    b.write(task, HOSTILE).unwrap();
    b.end(task).unwrap();
    b.finish()
}

/// Puts the text into every field.
fn outcome() -> Outcome {
    let text = || HOSTILE.to_owned();
    let site = Site {
        file: Some(text()),
        line: Some(0),
        column: Some(0),
        function: Some(text()),
        allocated: Some(text()),
        label: Some(text()),
        event: Some("3".into()),
        task: Some(text()),
        handler: Some(text()),
        thread: Some(text()),
        location: Some(text()),
        access: Some(text()),
        chain: vec![text()],
        locks: vec![text()],
        stack: vec![text(), text()].into(),
        source: Some(SourceLines { first: 0, lines: vec![text(), text()], newer: true }),
        frames: Vec::new(),
    };
    let nameless = Site { event: Some(text()), file: None, ..site.clone() };
    let mut outcome = Outcome::new(text(), text());
    outcome.tool = text();
    outcome.inputs.push(Input { path: text(), format: text(), file: Some(text()) });
    outcome.options.set(option::RULES, text());
    outcome.options.keep(&text(), OptionValue::from(vec![text()]));
    outcome.warnings.push(Warning {
        kind: WarningKind::Ignored,
        input: Some(text()),
        text: text(),
        count: 2,
        places: vec![text()],
    });
    outcome.usages.push(Usage {
        automation: text(),
        attribute: text(),
        writes: vec![text()],
        reads: true,
        hears: true,
    });
    let other =
        Usage { automation: "other".into(), attribute: "x".into(), ..outcome.usages[0].clone() };
    outcome.usages.push(other);
    let automations = vec![text(), "other".into()];
    outcome.homes.push(CheckedHome { automations, complete: false, limits: vec![text()] });
    outcome.limits.push(HOSTILE.to_owned());
    outcome.complete = false;
    outcome.stats.keep(&text(), Stat::from(1_u64));
    let (kind, of) = (RelatedKind::Memory, vec![1]);
    let related = Related { kind, text: text(), of, site: site.clone() };
    let finding = Finding {
        id: text(),
        category: Some(text()),
        harm: anyorder_finding::Harm::Harmful,
        harm_class: Some(text()),
        title: text(),
        input: Some(text()),
        group: Some(text()),
        sites: vec![site.clone(), nameless, site],
        related: vec![related],
        pairs: vec![[text(), text()], [text(), text()]],
        pairs_total: 9,
        explanation: vec![ExplanationStep {
            text: text(),
            rule: Some(text()),
            events: vec![text()],
        }],
        witness: Some(Witness { format: text(), place: WitnessPlace::Path(text()) }),
        replay: Some(text()),
        filters: vec![text()],
        ..Finding::new(Kind::Race)
    };
    let mark = Suppressed { reason: Some(text()), line: Some(1), file: Some(text()) };
    let suppressed = Finding { suppressed: Some(mark), baseline: true, ..finding.clone() };
    outcome.findings = vec![finding, suppressed];
    outcome
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Asserts that a report contains none of the parts.
fn assert_harmless(report: &str, parts: &[&str]) {
    for part in parts {
        if let Some(at) = report.find(part) {
            let from = report[..at].char_indices().rev().nth(60).map_or(0, |(from, _)| from);
            panic!("{part:?} in the report, behind {:?}", &report[from..at]);
        }
    }
    let controls = |c: char| c.is_control() && c != '\n';
    assert!(!report.contains(controls), "control characters in the report");
}

#[test]
fn terminal() {
    let options = terminal::TextOptions::default();
    let report =
        text(|out| terminal::write(&outcome(), &Policy::default(), &Runs::new(), &options, out));
    assert_harmless(&report, &RAW[4..]);
    assert!(report.contains(r"\u{1b}[2J"));
    assert!(!report.lines().any(|line| line.starts_with('"')), "a name broke the line");
}

#[test]
fn json_and_json_lines() {
    let outcome = outcome();
    let report = text(|out| json::write(&outcome, out));
    assert_harmless(&report, &RAW[4..]);
    assert_eq!(report.matches('\n').count(), 1);
    assert_eq!(serde_json::from_str::<Outcome>(&report).unwrap(), outcome, "the data is kept");
    let lines = text(|out| json::write_lines(&outcome.findings, out));
    assert_harmless(&lines, &RAW[4..]);
    assert_eq!(lines.matches('\n').count(), 2);
}

#[test]
fn sarif() {
    let report = text(|out| sarif::write(&outcome(), out));
    assert_harmless(&report, &RAW[4..]);
    let log: serde_json::Value = serde_json::from_str(&report).unwrap();
    let result = &log["runs"][0]["results"][0];
    let message = result["message"]["text"].as_str().unwrap();
    assert!(message.contains(r"\[x\](javascript:alert(1))"), "{message}");
    let uri =
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.starts_with("%3Cscript%3E"), "{uri}");
    assert!(
        result["locations"][0]["physicalLocation"].get("region").is_none(),
        "line 0 is no line"
    );
    assert_eq!(log["runs"][0]["results"][1]["suppressions"].as_array().unwrap().len(), 2);
}

#[test]
fn junit() {
    let report = text(|out| junit::write(&outcome(), &Policy::default(), out));
    assert_harmless(&report, &RAW);
    let document = roxmltree::Document::parse(&report).unwrap();
    let names: Vec<&str> = document.descendants().map(|node| node.tag_name().name()).collect();
    assert!(!names.contains(&"script") && !names.contains(&"img"), "{names:?}");
    // The search, the ignored input, and two findings.
    assert_eq!(names.iter().filter(|name| **name == "testcase").count(), 4);
}

#[test]
fn html() {
    let (trace, outcome) = (trace(), outcome());
    let options = html::HtmlOptions::default();
    let page = text(|out| {
        html::write(&outcome, &Policy::default(), Some(&trace), &Runs::new(), &options, out)
    });
    assert_harmless(&page, &RAW);
    for part in ["onerror=alert(1)>", "\"'`", "&amp;amp;[x]\""] {
        assert!(!page.contains(part), "{part}");
    }
    // The page has only the style sheet, three scripts and the data.
    assert_eq!(page.matches("<script").count(), 4);
    assert_eq!(page.matches("</script").count(), 4);
    assert_eq!(page.matches("<style").count(), 1);
    for forbidden in [" src=", " href=", " style=", " onclick", " onload", "javascript:alert(1)\""]
    {
        let ours = page.split("<script").next().unwrap();
        let outside = ours.replace("&lt;img src=x", "");
        assert!(!outside.contains(forbidden), "{forbidden}");
    }
    let (_, data) = page.split_once("id=\"timeline-data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let name = data["lanes"][0]["name"].as_str().unwrap();
    assert!(name.starts_with("<script>alert(1)</script>"), "the page gets the name: {name}");
}

#[test]
fn the_policy_names_what_is_on_the_page() {
    let options = html::HtmlOptions::default();
    let page =
        text(|out| html::write(&outcome(), &Policy::default(), None, &Runs::new(), &options, out));
    let (_, policy) = page.split_once("http-equiv=\"Content-Security-Policy\" content=\"").unwrap();
    let (policy, _) = policy.split_once('"').unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert_eq!(policy.matches("'sha256-").count(), 4);
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    // The hash covers the text between the tags, so line ends must not change.
    assert!(!page.contains('\r'));
}

#[test]
fn no_name_leads_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("a/b");
    let mut outcome = outcome();
    outcome.inputs[0].path = "../../../outside".into();
    outcome.findings[0].witness = Some(Witness {
        format: "schedule".into(),
        place: WitnessPlace::Path("../../outside".into()),
    });
    let (policy, options) = (Policy::default(), html::HtmlOptions::default());
    html::write_report(&inside, &outcome, &policy, Some(&trace()), &Runs::new(), &options).unwrap();
    let names = |path: &std::path::Path| -> Vec<_> {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!(names(folder.path()), ["a"]);
    assert_eq!(names(&folder.path().join("a")), ["b"]);
    assert_eq!(names(&inside), ["index.html"]);
}

#[test]
fn texts_stand_whole_on_the_page() {
    let mut outcome = outcome();
    let long = format!("{}end", "a name that says what it means, ".repeat(100));
    outcome.findings[0].title = format!("title {long}");
    outcome.findings[0].sites[0].task = Some(format!("task {long}"));
    let page = text(|out| {
        let options = html::HtmlOptions::default();
        html::write(&outcome, &Policy::default(), None, &Runs::new(), &options, out)
    });
    for what in ["title", "task"] {
        assert!(page.contains(&format!("{what} {long}")), "{what}");
    }
}

#[test]
fn huge_names_do_not_make_huge_pages() {
    let mut b = TraceBuilder::new();
    let huge = "x".repeat(2_000_000);
    let handler = b.handler(&huge, Mailbox::Fifo).unwrap();
    let task = b.task(&huge, handler).unwrap();
    b.get(task).unwrap();
    let mut outcome = outcome();
    outcome.findings[0].title = huge.clone();
    outcome.findings[0].sites[0].chain = vec![huge; 3];
    let options = html::HtmlOptions::default();
    let trace = b.finish();
    let page = text(|out| {
        html::write(&outcome, &Policy::default(), Some(&trace), &Runs::new(), &options, out)
    });
    assert!(page.len() < 200_000, "{} bytes", page.len());
}
