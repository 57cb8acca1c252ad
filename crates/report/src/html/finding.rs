//! The markup of one finding: a line that opens to show both accesses, their chains of posts, and
//! the existing orders.

use super::comparison;
use super::page::{colour_class, safe};
use super::sequence;
use super::threads;
use super::write::HtmlOptions;
use crate::source;
use crate::words;
use anyorder_common::numbers;
use anyorder_finding::run::Run;
use anyorder_finding::{ExplanationStep, Finding, Policy, Related, Reproduced, Site, location};
use maud::{Markup, html};

/// The most steps shown of a chain or an explanation.
const STEPS_MAX: usize = 100;

/// The columns of lines of the source.
const SOURCE_WIDTH: usize = 100;

/// Returns the category for the filter of the list: the finding's category, or else its kind.
pub(super) fn sort(finding: &Finding) -> String {
    safe(finding.category.as_deref().unwrap_or(finding.kind.word()))
}

/// Returns the class of a location that is a field: `a.Foo` of `a.Foo.bar@0x41`.
pub(super) fn class(finding: &Finding) -> Option<String> {
    location::class(finding.location()?).map(safe)
}

/// How a finding appears in the list.
pub(super) struct Entry<'a> {
    /// Its place in the list.
    pub(super) index: usize,
    /// Whether the timeline can show it.
    pub(super) in_timeline: bool,
    /// Whether it is open at first.
    pub(super) open: bool,
    /// The run that shows it.
    pub(super) run: Option<&'a Run>,
}

/// Makes the markup of a finding.
pub(super) fn markup(
    finding: &Finding,
    entry: &Entry<'_>,
    policy: &Policy,
    options: &HtmlOptions,
) -> Markup {
    let Entry { index, in_timeline, open, run } = *entry;
    let coverage = words::coverage(finding);
    let standing = match () {
        () if finding.is_excluded() => "aside",
        () if policy.counts(finding) => "counts",
        () => "other",
    };
    let sort = sort(finding);
    html! {
        details.finding.card id=(format!("f{}", index + 1)) data-index=(index) data-category=(sort)
            data-coverage=[coverage] data-class=[class(finding)] data-standing=(standing) open[open] {
            summary {
                span.number { (index + 1) }
                span.severity.(finding.severity.word()) { (finding.severity.word()) }
                span.title { (ticked(&finding.title)) }
                span.chips {
                    @if finding.category.is_some() { span.chip { (finding.kind.word().replace('_', " ")) } }
                    span.chip.(colour_class(&sort)) { (sort.replace('_', " ")) }
                    @if let Some(coverage) = coverage { span.chip.(coverage) { (coverage) } }
                    @if words::is_predicted(finding) {
                        @if finding.confirmed == Some(true) { span.chip.confirmed { "confirmed" } }
                        @else { span.chip.open { "unconfirmed" } }
                    }
                    @if let Some(reproduced) = &finding.reproduced {
                        span.chip.(if reproduced.class == Reproduced::Reproduced { "confirmed" } else { "open" }) {
                            (reproduced.class.word().replace('_', " "))
                        }
                    }
                    @if let Some(group) = &finding.group { span.chip { "group " (safe(group).chars().take(4).collect::<String>()) } }
                    @if standing == "aside" { span.chip { @if finding.baseline { "baseline" } @else { "suppressed" } } }
                    @if finding.pairs_total > 0 { span.chip { (numbers::plural(finding.pairs_total, "pair")) } }
                }
            }
            div.body {
                @if let Some(input) = &finding.input { p.dim { "In " code { (safe(input)) } } }
                @if let Some(group) = &finding.group {
                    p.dim {
                        @if finding.group_of_memory {
                            @if *group == finding.id { "Stands for a group: findings of the same memory, group " code { (safe(group)) } "." }
                            @else { "Of the same memory as finding " code { (safe(group)) } "." }
                        }
                        @else if *group == finding.id { "Stands for a group: one missing order makes all findings of group " code { (safe(group)) } "." }
                        @else { "Of one mistake with finding " code { (safe(group)) } ": the same order is missing." }
                    }
                }
                div.sites {
                    @for (position, site) in finding.sites.iter().enumerate().take(STEPS_MAX) {
                        (side(finding, (position, site)))
                    }
                }
                @if !finding.related.is_empty() {
                    div.sites { @for related in finding.related.iter().take(STEPS_MAX) { (about(related)) } }
                }
                @let steps = finding.explanation.iter().take(STEPS_MAX);
                @let (headed, others) = steps.partition::<Vec<&ExplanationStep>, _>(|step| words::predicted_head(finding, step).is_some());
                @if !headed.is_empty() { (prediction(finding, &headed)) }
                @if let Some(run) = run {
                    @match &run.compared {
                        compared if run.by_lane => { (threads::markup(run, compared.as_deref())) }
                        Some(compared) => { (comparison::markup(run, compared)) }
                        None => { (sequence::markup(run)) }
                    }
                }
                @if !others.is_empty() && run.is_none_or(|run| run.by_lane) {
                    h4 { @if finding.sites.len() == 2 && finding.coverage.is_some() { "Nearest orders" } @else { "Why" } }
                    ul.steps {
                        @for step in others {
                            li { (ticked(&step.text)) @if let Some(rule) = &step.rule { " " span.chip { (safe(rule)) } } }
                        }
                    }
                }
                (pairs(finding, options.pairs_max))
                @if let Some(replay) = &finding.replay {
                    h4 { "Look closer" }
                    pre.command { code { (safe(replay)) } }
                }
                p.dim.marks {
                    @for mark in words::marks(finding) { span { (safe(&mark)) } }
                    span { "id " code { (safe(&finding.id)) } }
                    @if in_timeline { button.show type="button" hidden { "Show in timeline" } }
                }
            }
        }
    }
}

/// The facts about a prediction: the locks held, its witness, and the missing order.
fn prediction(finding: &Finding, steps: &[&ExplanationStep]) -> Markup {
    html! {
        dl.prediction {
            @for step in steps {
                @let head = words::predicted_head(finding, step).unwrap_or_default();
                dt.(if head == "hint" { "hint" } else { "" }) { (head) }
                dd.(if head == "hint" { "hint" } else { "" }) { (ticked(&step.text)) }
            }
        }
    }
}

/// One access, its place, and the chain of posts of its task.
fn side(finding: &Finding, (position, site): (usize, &Site)) -> Markup {
    let tone = match position {
        0 => "a",
        1 => "b",
        _ => "other",
    };
    let mut facts: Vec<(&str, String)> = Vec::new();
    let named = |at: &String| site.task.as_ref() != Some(at);
    facts.extend(site.place().filter(named).map(|at| ("at", at.replace('`', ""))));
    facts.extend(site.allocated.clone().map(|at| ("allocated", at)));
    facts.extend(site.event.clone().map(|event| ("event", event)));
    facts.extend(site.task.clone().map(|task| ("task", task)));
    facts.extend(site.handler.clone().map(|name| (words::of_handler(finding).1, name)));
    facts.extend(words::thread(site).map(|thread| ("thread", thread.to_owned())));
    if !site.locks.is_empty() {
        facts.push(("holding", site.locks.join(", ")));
    }
    html! {
        div.site.(tone) {
            h4 {
                span.access { (safe(words::access(site))) }
                @if let Some(location) = &site.location { " " code { (safe(location)) } }
            }
            (lines(site))
            dl {
                @for (name, value) in &facts { dt { (name) } dd { (safe(value)) } }
            }
            (stack(site))
            @if !site.chain.is_empty() {
                div.chain-title { "How the task came to run" }
                ol.chain {
                    li.self { "this access" }
                    @for post in site.chain.iter().take(STEPS_MAX) { li { (ticked(post)) } }
                    @if site.chain.len() > STEPS_MAX { li.dim { "… " (site.chain.len() - STEPS_MAX) " more" } }
                }
            }
        }
    }
}

/// The call stack of a site.
fn stack(site: &Site) -> Markup {
    html! {
        @if site.stack.len() > 1 {
            div.chain-title { "Call stack" }
            ol.chain {
                @for (depth, position) in site.stack.iter().enumerate().take(STEPS_MAX) {
                    @if depth == 0 { li.self { (safe(position)) } } @else { li { (safe(position)) } }
                }
                @if site.stack.len() > STEPS_MAX { li.dim { "… " (site.stack.len() - STEPS_MAX) " more" } }
            }
        }
    }
}

/// Returns where a site is: its file, line and column.
pub(super) fn place(site: &Site) -> Option<String> {
    let (file, line) = (site.file.as_ref()?, site.line?);
    let column = site.column.map(|column| format!(":{column}")).unwrap_or_default();
    Some(format!("{file}:{line}{column}"))
}

/// The lines of the source around a site.
pub(super) fn lines(site: &Site) -> Markup {
    html! {
        @if let Some(source) = &site.source {
            pre.source {
                @for row in source::lines(site, 0, SOURCE_WIDTH) {
                    @if row.starts_with('>') { strong { (row) } } @else { (row) }
                    "\n"
                }
            }
            @if source.newer { p.dim { (source::NEWER) } }
        }
    }
}

/// What sites are about: memory, a thread, a lock.
fn about(related: &Related) -> Markup {
    html! {
        div.site.about {
            h4 { span.access { (related.kind.word()) } " " (ticked(&related.text)) }
            @if let Some(place) = related.site.place() {
                dl { dt { "at" } dd { (safe(&place.replace('`', ""))) } }
            }
            (stack(&related.site))
        }
    }
}

/// The members of a group.
fn pairs(finding: &Finding, max: usize) -> Markup {
    let shown = finding.pairs.len().min(max);
    let hidden = finding.pairs_total.saturating_sub(shown as u64);
    html! {
        @if shown > 1 {
            details.pairs {
                summary { (words::pairs(finding).unwrap_or_default()) }
                table {
                    thead { tr { th { "first event" } th { "second event" } } }
                    tbody {
                        @for [first, second] in &finding.pairs[..shown] {
                            tr { td { (safe(first)) } td { (safe(second)) } }
                        }
                    }
                }
                @if hidden > 0 { p.dim { "… and " (numbers::count(hidden)) " more" } }
            }
        }
    }
}

/// Shows text, with parts between backticks as code.
fn ticked(text: &str) -> Markup {
    let text = safe(text);
    let parts: Vec<&str> = text.split('`').collect();
    // A backtick without a partner is shown unchanged.
    let paired = parts.len() % 2 == 1;
    html! {
        @if paired {
            @for (index, part) in parts.iter().enumerate() {
                @if index % 2 == 1 { code { (part) } } @else { (part) }
            }
        } @else { (text) }
    }
}
