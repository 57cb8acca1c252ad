//! A run as a sequence diagram: a column for each handler and thread, a row for each step, an arrow
//! for each post.
//!
//! It uses only attributes and classes of the page's own style sheet, and no script.

use super::page::safe;
use crate::escape::clipped;
use crate::fold::folded;
use crate::run_table::sign;
use anyorder_finding::run::{Mark, Run, RunStep};
use maud::{Markup, html};

/// The most steps drawn. Of a longer run, the last ones are drawn, because the failure is at the
/// end.
const STEPS_MAX: usize = 200;

/// The most columns; all further lanes share the last one.
const LANES_MAX: usize = 24;

/// The most lines of effects next to a step.
const EFFECTS_MAX: usize = 8;

const STEP_COLUMN: usize = 44;
/// Many lanes become narrower, so that the effects stay on the page.
const LANE_WIDTH_MAX: usize = 172;
const LANE_WIDTH_MIN: usize = 112;
/// The least width of the column of effects. With few lanes, it takes the rest of the page.
const EFFECT_WIDTH: usize = 380;
const PAGE_WIDTH: usize = 1140;
/// The same for one of two diagrams side by side.
const HALF_WIDTH: usize = 556;
const HALF_EFFECT_WIDTH: usize = 210;
const HALF_LANE_WIDTH_MIN: usize = 96;
const HEAD: usize = 44;
const LINE: usize = 18;
const BOX: usize = 26;
/// The gap between the boxes of two lanes.
const BOX_SPACE: usize = 24;
const POST: usize = 30;
const GAP: usize = 14;

/// The space above a row that says that the run repeats from there.
const REPEAT: usize = 22;

/// The number of characters that fit into the column of step names.
const NUMBER_CHARS: usize = 6;

/// The number of characters that fit into the last line.
const END_CHARS: usize = 110;

/// The width of a character of the font.
const CHAR_WIDTH: usize = 8;

/// The drawing of a step: its top, and the phrases next to it.
struct Row<'a> {
    number: usize,
    /// The number of omitted steps before it.
    left_out: usize,
    step: &'a RunStep,
    lane: usize,
    posts: Vec<(usize, String)>,
    effects: Vec<(bool, String)>,
    top: usize,
    height: usize,
}

/// Makes the diagram of a run, with its heading.
pub(super) fn markup(run: &Run) -> Markup {
    html! {
        h4 { "Run" }
        (start(run))
        (diagram(run, &run.lanes(), Room::Page))
    }
}

/// The values at the start of a run.
pub(super) fn start(run: &Run) -> Markup {
    html! {
        @if !run.start.is_empty() {
            p.dim.run-start {
                "Start: "
                @for (index, (name, value)) in run.start.iter().take(60).enumerate() {
                    @if index > 0 { ", " } code { (safe(&format!("{name} = {value}"))) }
                }
            }
        }
    }
}

/// The available width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Room {
    /// The full page.
    Page,
    /// About half of the page.
    Half,
}

/// Makes the diagram of a run, with the given lanes in the given order.
pub(super) fn diagram(run: &Run, lanes: &[&str], room: Room) -> Markup {
    let run = &folded(run);
    let shape = Shape::new(lanes.len(), room);
    let skipped = run.steps.len().saturating_sub(STEPS_MAX);
    let rows = rows(run, lanes, skipped);
    let bottom = rows.last().map_or(HEAD + GAP, |row| row.top + row.height);
    let width = shape.effects_at() + shape.effect_width();
    let height = bottom + if run.end.is_empty() { 0 } else { LINE + 12 };
    html! {
        @if run.first > 0 { p.dim.run-start { "The first " (run.first) " steps are the same in both runs." } }
        @if skipped > 0 { p.dim.run-start { "The first " (skipped) " steps are left out." } }
        div.sequence tabindex="0" role="group" aria-label="Sequence diagram" {
            svg width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(format!("{} steps", run.steps.len())) {
                @for (index, lane) in lanes.iter().enumerate().take(shape.columns) {
                    @let x = shape.centre(index);
                    line.life x1=(x) y1=(HEAD) x2=(x) y2=(bottom) {}
                    rect.lane x=(x - shape.box_width() / 2) y="8" width=(shape.box_width()) height="28" rx="6" {}
                    text.lane x=(x) y="27" text-anchor="middle" {
                        title { (safe(lane)) }
                        @if index + 1 == LANES_MAX && lanes.len() > LANES_MAX { (lanes.len() - index) " more" }
                        @else { (clipped(lane, shape.box_chars())) }
                    }
                }
                text.caption x=(shape.effects_at()) y="27" { "what it did" }
                @for row in &rows { (step(row, shape, run.first, run.repeats_from == Some(row.number - 1))) }
                @if !run.end.is_empty() {
                    text.end x="12" y=(bottom + LINE + 2) { title { (safe(&run.end)) } (clipped(&run.end.replace('`', ""), END_CHARS.min(width / CHAR_WIDTH))) }
                }
            }
        }
    }
}

/// The measures of a diagram.
#[derive(Clone, Copy)]
struct Shape {
    columns: usize,
    lane: usize,
    page: usize,
    effects: usize,
}

impl Shape {
    fn new(lanes: usize, room: Room) -> Shape {
        let columns = lanes.clamp(1, LANES_MAX);
        let (page, effects, least) = match room {
            Room::Page => (PAGE_WIDTH, EFFECT_WIDTH, LANE_WIDTH_MIN),
            Room::Half => (HALF_WIDTH, HALF_EFFECT_WIDTH, HALF_LANE_WIDTH_MIN),
        };
        let lane = page.saturating_sub(STEP_COLUMN + effects) / columns;
        Shape { columns, lane: lane.clamp(least, LANE_WIDTH_MAX), page, effects }
    }

    /// The middle of a column.
    fn centre(self, lane: usize) -> usize {
        STEP_COLUMN + lane * self.lane + self.lane / 2
    }

    fn box_width(self) -> usize {
        self.lane - BOX_SPACE
    }

    /// The number of characters that fit into a box.
    fn box_chars(self) -> usize {
        self.box_width() / CHAR_WIDTH
    }

    /// The left edge of the column of effects.
    fn effects_at(self) -> usize {
        STEP_COLUMN + self.columns * self.lane + 12
    }

    /// The width of the column of effects.
    fn effect_width(self) -> usize {
        self.page.saturating_sub(self.effects_at()).max(self.effects)
    }
}

fn rows<'a>(run: &'a Run, lanes: &[&str], skipped: usize) -> Vec<Row<'a>> {
    let at = |name: &str| {
        let found = lanes.iter().position(|lane| *lane == name);
        found.unwrap_or(0).min(LANES_MAX - 1)
    };
    let mut top = HEAD + GAP;
    let mut rows = Vec::new();
    for (number, step) in (1..).zip(&run.steps).skip(skipped) {
        let posts: Vec<(usize, String)> = step
            .posts
            .iter()
            .take(EFFECTS_MAX)
            .map(|post| (at(&post.to), post.what.clone()))
            .collect();
        let mut effects: Vec<(bool, String)> =
            step.changes.iter().map(|change| (false, change.words())).collect();
        let more = effects.len().saturating_sub(EFFECTS_MAX);
        effects.truncate(EFFECTS_MAX);
        if more > 0 {
            effects.push((false, format!("… and {more} more")));
        }
        effects.extend(step.inside.iter().map(|phrase| (false, phrase.clone())));
        effects.extend(step.failure.iter().map(|failure| (true, failure.clone())));
        if effects.is_empty() && posts.is_empty() {
            effects.extend(
                step.reads.iter().map(|(name, value)| (false, format!("reads {name} = {value}"))),
            );
        }
        if effects.is_empty() && posts.is_empty() {
            effects.extend(step.place.iter().map(|place| (false, format!("at {place}"))));
        }
        if run.repeats_from == Some(number - 1) || step.left_out > 0 {
            top += REPEAT;
        }
        let height = (BOX + posts.len() * POST).max(effects.len() * LINE + 8) + GAP;
        rows.push(Row {
            number,
            left_out: step.left_out,
            step,
            lane: at(&step.lane),
            posts,
            effects,
            top,
            height,
        });
        top += height;
    }
    rows
}

fn step(row: &Row<'_>, shape: Shape, first: usize, repeats: bool) -> Markup {
    let x = shape.centre(row.lane);
    let title = row.step.title();
    html! {
        @if repeats {
            line.repeat x1="4" y1=(row.top - 8) x2=(shape.effects_at() + shape.effect_width() - 20) y2=(row.top - 8) {}
            text.repeat x=(shape.effects_at()) y=(row.top - 13) { "from here on for ever" }
        }
        @if row.left_out > 0 {
            text.repeat x=(STEP_COLUMN) y=(row.top - 10) { "… " (row.left_out) " more" }
        }
        @if let Some(mark) = row.step.mark {
            rect.mark.(tone(mark)) x="2" y=(row.top - 5) width=(shape.effects_at() + shape.effect_width() - 4) height=(row.height - 4) rx="6" {}
            text.mark.(tone(mark)) x="6" y=(row.top + 18) { (sign(mark)) }
        }
        text.step x=(STEP_COLUMN - 12) y=(row.top + 18) text-anchor="end" { title { (row.step.number.as_deref().map_or_else(String::new, safe)) } (number(row, first)) }
        rect.box.fails[row.step.failure.is_some()] x=(x - shape.box_width() / 2) y=(row.top) width=(shape.box_width()) height=(BOX) rx="5" {}
        text.task x=(x) y=(row.top + 18) text-anchor="middle" {
            title { (safe(&title)) } (clipped(&title, shape.box_chars()))
        }
        @for (index, (to, what)) in row.posts.iter().enumerate() {
            (arrow(x, shape.centre(*to), row.top + BOX + index * POST + 20, what))
        }
        @for (index, (fails, effect)) in row.effects.iter().enumerate() {
            text.effect.fails[*fails] x=(shape.effects_at()) y=(row.top + 18 + index * LINE) {
                title { (safe(effect)) } (clipped(effect, shape.effect_width() / CHAR_WIDTH))
            }
        }
    }
}

/// Returns the name of a step: its own, or its place in the run.
fn number(row: &Row<'_>, first: usize) -> String {
    match &row.step.number {
        Some(name) => clipped(name, NUMBER_CHARS).into_owned(),
        None => (first + row.number).to_string(),
    }
}

/// Returns the class of a step that takes part in a comparison.
pub(super) fn tone(mark: Mark) -> &'static str {
    match mark {
        Mark::First => "a",
        Mark::Second => "b",
        Mark::Only => "only",
    }
}

/// An arrow between columns, or back to its own, with the message above it.
fn arrow(from: usize, to: usize, y: usize, what: &str) -> Markup {
    let (path, head, at, anchor) = if from == to {
        let path = format!("M{from} {} h46 v12 h-40", y - 10);
        (path, format!("M{} {} l9 -5 v10 z", from + 2, y + 2), from + 52, "start")
    } else {
        let right = to > from;
        let end = if right { to - 2 } else { to + 2 };
        let back = if right { "l-9 -5 v10 z" } else { "l9 -5 v10 z" };
        (
            format!("M{from} {y} H{end}"),
            format!("M{end} {y} {back}"),
            usize::midpoint(from, to),
            "middle",
        )
    };
    let room = if from == to { 16 } else { (from.abs_diff(to) / 8).max(18) };
    html! {
        path.post d=(path) {}
        path.head d=(head) {}
        text.post x=(at) y=(if from == to { y } else { y - 5 }) text-anchor=(anchor) { title { (safe(what)) } (clipped(what, room)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::run::{Change, RunPost};

    fn run(steps: usize) -> Run {
        let step = |n: usize| RunStep {
            lane: if n.is_multiple_of(2) { "ui" } else { "<net>" }.to_owned(),
            what: format!("t{n}(\"<script>\")"),
            changes: vec![Change {
                name: "x".to_owned(),
                old: Some("0".to_owned()),
                new: Some("</svg>".to_owned()),
            }],
            posts: vec![RunPost { to: "<net>".to_owned(), what: "u\u{202e}".to_owned() }],
            ..RunStep::default()
        };
        Run {
            steps: (0..steps).map(step).collect(),
            repeats_from: Some(1),
            end: "a & b".to_owned(),
            ..Run::default()
        }
    }

    #[test]
    fn the_diagram_is_well_formed_whatever_the_names() {
        let text = format!("<div>{}</div>", markup(&run(3)).into_string());
        let tree = roxmltree::Document::parse(&text).expect("well-formed");
        let count = |class: &str| {
            tree.descendants()
                .filter(|node| {
                    node.attribute("class").is_some_and(|c| c.split(' ').any(|one| one == class))
                })
                .count()
        };
        assert_eq!((count("box"), count("life"), count("head")), (3, 2, 3));
        assert!(!text.contains("<script>") && !text.contains('\u{202e}'));
        assert!(text.contains("from here on for ever"));
    }

    #[test]
    fn nothing_is_drawn_outside_and_long_runs_are_cut() {
        let text = format!("<div>{}</div>", markup(&run(500)).into_string());
        assert!(text.contains("The first 300 steps are left out."), "{}", &text[..400]);
        let tree = roxmltree::Document::parse(&text).expect("well-formed");
        let svg = tree.descendants().find(|node| node.has_tag_name("svg")).expect("a drawing");
        let number = |node: roxmltree::Node<'_, '_>, name| {
            node.attribute(name).map_or(0, |n| n.parse::<usize>().expect("a number"))
        };
        let height = number(svg, "height");
        for node in svg.descendants().filter(|node| node.is_element() && *node != svg) {
            assert!(number(node, "y").max(number(node, "y2")) <= height);
        }
    }
}
