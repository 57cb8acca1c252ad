//! The matrices of a home: automations by attributes, and automations by automations.

use super::page::safe;
use anyorder_common::text::escape_lines;
use anyorder_finding::{CheckedHome, Kind, Outcome, Usage};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// The most rows and columns of a matrix.
const LINES_MAX: usize = 150;

/// The most values of a cell's hint.
const VALUES_MAX: usize = 12;

/// The findings about two automations that set an attribute.
struct Fights<'o> {
    /// Which automation fights over which attribute.
    over: BTreeSet<(&'o str, &'o str)>,
    /// Over what two automations fight, and the number of the first finding, from 1.
    between: BTreeMap<(&'o str, &'o str), (BTreeSet<&'o str>, usize)>,
}

impl<'o> Fights<'o> {
    fn of(outcome: &'o Outcome) -> Fights<'o> {
        let (mut over, mut between) = (BTreeSet::new(), BTreeMap::new());
        let findings = outcome.findings.iter().enumerate();
        for (number, one) in findings.filter(|(_, it)| it.kind == Kind::UpdateConflict) {
            let Some(attribute) = one.sites.first().and_then(|site| site.location.as_deref())
            else {
                continue;
            };
            let files: Vec<&str> =
                one.sites.iter().filter_map(|site| site.file.as_deref()).collect();
            over.extend(files.iter().map(|file| (*file, attribute)));
            for first in &files {
                for second in files.iter().filter(|second| *second != first) {
                    let new = || (BTreeSet::new(), number + 1);
                    between.entry((*first, *second)).or_insert_with(new).0.insert(attribute);
                }
            }
        }
        Fights { over, between }
    }
}

/// Returns the matrices; nothing if the outcome is not about a home.
pub(super) fn matrices(outcome: &Outcome) -> Markup {
    let (mut automations, mut attributes) = (vec![], vec![]);
    let mut uses: BTreeMap<(&str, &str), &Usage> = BTreeMap::new();
    for one in &outcome.usages {
        if !automations.contains(&one.automation.as_str()) {
            automations.push(&one.automation);
        }
        if !attributes.contains(&one.attribute.as_str()) {
            attributes.push(&one.attribute);
        }
        uses.insert((&one.automation, &one.attribute), one);
    }
    attributes.sort_unstable();
    let fights = Fights::of(outcome);
    let known: BTreeMap<(&str, &str), bool> = outcome.homes.iter().flat_map(pairs).collect();
    let left = automations.len().max(attributes.len()).saturating_sub(LINES_MAX);
    automations.truncate(LINES_MAX);
    attributes.truncate(LINES_MAX);
    html! {
        @if !automations.is_empty() {
            section.card.matrix id="home" aria-labelledby="home-title" {
                div.bar {
                    h2 id="home-title" { "Automations and attributes" }
                    span.legend {
                        span { b { "W" } " sets" } span { b { "r" } " reads" }
                        span { b { "h" } " hears" } span { b.fight { "W" } " in conflict" }
                    }
                }
                div.wide {
                    table {
                        thead { tr { th {} @for one in &attributes { (column(one)) } } }
                        tbody {
                            @for row in &automations {
                                tr {
                                    th scope="row" title=(safe(row)) { (short(row)) }
                                    @for column in &attributes {
                                        @let is_fight = fights.over.contains(&(*row, *column));
                                        (used(uses.get(&(*row, *column)).copied(), is_fight))
                                    }
                                }
                            }
                        }
                    }
                }
                @if automations.len() > 1 {
                    div.bar {
                        h2 { "Conflicts of two automations" }
                        span.legend {
                            span { "–" " none" } span { "?" " not all was searched or understood" }
                        }
                    }
                    div.wide {
                        table {
                            thead { tr { th {} @for one in &automations { (column(short_text(one))) } } }
                            tbody {
                                @for (at, row) in automations.iter().enumerate() {
                                    tr {
                                        th scope="row" title=(safe(row)) { (short(row)) }
                                        @for (column, other) in automations.iter().enumerate() {
                                            @if column == at { td.self {} }
                                            @else {
                                                @let known = known.get(&(*row, *other)).copied();
                                                (fought(fights.between.get(&(*row, *other)), known))
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                @if left > 0 { p.dim { "… and " (left) " more rows or columns" } }
            }
        }
    }
}

/// Returns the name of an automation without its folders and ending.
fn short_text(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn short(file: &str) -> String {
    safe(&escape_lines(short_text(file)))
}

fn column(name: &str) -> Markup {
    html! { th scope="col" { span { (safe(&escape_lines(name))) } } }
}

fn used(usage: Option<&Usage>, is_fight: bool) -> Markup {
    let Some(usage) = usage else { return html! { td {} } };
    let mut values: Vec<&str> = usage.writes.iter().map(String::as_str).collect();
    let more = if values.len() > VALUES_MAX { ", …" } else { "" };
    values.truncate(VALUES_MAX);
    let verbs = [(usage.reads, "reads"), (usage.hears, "hears")];
    let mut said: Vec<String> = vec![];
    if !values.is_empty() {
        said.push(format!("sets {}{more}", values.join(", ")));
    }
    said.extend(verbs.iter().filter(|(is, _)| *is).map(|(_, verb)| (*verb).to_owned()));
    let class = if is_fight { "fight" } else { "" };
    html! {
        td.(class) title=(safe(&escape_lines(&said.join("; ")))) {
            @if !usage.writes.is_empty() { b { "W" } }
            @if usage.reads { "r" }
            @if usage.hears { "h" }
        }
    }
}

/// Returns each two automations of a home, with whether it was all searched.
fn pairs(home: &CheckedHome) -> Vec<((&str, &str), bool)> {
    let all = &home.automations[..home.automations.len().min(LINES_MAX)];
    let mut found = vec![];
    for first in all {
        for second in all.iter().filter(|second| *second != first) {
            found.push(((first.as_str(), second.as_str()), home.complete));
        }
    }
    found
}

fn fought(fight: Option<&(BTreeSet<&str>, usize)>, known: Option<bool>) -> Markup {
    let Some((over, finding)) = fight else {
        return match known {
            Some(true) => html! { td.dim title="no conflict" { "–" } },
            Some(false) => html! { td title="not all was searched or understood" { "?" } },
            None => html! { td {} },
        };
    };
    let names = over.iter().copied().collect::<Vec<_>>().join(", ");
    html! {
        td.fight title=(safe(&escape_lines(&names))) {
            a href=(format!("#f{finding}")) { (over.len()) }
        }
    }
}
