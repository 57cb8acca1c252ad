//! Two orders of the same events as two rows, with a line from each event to itself. The two that
//! were reversed cross.

use super::page::safe;
use super::sequence::tone;
use anyorder_finding::run::{Mark, Run, RunStep};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// The most events of a row. Of longer runs, those around the pair are drawn.
const EVENTS_MAX: usize = 28;

/// Sizes, in units of the drawing.
const BOX: usize = 26;
const STEP: usize = 36;
const LEFT: usize = 12;
const ROWS: [usize; 2] = [30, 112];
const HEIGHT: usize = 164;

/// Makes the drawing; nothing if one of the runs is not known.
pub(super) fn markup(before: &Run, before_title: &str, after: &Run, after_title: &str) -> Markup {
    let rows = [window(before), window(after)];
    if rows.iter().any(|row| row.is_empty()) {
        return html! {};
    }
    let most = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = LEFT * 2 + most * STEP;
    let x = |at: usize| LEFT + at * STEP;
    let places = places(&rows[1]);
    let lines = keys(&rows[0]).into_iter().enumerate().filter_map(|(at, key)| {
        let to = *places.get(&key)?;
        let class = rows[0][at].1.mark.filter(|mark| *mark != Mark::Only).map_or("", tone);
        let (from_x, to_x) = (x(at) + BOX / 2, x(to) + BOX / 2);
        let middle = usize::midpoint(ROWS[0] + BOX, ROWS[1]);
        let path = format!(
            "M{from_x} {} C{from_x} {middle} {to_x} {middle} {to_x} {}",
            ROWS[0] + BOX,
            ROWS[1]
        );
        Some((class, path))
    });
    // Those of the pair lie on top.
    let mut lines: Vec<(&str, String)> = lines.collect();
    lines.sort_by_key(|(class, _)| !class.is_empty());
    html! {
        div.strip {
            svg viewBox=(format!("0 0 {width} {HEIGHT}")) preserveAspectRatio="xMinYMid meet" role="img" aria-label="The two orders" {
                @for (class, path) in &lines { path class=(class) d=(path) {} }
                @for ((row, y), title) in rows.iter().zip(ROWS).zip([before_title, after_title]) {
                    text x=(LEFT) y=(if y == ROWS[0] { y - 10 } else { y + BOX + 16 }) { (safe(title)) }
                    @for (at, (number, step)) in row.iter().enumerate() {
                        (event(x(at), y, *number, step))
                    }
                }
            }
        }
    }
}

/// One event of a row.
fn event(x: usize, y: usize, number: usize, step: &RunStep) -> Markup {
    let class = step.mark.map_or("", tone);
    let sign = match step.mark {
        Some(Mark::First) => Some("A"),
        Some(Mark::Second) => Some("B"),
        _ => None,
    };
    html! {
        g {
            title { (number) ". " (safe(&step.title())) }
            rect class=(class) x=(x) y=(y) width=(BOX) height=(BOX) rx="6" {}
            @if let Some(sign) = sign {
                text.sign x=(x + BOX / 2) y=(y + 18) { (sign) }
            } @else {
                text.n x=(x + BOX / 2) y=(y + 17) { (number) }
            }
        }
    }
}

/// Returns the events that are drawn, with their numbers from 1.
fn window(run: &Run) -> Vec<(usize, &RunStep)> {
    let in_pair = |step: &RunStep| matches!(step.mark, Some(Mark::First | Mark::Second));
    let last = run.steps.iter().rposition(in_pair).unwrap_or(0);
    let from = (last + EVENTS_MAX / 4 + 1).saturating_sub(EVENTS_MAX);
    let from = from.min(run.steps.len().saturating_sub(EVENTS_MAX));
    let number = |at: usize| run.first + at + 1;
    let steps = run.steps.iter().enumerate().skip(from).take(EVENTS_MAX);
    steps.map(|(at, step)| (number(at), step)).collect()
}

/// Returns what tells each event from the others: its name, and its number among equal ones.
fn keys<'a>(row: &[(usize, &'a RunStep)]) -> Vec<(&'a str, u32)> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let key = |(_, step): &(usize, &'a RunStep)| {
        let count = counts.entry(&step.what).or_default();
        *count += 1;
        (step.what.as_str(), *count)
    };
    row.iter().map(key).collect()
}

fn places<'a>(row: &[(usize, &'a RunStep)]) -> BTreeMap<(&'a str, u32), usize> {
    keys(row).into_iter().enumerate().map(|(at, key)| (key, at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(order: &[(&str, Option<Mark>)]) -> Run {
        let step = |(what, mark): &(&str, Option<Mark>)| RunStep {
            what: (*what).to_owned(),
            mark: *mark,
            ..RunStep::default()
        };
        Run { steps: order.iter().map(step).collect(), ..Run::default() }
    }

    #[test]
    fn the_pair_crosses_and_everything_is_inside() {
        let (a, b) = (("<load>", Some(Mark::First)), ("click", Some(Mark::Second)));
        let rest: Vec<(&str, Option<Mark>)> = vec![("x", None); 60];
        let before: Vec<_> = rest.iter().copied().chain([a, b]).collect();
        let after: Vec<_> = rest.iter().copied().chain([b, a]).collect();
        let text = markup(&run(&before), "one", &run(&after), "</svg>").into_string();
        let tree = roxmltree::Document::parse(&text).expect("well-formed");
        let svg = tree.descendants().find(|node| node.has_tag_name("svg")).expect("a drawing");
        let of = |tag: &str| svg.descendants().filter(|node| node.has_tag_name(tag)).count();
        assert_eq!((of("rect"), of("path")), (2 * EVENTS_MAX, EVENTS_MAX));
        assert_eq!(text.matches("path class=\"a\"").count(), 1);
        assert_eq!(markup(&run(&[]), "", &run(&[a]), "").into_string(), "");
    }
}
