//! Line plots as SVG: a vertical axis with powers of ten, shared by panels that stand side by side.

#![allow(unreachable_pub, reason = "a bench is no library")]

use std::fmt::Write;

/// A line.
pub struct Series {
    pub name: &'static str,
    pub points: Vec<(f64, f64)>,
}

/// One plot.
pub struct Panel {
    pub title: String,
    /// Whether the horizontal axis goes by factors of ten.
    pub log: bool,
    pub series: Vec<Series>,
}

const WIDTH: f64 = 290.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 64.0;
const GAP: f64 = 46.0;
const BOTTOM: f64 = 54.0;

/// The palette of Okabe and Ito is safe for colour-blind readers; marks also distinguish the lines.
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];

/// Draws the panels.
pub fn svg(title: &str, panels: &[Panel]) -> String {
    let count = panels.len() as f64;
    let width = LEFT + count * WIDTH + (count - 1.0) * GAP + 24.0;
    let height = TOP + HEIGHT + BOTTOM;
    let values = || panels.iter().flat_map(|panel| &panel.series).flat_map(|s| &s.points);
    let low = values().map(|p| p.1).fold(f64::INFINITY, f64::min).max(1e-3).log10().floor();
    let high = values().map(|p| p.1).fold(1e-3, f64::max);
    let scale = Scale { low, high: nice(high).log10() };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\" font-weight=\"600\">{title}</text>\n"
    );
    legend(&mut out, &panels[0]);
    for (i, panel) in panels.iter().enumerate() {
        draw(&mut out, panel, &scale, LEFT + i as f64 * (WIDTH + GAP));
    }
    out.push_str("</svg>\n");
    out
}

/// The vertical axis, in powers of ten.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn y(&self, value: f64) -> f64 {
        TOP + HEIGHT * (1.0 - (value.max(1e-3).log10() - self.low) / (self.high - self.low))
    }

    fn ticks(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        for power in self.low as i32..=self.high.ceil() as i32 {
            ticks.extend([1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)));
        }
        ticks.retain(|tick| tick.log10() <= self.high + 1e-9);
        ticks
    }
}

/// The next of 1, 2, 5, 10, ... above.
fn nice(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|n| *n >= value)
        .unwrap_or(value)
}

fn legend(out: &mut String, panel: &Panel) {
    let mut x = LEFT;
    for (series, colour) in panel.series.iter().zip(COLOURS) {
        let which = COLOURS.iter().position(|c| *c == colour).unwrap_or(0);
        let _ = writeln!(out, "<path d=\"M{x} 39h22\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        mark(out, which, (x + 11.0, 39.0));
        let _ = writeln!(out, "<text x=\"{}\" y=\"43\">{}</text>", x + 28.0, series.name);
        x += 52.0 + 7.0 * series.name.len() as f64;
    }
}

fn draw(out: &mut String, panel: &Panel, scale: &Scale, left: f64) {
    for tick in scale.ticks() {
        let y = scale.y(tick);
        let _ = writeln!(out, "<path d=\"M{left} {y:.1}h{WIDTH}\" stroke=\"#e3e3e3\"/>");
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{tick}</text>",
            left - 6.0,
            y + 4.0
        );
    }
    let Some(first) = panel.series.first() else { return };
    let place = |x: f64| if panel.log { x.log10() } else { x };
    let low = first.points.first().map_or(0.0, |point| place(point.0));
    let high = first.points.last().map_or(1.0, |point| place(point.0));
    let to_x = |x: f64| left + 10.0 + (WIDTH - 20.0) * (place(x) - low) / (high - low);
    let bottom = TOP + HEIGHT;
    let _ = writeln!(out, "<path d=\"M{left} {bottom}h{WIDTH}\" stroke=\"#555\"/>");
    for (x, _) in &first.points {
        let at = to_x(*x);
        let _ = writeln!(out, "<path d=\"M{at:.1} {bottom}v4\" stroke=\"#555\"/>");
        let _ = writeln!(
            out,
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#555\">{x}</text>",
            bottom + 18.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        left + WIDTH / 2.0,
        bottom + 40.0,
        panel.title
    );
    for (which, series) in panel.series.iter().enumerate() {
        let points: Vec<(f64, f64)> =
            series.points.iter().map(|(x, y)| (to_x(*x), scale.y(*y))).collect();
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            line.join(" "),
            COLOURS[which % 4]
        );
        for point in points {
            mark(out, which % 4, point);
        }
    }
}

/// A disc, a square, a triangle or a diamond.
fn mark(out: &mut String, which: usize, (x, y): (f64, f64)) {
    let colour = COLOURS[which];
    let path = match which {
        0 => format!("M{:.1} {y:.1}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", x - 3.5),
        1 => format!("M{:.1} {:.1}h6.4v6.4h-6.4z", x - 3.2, y - 3.2),
        2 => format!("M{:.1} {:.1}l4 7h-8z", x, y - 4.2),
        _ => format!("M{:.1} {:.1}l4 4l-4 4l-4 -4z", x, y - 4.0),
    };
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"0.7\"/>"
    );
}
