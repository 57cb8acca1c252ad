//! Two runs that differ by one reversal, side by side, and its result.

use super::evidence;
use super::page::safe;
use super::sequence::{Room, diagram, start};
use anyorder_finding::run::{Comparison, Differing, Mark, Run};
use maud::{Markup, html};

/// The most tasks listed as skipped, late or new, and the most differences.
const LISTED_MAX: usize = 40;

/// With more lanes than this, one diagram is above the other.
const LANES_BESIDE_MAX: usize = 3;

/// Makes the markup of a run and of the run that it is compared with.
pub(super) fn markup(run: &Run, compared: &Comparison) -> Markup {
    let before = &compared.before;
    // Both sides have the same lanes in the same order.
    let mut lanes = before.lanes();
    for lane in run.lanes() {
        if !lanes.contains(&lane) {
            lanes.push(lane);
        }
    }
    let side_by_side = lanes.len() <= LANES_BESIDE_MAX;
    let room = if side_by_side { Room::Half } else { Room::Page };
    let marked = |run: &Run| run.steps.iter().any(|step| step.mark == Some(Mark::Only));
    let more = evidence::is_there(compared);
    html! {
        @if more { (evidence::shown(compared)) }
        (differences(&compared.differences))
        @if more { (evidence::texts(compared)) (evidence::conflicts(compared)) }
        @if !(before.steps.is_empty() && run.steps.is_empty()) {
            h4 { "The two runs" }
            p.dim.reversed {
                @if !compared.first.is_empty() {
                    span.sign.a { "A" } " " code { (safe(&compared.first)) } " "
                    span.sign.b { "B" } " " code { (safe(&compared.second)) }
                }
                @if marked(before) || marked(run) { " " span.sign.only { "+" } " only in this run" }
                @if !compared.locations.is_empty() {
                    " They conflict on "
                    @for (index, location) in compared.locations.iter().take(8).enumerate() {
                        @if index > 0 { ", " } code { (safe(location)) }
                    }
                    @if compared.locations.len() > 8 { " and " (compared.locations.len() - 8) " more" }
                    "."
                }
            }
            @if more { (evidence::orders(run, compared)) }
            (start(before))
            div.two-runs.beside[side_by_side] {
                (side(&compared.before_title, before, &lanes, room))
                (side(&compared.after_title, run, &lanes, room))
            }
        }
        (tasks("Skipped: planned, and could not run any more", &compared.skipped))
        (tasks("Late: could not run when their turn came, and ran afterwards", &compared.late))
        (tasks("New: ran and were not planned", &compared.new))
    }
}

fn side(title: &str, run: &Run, lanes: &[&str], room: Room) -> Markup {
    html! {
        section.one-run {
            h5 { (safe(title)) }
            @if run.steps.is_empty() { p.dim { "This run could not be shown." } }
            @else { (diagram(run, lanes, room)) }
        }
    }
}

/// The tasks of a list, if any.
fn tasks(title: &str, names: &[String]) -> Markup {
    html! {
        @if !names.is_empty() {
            h4 { (title) }
            ul.steps {
                @for name in names.iter().take(LISTED_MAX) { li { code { (safe(name)) } } }
                @if names.len() > LISTED_MAX { li.dim { "… " (names.len() - LISTED_MAX) " more" } }
            }
        }
    }
}

/// The differences of the two runs, and the result.
fn differences(differences: &[Differing]) -> Markup {
    let side = |text: &Option<String>| text.as_deref().map_or_else(|| "nothing".to_owned(), safe);
    html! {
        @if !differences.is_empty() {
            h4 { "What differs at the end" }
            div.scroll {
                table.differences {
                    thead { tr { th { "part" } th { "level" } th { "before" } th { "after" } } }
                    tbody {
                        @for one in differences.iter().take(LISTED_MAX) {
                            tr {
                                td { code { (safe(&one.path)) } }
                                td { (safe(&one.level)) }
                                td.before { (side(&one.before)) }
                                td.after { (side(&one.after)) }
                            }
                        }
                    }
                }
            }
            @if differences.len() > LISTED_MAX { p.dim { "… and " (differences.len() - LISTED_MAX) " more parts" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::run::RunStep;

    fn run(order: &[(&str, Option<Mark>)]) -> Run {
        let step = |(what, mark): &(&str, Option<Mark>)| RunStep {
            lane: "ui<b>".to_owned(),
            what: (*what).to_owned(),
            mark: *mark,
            ..RunStep::default()
        };
        Run { steps: order.iter().map(step).collect(), ..Run::default() }
    }

    #[test]
    fn both_runs_are_drawn_and_the_pair_is_marked() {
        let before = run(&[("load", Some(Mark::First)), ("<click>", Some(Mark::Second))]);
        let after = run(&[("<click>", Some(Mark::Second)), ("load", Some(Mark::First))]);
        let compared = Comparison {
            before,
            before_title: "Recorded run".to_owned(),
            after_title: "Reversed".to_owned(),
            first: "load".to_owned(),
            second: "<click>".to_owned(),
            skipped: vec!["late</ul>".to_owned()],
            differences: vec![Differing {
                path: "page/<x>".to_owned(),
                level: "output".to_owned(),
                before: Some("</td>".to_owned()),
                after: None,
            }],
            ..Comparison::default()
        };
        let text = format!("<div>{}</div>", markup(&after, &compared).into_string());
        let tree = roxmltree::Document::parse(&text).expect("well-formed");
        let count = |tag: &str| tree.descendants().filter(|node| node.has_tag_name(tag)).count();
        assert_eq!((count("svg"), count("tr"), count("li")), (2, 2, 1));
        assert_eq!(text.matches("class=\"mark a\"").count(), 4, "a band and a sign in each run");
        assert!(!text.contains("<click>"), "{text}");
    }
}
