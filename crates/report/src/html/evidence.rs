//! What a page showed in both orders: pictures with a slider between them, texts line by line, the
//! lines of the conflicting accesses, and the two orders as a strip.

use super::finding::{lines, place};
use super::page::safe;
use super::strip;
use anyorder_finding::Site;
use anyorder_finding::run::{Comparison, Conflict, DifferenceLine, Picture, Run, TextDifference};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};

/// The most notes.
const NOTES_MAX: usize = 10;

/// Returns whether a comparison has more than its two runs.
pub(super) fn is_there(compared: &Comparison) -> bool {
    !compared.pictures.is_empty() || !compared.texts.is_empty() || !compared.conflicts.is_empty()
}

/// Makes the markup of what both runs showed.
pub(super) fn shown(compared: &Comparison) -> Markup {
    let moments =
        [("Right after A and B", &compared.after_pair), ("At the end", &compared.pictures)];
    let moments: Vec<_> =
        moments.into_iter().filter(|(_, pictures)| !pictures.is_empty()).collect();
    html! {
        @if !moments.is_empty() {
            h4 { "What the page shows" }
            div.seen.several[moments.len() > 1] {
                @for (title, pictures) in &moments { (slider(title, pictures)) }
            }
        }
    }
}

/// Two pictures. A script lays one over the other; without it, they are one below the other.
fn slider(title: &str, pictures: &[Picture]) -> Markup {
    let data = |png: &[u8]| format!("data:image/png;base64,{}", STANDARD.encode(png));
    let same = matches!(pictures, [one, other] if one.png == other.png);
    let shown = if same { &pictures[..1] } else { pictures };
    html! {
        section.slider {
            h5 { (title) }
            div.pair {
                @for (tone, picture) in ["a", "b"].iter().zip(shown) {
                    figure.(tone) {
                        figcaption { @if same { "Both orders" } @else { (safe(&picture.title)) } }
                        img src=(data(&picture.png)) alt=(format!("{title}: {}", safe(&picture.title)));
                    }
                }
                @if shown.len() == 2 {
                    input type="range" min="0" max="100" value="50" aria-label="How much of each order is shown";
                    div.bar-at {}
                }
            }
            @if same { p.same { "The picture is the same in both orders." } }
        }
    }
}

/// Makes the markup of the texts that differ.
pub(super) fn texts(compared: &Comparison) -> Markup {
    html! {
        @for text in &compared.texts {
            div.diff-title {
                b { (safe(&text.title)) }
                span.a { "− " (safe(&compared.before_title)) }
                span.b { "+ " (safe(&compared.after_title)) }
            }
            (difference(text))
        }
    }
}

fn difference(text: &TextDifference) -> Markup {
    let row = |tone: &str, sign: &str, line: &str| {
        html! { div.row.(tone) { span { (sign) } div { (safe(line)) } } }
    };
    html! {
        div.diff {
            @for line in &text.lines {
                @match line {
                    DifferenceLine::Both(line) => { (row("both", "", line)) }
                    DifferenceLine::Before(line) => { (row("before", "−", line)) }
                    DifferenceLine::After(line) => { (row("after", "+", line)) }
                    DifferenceLine::Gap(count) => { (row("gap", "⋮", &format!("{count} equal lines"))) }
                }
            }
            @if text.left_out > 0 { (row("gap", "⋮", &format!("{} more lines", text.left_out))) }
        }
    }
}

/// Makes the markup of the accesses by which the pair conflicts.
pub(super) fn conflicts(compared: &Comparison) -> Markup {
    html! {
        @if !compared.conflicts.is_empty() {
            h4 { "Where they conflict" }
            @for conflict in &compared.conflicts { (one(conflict)) }
        }
        @for note in compared.notes.iter().take(NOTES_MAX) { p.dim { (safe(note)) } }
    }
}

fn one(conflict: &Conflict) -> Markup {
    html! {
        div.conflict {
            code { (safe(&conflict.location)) }
            div.two-runs.beside {
                (frame("a", "A", &conflict.first))
                (frame("b", "B", &conflict.second))
            }
        }
    }
}

/// One access with its lines.
fn frame(tone: &str, sign: &str, site: &Site) -> Markup {
    let verb = match site.access.as_deref() {
        Some("read") => "reads it",
        Some("write") => "writes it",
        Some("rmw") => "reads and writes it",
        _ => "uses it",
    };
    html! {
        div.frame.(tone) {
            p {
                b { (sign) } " " (verb)
                @if let Some(place) = place(site) { " at " code { (safe(&place)) } }
                @else { ", in the browser or in code that is not rewritten" }
            }
            (lines(site))
        }
    }
}

/// Makes the markup of the two orders, one below the other, with the pair crossing.
pub(super) fn orders(run: &Run, compared: &Comparison) -> Markup {
    strip::markup(&compared.before, &compared.before_title, run, &compared.after_title)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(title: &str, png: &[u8]) -> Picture {
        Picture { title: title.to_owned(), png: png.to_vec() }
    }

    #[test]
    fn pictures_are_in_the_page_itself_and_equal_ones_are_there_once() {
        let compared = Comparison {
            pictures: vec![picture("<before>", b"abc"), picture("after", b"abd")],
            after_pair: vec![picture("<before>", b"abc"), picture("after", b"abc")],
            ..Comparison::default()
        };
        let text = shown(&compared).into_string();
        assert_eq!(text.matches("src=\"data:image/png;base64,YWJj\"").count(), 2, "{text}");
        assert_eq!(text.matches("type=\"range\"").count(), 1, "{text}");
        assert!(text.contains("same in both orders") && !text.contains("<before>"), "{text}");
        assert_eq!(shown(&Comparison::default()).into_string(), "");
    }

    #[test]
    fn texts_and_lines_are_escaped() {
        let lines = vec![
            DifferenceLine::Gap(3),
            DifferenceLine::Before("<script>alert(1)</script>".to_owned()),
            DifferenceLine::After("</div>\u{202e}".to_owned()),
        ];
        let site = Site {
            file: Some("<b>.js".to_owned()),
            line: Some(3),
            access: Some("write".to_owned()),
            ..Site::default()
        };
        let location = "</code><script>".to_owned();
        let conflict = Conflict { location, first: site.clone(), second: Site::default() };
        let text = TextDifference { title: "<i>".to_owned(), lines, left_out: 2 };
        let compared = Comparison {
            texts: vec![text],
            conflicts: vec![conflict],
            notes: vec!["<u>".to_owned()],
            ..Comparison::default()
        };
        let page =
            format!("{}{}", texts(&compared).into_string(), conflicts(&compared).into_string());
        for hostile in ["<script", "</div>\u{202e}", "<i>", "<u>", "<b>.js"] {
            assert!(!page.contains(hostile), "{hostile}: {page}");
        }
        roxmltree::Document::parse(&format!("<div>{page}</div>")).expect("well-formed");
    }
}
