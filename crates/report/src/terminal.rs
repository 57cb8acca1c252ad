//! The report for people at a terminal: short, ranked, readable without colour at 80 columns.

use crate::limits;
pub use crate::run_table::Fit;

use crate::run_table;
use crate::source;
use crate::words;
use crate::wrap::wrap;
use anstyle::{AnsiColor, Style as Ansi};
use anyorder_common::numbers::{self, plural};
use anyorder_common::text::escape;
use anyorder_finding::run::{Run, Runs};
use anyorder_finding::{
    ExplanationStep, Finding, Kind, Outcome, Policy, Related, Severity, Site, Verdict,
};
use std::io::{self, Write};

/// Whether to use colours. Their meaning is fixed: red and yellow for severities, bold for
/// findings, dim for less important text. Colour alone never carries information.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Style {
    /// No escape sequences at all.
    #[default]
    Plain,
    /// With ANSI colours.
    Colour,
}

/// The most lines about ignored input.
const WARNINGS_MAX: usize = 5;

/// The most calls shown around a position.
const STACK_MAX: usize = 20;

/// The most findings listed below the one that stands for them.
const MEMBERS_MAX: usize = 100;

/// The options of the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextOptions {
    /// Whether to use colours.
    pub style: Style,
    /// The width in columns; at least 40 are used.
    pub width: usize,
    /// The most findings shown in full.
    pub findings_max: usize,
    /// The most lines shown of one chain of posts.
    pub chain_max: usize,
    /// Whether tables have whole names, and may be wider.
    pub full_names: bool,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions {
            style: Style::Plain,
            width: 80,
            findings_max: 10,
            chain_max: 6,
            full_names: false,
        }
    }
}

/// Writes the report: the inputs, the findings in the order of the result, and the verdict. A
/// finding that has a run shows it as a table instead of its explanation.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write(
    outcome: &Outcome,
    policy: &Policy,
    runs: &Runs,
    options: &TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = options.width.max(40);
    let mut page = Page {
        out,
        style: options.style,
        width,
        chain_max: options.chain_max,
        full_names: options.full_names,
    };
    page.header(outcome)?;
    if !outcome.findings.is_empty() {
        page.out.write_all(b"\n")?;
        page.line(Tone::Strong, 0, &words::summary(outcome, policy).join(", "))?;
    }
    let shown = words::shown_in_full(outcome);
    let members = words::Members::of(outcome);
    for (position, finding) in shown.iter().take(options.findings_max).enumerate() {
        page.out.write_all(b"\n")?;
        page.finding(position + 1, finding, runs.get(&finding.id))?;
        page.members(members.with(finding))?;
    }
    let more = shown.len().saturating_sub(options.findings_max);
    if more > 0 {
        let more = numbers::count(more as u64);
        page.out.write_all(b"\n")?;
        page.line(Tone::Plain, 0, &format!("… and {more} more (see --format json / --report)"))?;
    }
    if let Some(aside) = words::excluded_summary(outcome) {
        page.out.write_all(b"\n")?;
        page.line(Tone::Dim, 0, &format!("not shown: {aside} (see --format json / --report)"))?;
    }
    page.out.write_all(b"\n")?;
    page.warnings(outcome)?;
    page.verdict(outcome, policy)
}

/// Returns a run as a table that fits where names allow, one row a step, each with a line feed.
#[must_use]
pub fn table(run: &Run, fit: Fit) -> String {
    run_table::table(run, 0, fit)
}

/// The fixed meanings of colours.
#[derive(Clone, Copy)]
enum Tone {
    Plain,
    Strong,
    Dim,
    Good,
    Warning,
    Error,
}

impl Tone {
    fn ansi(self) -> Ansi {
        let colour = |colour: AnsiColor| Ansi::new().bold().fg_color(Some(colour.into()));
        match self {
            Tone::Plain => Ansi::new(),
            Tone::Strong => Ansi::new().bold(),
            Tone::Dim => Ansi::new().dimmed(),
            Tone::Good => colour(AnsiColor::Green),
            Tone::Warning => colour(AnsiColor::Yellow),
            Tone::Error => colour(AnsiColor::Red),
        }
    }

    fn of(severity: Severity) -> Tone {
        match severity {
            Severity::Note => Tone::Strong,
            Severity::Warning => Tone::Warning,
            Severity::Error => Tone::Error,
        }
    }
}

/// The destination of the report, its width and its colours.
struct Page<'a> {
    out: &'a mut dyn Write,
    style: Style,
    width: usize,
    chain_max: usize,
    full_names: bool,
}

impl Page<'_> {
    /// Returns text in a tone, with control characters made visible.
    fn toned(&self, tone: Tone, text: &str) -> String {
        let ansi = tone.ansi();
        match self.style {
            Style::Colour if ansi != Ansi::new() => format!("{ansi}{text}{ansi:#}"),
            _ => text.to_owned(),
        }
    }

    /// Writes one line from a column on. Continuation lines start at the same column.
    fn line(&mut self, tone: Tone, indent: usize, text: &str) -> io::Result<()> {
        self.entry(indent, "", tone, text)
    }

    /// Writes a line with a head and a text. Continuation lines start below the start of the text.
    fn entry(&mut self, indent: usize, head: &str, tone: Tone, text: &str) -> io::Result<()> {
        let column = indent + head.chars().count();
        let text = wrap(&escape(text), self.width, column, column);
        writeln!(self.out, "{:indent$}{head}{}", "", self.toned(tone, &text))
    }

    fn header(&mut self, outcome: &Outcome) -> io::Result<()> {
        for input in &outcome.inputs {
            let text = format!("{} ({})", input.path, input.format);
            let head = format!("{} {}  ", escape(&outcome.tool), escape(&outcome.command));
            self.entry(0, &head, Tone::Strong, &text)?;
        }
        let mut facts = words::sizes(outcome);
        if let Some(anyorder_finding::OptionValue::Text(rules)) = outcome.options.get("rules") {
            facts.push(format!("rules {rules}"));
        }
        facts.extend(words::elapsed(outcome));
        if facts.is_empty() { Ok(()) } else { self.line(Tone::Dim, 0, &facts.join(" · ")) }
    }

    fn finding(&mut self, number: usize, finding: &Finding, run: Option<&Run>) -> io::Result<()> {
        let severity = finding.severity;
        let number = format!("{number:>2}. ");
        let column = number.chars().count() + severity.word().len() + 2;
        let severity = self.toned(Tone::of(severity), severity.word());
        let title = wrap(&escape(&finding.title), self.width, column, 4);
        writeln!(self.out, "{number}{severity}: {}", self.toned(Tone::Strong, &title))?;
        let mut marks = words::marks(finding);
        marks.extend(words::pairs(finding));
        self.line(Tone::Dim, 4, &marks.join(" · "))?;
        if let Some(input) = &finding.input {
            self.entry(4, "in ", Tone::Plain, input)?;
        }
        for site in &finding.sites {
            self.site(finding, site)?;
        }
        for related in &finding.related {
            self.related(related)?;
        }
        let fit = Fit { width: self.width, full_names: self.full_names };
        let table = run.map(|run| run_table::table(run, 2, fit)).unwrap_or_default();
        // A prediction is shown in full: the locks held, the evidence of the run, the missing
        // order.
        let predicted = words::is_predicted(finding);
        let steps: &[_] = if run.is_some() && !predicted { &[] } else { &finding.explanation };
        if !predicted {
            self.out.write_all(table.as_bytes())?;
        }
        let (headed, others): (Vec<&ExplanationStep>, Vec<&ExplanationStep>) =
            steps.iter().partition(|step| words::predicted_head(finding, step).is_some());
        for step in headed {
            let head = words::predicted_head(finding, step).unwrap_or_default();
            self.entry(4, &format!("{head}: "), Tone::Plain, &step.text)?;
        }
        if !others.is_empty() {
            let is_race = finding.kind == Kind::Race && finding.coverage.is_some();
            let what = if is_race { "nearest orders:" } else { "because:" };
            self.line(Tone::Plain, 4, what)?;
        }
        for step in others {
            let rule = step.rule.as_ref().map(|rule| format!(" [{rule}]")).unwrap_or_default();
            self.entry(6, "- ", Tone::Plain, &format!("{}{rule}", step.text))?;
        }
        if predicted {
            self.out.write_all(table.as_bytes())?;
        }
        // Not wrapped, so that users can copy it.
        if let Some(replay) = &finding.replay {
            writeln!(self.out, "    replay: {}", escape(replay))?;
        }
        self.entry(4, "id ", Tone::Dim, &finding.id)
    }

    /// Writes a line for each finding with the same cause as another one.
    fn members(&mut self, members: &[&Finding]) -> io::Result<()> {
        let Some(first) = members.first() else { return Ok(()) };
        let what = numbers::plural(members.len() as u64, "finding");
        let head = match first.group_of_memory {
            true => format!("the same memory has {what} more:"),
            false => format!("the same missing order makes {what} more:"),
        };
        self.line(Tone::Plain, 4, &head)?;
        for member in members.iter().take(MEMBERS_MAX) {
            // Most titles name the places.
            let named = member.title.ends_with(')');
            let sites = member.sites.iter().filter(|_| !named);
            let positions: Vec<String> = sites.filter_map(Site::position).collect();
            let gap = if positions.is_empty() { "" } else { ", " };
            let at = positions.join(" and ");
            let text = format!("{}{gap}{at} (id {})", member.title, member.id);
            self.entry(6, &format!("- {}: ", member.severity), Tone::Plain, &text)?;
        }
        let more = members.len().saturating_sub(MEMBERS_MAX);
        if more > 0 {
            self.line(Tone::Plain, 6, &format!("… and {} more", numbers::count(more as u64)))?;
        }
        Ok(())
    }

    fn site(&mut self, finding: &Finding, site: &Site) -> io::Result<()> {
        let head = format!("{:<6} ", escape(words::access(site)));
        let mut place = Vec::new();
        place.extend(site.event.as_ref().map(|event| format!("event {event}")));
        let named = |at: &String| site.task.as_ref() != Some(at);
        place.extend(site.place().filter(named).map(|position| format!("at {position}")));
        place.extend(site.location.as_ref().map(|location| format!("of `{location}`")));
        let mut runner = Vec::new();
        runner.extend(site.task.as_ref().map(|task| format!("in task `{task}`")));
        runner.extend(words::on_handler(finding, site));
        runner.extend(words::thread(site).map(|thread| format!("(thread `{thread}`)")));
        // If only the task is known, it goes on the first line.
        let known = if place.is_empty() { std::mem::take(&mut runner) } else { place };
        self.entry(4, &head, Tone::Plain, &known.join(" "))?;
        for row in source::lines(site, 4, self.width) {
            writeln!(self.out, "{row}")?;
        }
        if site.source.as_ref().is_some_and(|source| source.newer) {
            self.line(Tone::Dim, 11, source::NEWER)?;
        }
        if !site.locks.is_empty() {
            let locks: Vec<String> = site.locks.iter().map(|lock| format!("`{lock}`")).collect();
            runner.push(format!("holding {}", locks.join(", ")));
        }
        if !runner.is_empty() {
            self.line(Tone::Plain, 11, &runner.join(" "))?;
        }
        if let Some(allocated) = site.allocated_at() {
            self.line(Tone::Plain, 11, &allocated)?;
        }
        self.stack(site)?;
        self.chain(&site.chain)
    }

    /// Writes the calls around a site: the innermost position is the site itself.
    fn stack(&mut self, site: &Site) -> io::Result<()> {
        for position in site.stack.iter().skip(1).take(STACK_MAX) {
            self.entry(11, "called at ", Tone::Plain, position)?;
        }
        let more = site.stack.len().saturating_sub(STACK_MAX + 1);
        if more > 0 {
            self.line(Tone::Dim, 11, &format!("… and {} more", plural(more as u64, "call")))?;
        }
        Ok(())
    }

    /// Writes what sites are about.
    fn related(&mut self, related: &Related) -> io::Result<()> {
        let at = related.site.place().map(|place| format!(" at {place}")).unwrap_or_default();
        let head = format!("{}: ", related.kind);
        self.entry(4, &head, Tone::Plain, &format!("{}{at}", related.text))?;
        self.stack(&related.site)
    }

    /// Writes a chain of posts. Of a long chain, it shows the posts next to the task and the root.
    fn chain(&mut self, chain: &[String]) -> io::Result<()> {
        let max = self.chain_max.max(2);
        let skipped = if chain.len() > max { chain.len() + 1 - max } else { 0 };
        let head = if skipped > 0 { max - 2 } else { chain.len() };
        for post in &chain[..head] {
            self.entry(11, "<- ", Tone::Plain, post)?;
        }
        if skipped > 0 {
            let skipped = numbers::plural(skipped as u64, "post");
            self.entry(11, "<- ", Tone::Dim, &format!("… {skipped} …"))?;
        }
        for post in &chain[head + skipped..] {
            self.entry(11, "<- ", Tone::Plain, post)?;
        }
        Ok(())
    }

    /// Lists the assumptions of the verdict.
    fn warnings(&mut self, outcome: &Outcome) -> io::Result<()> {
        for warning in words::grave(outcome).take(WARNINGS_MAX) {
            let head = format!("{}: ", warning.kind);
            self.entry(0, &head, Tone::Warning, &words::warning(outcome, warning))?;
        }
        let more = words::grave(outcome).count().saturating_sub(WARNINGS_MAX);
        if more > 0 {
            self.line(Tone::Plain, 0, &format!("… and {} more", numbers::count(more as u64)))?;
        }
        Ok(())
    }

    fn verdict(&mut self, outcome: &Outcome, policy: &Policy) -> io::Result<()> {
        let counting = words::tally(outcome, policy).counting;
        let tone = match outcome.verdict {
            Verdict::Ok | Verdict::Consistent | Verdict::Robust => Tone::Good,
            Verdict::Incomplete | Verdict::Unknown => Tone::Warning,
            _ => Tone::Error,
        };
        let verdict = self.toned(tone, outcome.verdict.word());
        let mut notes = Vec::new();
        if counting > 0 {
            notes.push(numbers::plural(counting, "finding") + " to look at");
        } else if !outcome.findings.is_empty() {
            notes.push("no finding counts".into());
        }
        notes.extend(limits::bounds(outcome));
        if words::is_cut(outcome) {
            notes.extend(limits::cuts(outcome));
        }
        notes.extend(words::ignored_input(outcome));
        let column = "verdict: ".len() + outcome.verdict.word().len();
        let notes = wrap(&escape(&notes.join("; ")), self.width, column + 2, 9);
        let gap = if notes.is_empty() { "" } else { "; " };
        writeln!(self.out, "verdict: {verdict}{gap}{notes}")
    }
}
