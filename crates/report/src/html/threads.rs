//! A run as a table with a column for each thread, next to the same steps in recorded order.

use super::page::safe;
use super::sequence::tone;
use crate::lane_table::{as_recorded, elided};
use crate::run_table::sign;
use anyorder_finding::run::{Comparison, Run, RunStep};
use maud::{Markup, html};

/// The most rows; of a longer run the last ones.
const ROWS_MAX: usize = 200;

/// The most columns; all further threads share the last one.
const LANES_MAX: usize = 24;

/// With more threads than this, one table is above the other.
const LANES_BESIDE_MAX: usize = 2;

/// The most characters of a cell; its title has all of them.
const CELL_CHARS: usize = 26;

/// Makes the markup of a run, and of the run that it is compared with.
pub(super) fn markup(run: &Run, compared: Option<&Comparison>) -> Markup {
    let lanes = run.lanes();
    html! {
        h4 { "Witness" }
        @if let Some(compared) = compared {
            p.dim.reversed {
                span.sign.a { "A" } " " code { (safe(&compared.first)) } " "
                span.sign.b { "B" } " " code { (safe(&compared.second)) }
            }
        }
        div.two-runs.beside[compared.is_some() && lanes.len() <= LANES_BESIDE_MAX] {
            section.one-run {
                h5 { (compared.map_or("Run", |compared| compared.after_title.as_str())) }
                (table(run, &lanes))
            }
            @if let Some(compared) = compared {
                section.one-run {
                    h5 { (safe(&compared.before_title)) }
                    (table(&compared.before, &lanes))
                }
            }
        }
    }
}

fn table(run: &Run, lanes: &[&str]) -> Markup {
    let columns = lanes.len().clamp(1, LANES_MAX);
    let skipped = run.steps.len().saturating_sub(ROWS_MAX);
    let places = run.steps.iter().any(|step| step.place.is_some());
    let width = columns + 1 + usize::from(places);
    let column = |step: &RunStep| {
        let found = lanes.iter().position(|lane| *lane == step.lane);
        found.unwrap_or(0).min(columns - 1)
    };
    html! {
        div.threads tabindex="0" role="group" aria-label="Steps by thread" {
            table {
                thead { tr {
                    th scope="col" { "event" }
                    @for (at, lane) in lanes.iter().enumerate().take(columns) {
                        th scope="col" {
                            @if at + 1 == LANES_MAX && lanes.len() > LANES_MAX { (lanes.len() - at) " more" }
                            @else { (safe(lane)) }
                        }
                    }
                    @if places { th scope="col" { "at" } }
                } }
                tbody {
                    @if run.first > 0 { (note(width, &as_recorded(run.first))) }
                    @if skipped > 0 { (note(width, &format!("{skipped} more"))) }
                    @for (number, step) in (1..).zip(&run.steps).skip(skipped) {
                        @if step.left_out > 0 { (note(width, &format!("{} more", step.left_out))) }
                        tr.(step.mark.map_or("", tone)) {
                            th scope="row" {
                                @if let Some(mark) = step.mark { span.sign.(tone(mark)) { (sign(mark)) } " " }
                                (step.number.as_deref().map_or_else(|| number.to_string(), safe))
                            }
                            @for at in 0..columns {
                                @if at == column(step) {
                                    td.step title=(safe(&step.what)) { (elided(&step.what, CELL_CHARS)) }
                                } @else { td {} }
                            }
                            @if places {
                                td.at { @if let Some(place) = &step.place { (safe(&place.to_string())) } }
                            }
                        }
                    }
                    @if !run.end.is_empty() {
                        tr.end { td colspan=(width) { "⇒ " (safe(&run.end)) } }
                    }
                }
            }
        }
    }
}

/// A row that represents several.
fn note(width: usize, text: &str) -> Markup {
    html! { tr.gap { th { "…" } td colspan=(width - 1) { (text) } } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::run::{Mark, RunPlace};

    fn run(lanes: usize, steps: usize) -> Run {
        let step = |n: usize| RunStep {
            lane: format!("T<{}>", n % lanes),
            what: format!("write </td>{n}"),
            place: Some(RunPlace {
                file: "<a>.c".to_owned(),
                line: Some(1),
                ..RunPlace::default()
            }),
            number: Some(format!("{n}&")),
            left_out: usize::from(n == 1) * 5,
            mark: if n == 2 { Some(Mark::First) } else { None },
            ..RunStep::default()
        };
        let steps = (0..steps).map(step).collect();
        Run { steps, end: "<b>".to_owned(), by_lane: true, first: 9, ..Run::default() }
    }

    #[test]
    fn each_step_is_in_the_column_of_its_thread_whatever_the_names() {
        let compared = Comparison { before: run(3, 6), ..Comparison::default() };
        let text = format!("<div>{}</div>", markup(&run(3, 6), Some(&compared)).into_string());
        let tree = roxmltree::Document::parse(&text).expect("well-formed");
        let tables: Vec<_> = tree.descendants().filter(|node| node.has_tag_name("table")).collect();
        assert_eq!(tables.len(), 2);
        let rows: Vec<_> = tables[0].descendants().filter(|node| node.has_tag_name("tr")).collect();
        // A head, two notes, six steps, and the end.
        assert_eq!(rows.len(), 1 + 2 + 6 + 1);
        let steps = rows
            .iter()
            .filter(|row| row.children().any(|cell| cell.attribute("class") == Some("step")));
        let columns: Vec<usize> = steps
            .map(|row| {
                let cells: Vec<_> = row.children().filter(|cell| cell.is_element()).collect();
                assert_eq!(cells.len(), 5);
                cells.iter().position(|cell| cell.attribute("class") == Some("step")).unwrap()
            })
            .collect();
        assert_eq!(columns, [1, 2, 3, 1, 2, 3]);
        assert!(!text.contains("<a>") && !text.contains("T<0>"));
    }

    #[test]
    fn long_runs_and_many_threads_are_cut() {
        let text = format!("<div>{}</div>", markup(&run(40, 500), None).into_string());
        let tree = roxmltree::Document::parse(&text).expect("well-formed");
        let rows = tree.descendants().filter(|node| node.has_tag_name("tr")).count();
        assert_eq!(rows, 1 + 2 + ROWS_MAX + 1);
        assert!(text.contains("300 more") && text.contains("17 more"), "{}", &text[..900]);
    }
}
