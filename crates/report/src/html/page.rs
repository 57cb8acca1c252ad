//! The markup of the page: head, summary, timeline, list of findings.

use super::csp;
use super::evidence;
use super::finding;
use super::timeline::TimelineData;
use super::write::HtmlOptions;
use crate::escape::clipped;
use crate::limits;
use crate::words;
use anyorder_common::numbers;
use anyorder_finding::run::Runs;
use anyorder_finding::{OptionValue, Outcome, Policy, RaceCategory, Stat, Verdict};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::{BTreeMap, BTreeSet};

/// The most entries of a selection list.
const CHOICES_MAX: usize = 300;

/// The most warnings shown.
const WARNINGS_MAX: usize = 20;

const STYLE: &str = include_str!("style.css");
const EVIDENCE: &str = include_str!("evidence.css");
const SLIDER: &str = include_str!("slider.js");
const FILTER: &str = include_str!("filter.js");
const CHART: &str = include_str!("chart.js");
const TIMELINE: &str = include_str!("timeline.js");

/// The most characters of any text of an input. It bounds the page, not what people write.
const TEXT_CHARS_MAX: usize = 10_000;

/// Returns text of an input in a form that is safe on the page.
pub(super) fn safe(text: &str) -> String {
    clipped(text, TEXT_CHARS_MAX).into_owned()
}

/// Returns whether a run shows more than its steps.
fn has_evidence(runs: &Runs) -> bool {
    let compared = runs.values().filter_map(|run| run.compared.as_ref());
    compared.into_iter().any(|compared| evidence::is_there(compared))
}

/// Makes the page. `data` is the timeline as JSON without `<`, so that it is safe in a script
/// element.
pub(super) fn page(
    outcome: &Outcome,
    policy: &Policy,
    timeline: Option<&TimelineData>,
    runs: &Runs,
    data: &str,
    options: &HtmlOptions,
) -> Markup {
    let evidence = has_evidence(runs);
    let more = usize::from(evidence);
    let (styles, scripts) = ([STYLE, EVIDENCE], [FILTER, CHART, TIMELINE, SLIDER]);
    let policy_text = csp::policy(&styles[..1 + more], &scripts[..3 + more], evidence);
    let title = format!("{} {}: {}", safe(&outcome.tool), safe(&outcome.command), outcome.verdict);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy_text);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
                @if evidence { style { (PreEscaped(EVIDENCE)) } }
            }
            body {
                (head(outcome))
                main {
                    (tiles(outcome, policy))
                    @if let Some(timeline) = timeline { (chart(timeline)) }
                    (super::matrix::matrices(outcome))
                    (list(outcome, policy, timeline, runs, options))
                }
                (foot(outcome))
                script type="application/json" id="timeline-data" { (PreEscaped(data)) }
                script { (PreEscaped(FILTER)) }
                script { (PreEscaped(CHART)) }
                script { (PreEscaped(TIMELINE)) }
                @if evidence { script { (PreEscaped(SLIDER)) } }
            }
        }
    }
}

fn head(outcome: &Outcome) -> Markup {
    let tone = match outcome.verdict {
        Verdict::Ok | Verdict::Consistent | Verdict::Robust => "good",
        Verdict::Incomplete | Verdict::Unknown => "warning",
        _ => "bad",
    };
    html! {
        header.top {
            div.brand { b { (safe(&outcome.tool)) } " " (safe(&outcome.command)) }
            span.verdict.(tone) { (outcome.verdict.word().replace('_', " ")) }
            div.inputs {
                @for input in outcome.inputs.iter().take(20) {
                    span { code { (safe(&input.path)) } " " span.dim { (safe(&input.format)) } }
                }
                @if let Some(OptionValue::Text(rules)) = outcome.options.get("rules") {
                    span { span.dim { "rules " } (safe(rules)) }
                }
                @if let Some(elapsed) = words::elapsed(outcome) { span.dim { (elapsed) } }
            }
        }
        @if words::grave(outcome).next().is_some() {
            div.notice {
                @for warning in words::grave(outcome).take(WARNINGS_MAX) {
                    div { b { (warning.kind.word()) } ": " (safe(&words::warning(outcome, warning))) }
                }
                @let more = words::grave(outcome).count().saturating_sub(WARNINGS_MAX);
                @if more > 0 { div.dim { "… and " (more) " more" } }
                @if let Some(rests) = words::ignored_input(outcome) { div { (rests) "." } }
            }
        }
        @if !outcome.bounds.is_empty() {
            p.notice {
                @for bound in limits::bounds(outcome) { (safe(&limits::sentence(&bound))) " " }
            }
        }
        @if words::is_cut(outcome) {
            p.notice {
                @for cut in limits::cuts(outcome) { b { (safe(&limits::sentence(&cut))) } " " }
                "What is listed is true, and there may be more."
            }
        }
    }
}

/// The main numbers, and the findings by category.
fn tiles(outcome: &Outcome, policy: &Policy) -> Markup {
    let tally = words::tally(outcome, policy);
    let stat = |name: &str| outcome.stats.get(name).and_then(Stat::integer);
    let strong = |n: u64| if n > 0 { "strong" } else { "" };
    let mut tiles: Vec<(&str, u64, &str)> = Vec::new();
    let threads = words::only_threads(outcome);
    let works = if threads.is_some() { &["threads"][..] } else { &["tasks", "handlers"][..] };
    let sizes = [&["events"][..], works, &["states", "transitions"][..]].concat().into_iter();
    tiles.extend(sizes.filter_map(|name| Some((name, stat(name)?, ""))));
    if let Some(Stat::Map(classes)) = outcome.stats.get("reversals") {
        tiles.extend(stat("executions").map(|n| ("runs", n, "")));
        tiles.push(("reversals", classes.iter().map(|(_, n)| *n).sum(), ""));
        tiles.extend(classes.get("different").map(|n| ("harmful", *n, strong(*n))));
    }
    tiles.extend(stat("stress_runs").map(|n| ("random orders", n, "")));
    tiles.extend(stat("stress_failed").map(|n| ("failed", n, strong(n))));
    if let (Some(n), Some(_)) = (stat("candidates"), stat("dropped")) {
        tiles.push(("candidates", n, ""));
        tiles.extend(stat("confirmed").map(|n| ("confirmed", n, strong(n))));
        let others = ["dropped", "unconfirmed"].into_iter();
        tiles.extend(others.filter_map(|name| Some((name, stat(name)?, ""))));
    } else if let Some(n) = stat("race_pairs") {
        tiles.push(("race pairs", n, ""));
    }
    match stat("races") {
        Some(n) => tiles.push(("races", n, "")),
        None => tiles.push(("findings", outcome.findings.len() as u64, "")),
    }
    tiles.extend(stat("races_uncovered").map(|n| ("uncovered", n, strong(n))));
    tiles.push(("to look at", tally.counting, strong(tally.counting)));
    if tally.excluded > 0 {
        tiles.push(("set aside", tally.excluded, ""));
    }
    html! {
        section.tiles aria-label="Summary" {
            div.numbers {
                @for (name, n, class) in &tiles {
                    @let what = if *n == 1 { name.strip_suffix('s').unwrap_or(name) } else { name };
                    div.tile.(class) { span.n { (numbers::count(*n)) } span.what { (what) } }
                }
            }
            (categories(outcome))
        }
    }
}

/// The number of findings by category, as bars.
fn categories(outcome: &Outcome) -> Markup {
    let mut counts: Vec<(String, u64)> = Vec::new();
    if let Some(Stat::Map(map)) = outcome.stats.get("races_by_category") {
        counts.extend(map.iter().take(CHOICES_MAX).map(|(name, n)| (safe(name), *n)));
    }
    let most = counts.iter().map(|(_, n)| *n).max().unwrap_or(0).max(1);
    html! {
        @if counts.iter().any(|(_, n)| *n > 0) {
            div.tile.wide {
                span.what { "races by category" }
                table.bars {
                    @for (name, n) in &counts {
                        tr {
                            th scope="row" { (name.replace('_', " ")) }
                            td { svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
                                rect.(colour_class(name)) width=(n.saturating_mul(100) / most) height="8" {}
                            } }
                            td.num { (numbers::count(*n)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the class for the colour of a category. Only our own words are allowed, so it is safe in
/// markup.
pub(super) fn colour_class(category: &str) -> &'static str {
    match RaceCategory::from_word(category) {
        Some(RaceCategory::MultiThreaded) => "c1",
        Some(RaceCategory::CrossPosted) => "c2",
        Some(RaceCategory::CoEnabled) => "c3",
        Some(RaceCategory::Delayed) => "c4",
        _ => "c5",
    }
}

fn chart(timeline: &TimelineData) -> Markup {
    html! {
        section.card id="timeline" hidden aria-labelledby="timeline-title" {
            div.bar {
                h2 id="timeline-title" { "Timeline" }
                span.legend {
                    span.key.a { "first access and its posts" } span.key.b { "second access and its posts" }
                }
                span.tools {
                    button type="button" id="zoom-out" title="Zoom out (-)" aria-label="Zoom out" { "−" }
                    button type="button" id="zoom-in" title="Zoom in (+)" aria-label="Zoom in" { "+" }
                    button type="button" id="zoom-all" title="Show everything (0)" { "All" }
                    button type="button" id="unselect" title="Clear the selection (Esc)" disabled { "Clear" }
                }
            }
            div.plot {
                canvas id="chart" tabindex="0" role="application" aria-labelledby="timeline-title" aria-describedby="chart-help chart-says" {}
                div id="tip" hidden {}
            }
            p.dim.help id="chart-help" {
                "Wheel or + and − zoom, drag or arrow keys move, N and P step through tasks, 0 shows all. "
                "The scale is the position in the trace; a bar below a lane is code outside posted tasks."
                @if let Some(note) = timeline.note() { " " b { (note) } }
            }
            p.says id="chart-says" role="status" aria-live="polite" {}
        }
    }
}

fn list(
    outcome: &Outcome,
    policy: &Policy,
    timeline: Option<&TimelineData>,
    runs: &Runs,
    options: &HtmlOptions,
) -> Markup {
    let shown = &outcome.findings[..options.findings_max.min(outcome.findings.len())];
    let more = outcome.findings.len() - shown.len();
    html! {
        section id="findings" aria-labelledby="findings-title" {
            div.bar {
                h2 id="findings-title" { "Findings" }
                span.dim id="shown" role="status" { (words::summary(outcome, policy).join(", ")) }
            }
            @if shown.is_empty() {
                p.card.empty { "Nothing was found." }
            } @else if shown.len() > 1 {
                (filters(outcome, shown.len()))
            }
            @for (index, it) in shown.iter().enumerate() {
                @let in_timeline = timeline.is_some_and(|timeline| timeline.has_finding(index));
                @let entry = finding::Entry { index, in_timeline, open: shown.len() == 1, run: runs.get(&it.id) };
                (finding::markup(it, &entry, policy, options))
            }
            @if more > 0 {
                p.notice { b { (numbers::count(more as u64)) " more" } " findings are not on this page; " code { "--format json" } " has them all." }
            }
        }
    }
}

/// The controls of the list. They are hidden until their script runs.
fn filters(outcome: &Outcome, shown: usize) -> Markup {
    let findings = &outcome.findings[..shown];
    let kinds: BTreeSet<String> = findings.iter().map(finding::sort).collect();
    let mut classes: BTreeMap<String, u64> = BTreeMap::new();
    for class in findings.iter().filter_map(finding::class) {
        *classes.entry(class).or_default() += 1;
    }
    html! {
        form.filters id="filters" hidden {
            label { span { "Search" } input type="search" id="search" placeholder="task, handler, location, file …" autocomplete="off"; }
            label { span { "Category" } select id="by-category" {
                option value="" { "all" }
                @for kind in kinds.iter().take(CHOICES_MAX) { option value=(kind) { (kind.replace('_', " ")) } }
            } }
            label { span { "Coverage" } select id="by-coverage" {
                option value="" { "all" } option value="uncovered" { "uncovered" } option value="covered" { "covered" }
            } }
            @if classes.len() > 1 {
                label { span { "Class" } select id="by-class" {
                    option value="" { "all" }
                    @for (class, n) in classes.iter().take(CHOICES_MAX) { option value=(class) { (class) " (" (n) ")" } }
                } }
            }
            label { span { "Standing" } select id="by-standing" {
                option value="" { "all" } option value="counts" { "to look at" }
                option value="other" { "other" } option value="aside" { "set aside" }
            } }
        }
    }
}

/// The source of the numbers, for readers who want to reproduce them.
fn foot(outcome: &Outcome) -> Markup {
    let text = |value: &OptionValue| match value {
        OptionValue::Bool(flag) => flag.to_string(),
        OptionValue::Integer(n) => n.to_string(),
        OptionValue::Text(text) => safe(text),
        OptionValue::List(list) => safe(&list.join(", ")),
    };
    html! {
        footer {
            details {
                summary { (safe(&outcome.tool)) " " (safe(&outcome.version)) ": options and statistics" }
                div.columns {
                    table.facts {
                        @for (name, value) in outcome.options.iter().take(CHOICES_MAX) {
                            tr { th scope="row" { (safe(name)) } td { (text(value)) } }
                        }
                    }
                    table.facts {
                        @for (name, value) in outcome.stats.iter().take(CHOICES_MAX) {
                            @if let Stat::Integer(n) = value {
                                tr { th scope="row" { (safe(name)) } td.num { (numbers::count(*n)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
