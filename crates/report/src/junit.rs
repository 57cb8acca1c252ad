//! JUnit XML for services that show test results: one test case a finding.

use crate::escape::xml;
use crate::limits;
use crate::words;
use anyorder_finding::{Finding, Outcome, Policy};
use std::io::{self, Write};

/// Writes the result as one test suite. A finding that counts is a failure; one that is suppressed
/// or in the baseline is skipped; any other passes, with its text as output. One more test case
/// represents the search as a whole. It has an error where a limit ended the search.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write(outcome: &Outcome, policy: &Policy, out: &mut dyn Write) -> io::Result<()> {
    let understood = usize::from(words::grave(outcome).next().is_some());
    let tests = outcome.findings.len() + 1 + understood;
    let words::Tally { counting: failures, excluded: skipped, .. } = words::tally(outcome, policy);
    let errors = u8::from(words::is_cut(outcome)) + u8::from(words::is_not_understood(outcome));
    let name = xml(&format!("{} {}", outcome.tool, outcome.command));
    let counts = format!(
        "name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\""
    );
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n <testsuite {counts}>"
    )?;
    search(outcome, out)?;
    warnings(outcome, out)?;
    for finding in &outcome.findings {
        case(finding, policy, out)?;
    }
    writeln!(out, " </testsuite>\n</testsuites>")
}

/// Writes the test case for the search as a whole.
fn search(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let class = xml(&outcome.command);
    if !words::is_cut(outcome) {
        return writeln!(out, "  <testcase classname=\"{class}\" name=\"search complete\"/>");
    }
    let limits = xml(&limits::cuts(outcome).join("; "));
    writeln!(
        out,
        "  <testcase classname=\"{class}\" name=\"search complete\">\n   <error message=\"{limits}\" type=\"limit\"/>\n  </testcase>"
    )
}

/// Writes a test case that lists parts of the inputs that are odd or were not understood, if any.
/// It has an error where the answer is open because of them.
fn warnings(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    if words::grave(outcome).next().is_none() {
        return Ok(());
    }
    let class = xml(&outcome.command);
    writeln!(out, "  <testcase classname=\"{class}\" name=\"input understood\">")?;
    if words::is_not_understood(outcome) {
        let message = "not everything of the input was understood";
        writeln!(out, "   <error message=\"{message}\" type=\"input\"/>")?;
    }
    writeln!(out, "   <system-out>")?;
    for warning in words::grave(outcome) {
        let text = format!("{}: {}", warning.kind, words::warning(outcome, warning));
        writeln!(out, "{}", xml(&text))?;
    }
    if let Some(rests) = words::ignored_input(outcome) {
        writeln!(out, "{}", xml(&rests))?;
    }
    writeln!(out, "   </system-out>\n  </testcase>")
}

/// Writes the test case of a finding.
fn case(finding: &Finding, policy: &Policy, out: &mut dyn Write) -> io::Result<()> {
    let class = match &finding.category {
        Some(category) => format!("{}.{category}", finding.kind),
        None => finding.kind.to_string(),
    };
    let title = xml(&finding.title);
    write!(
        out,
        "  <testcase classname=\"{}\" name=\"{title} [{}]\"",
        xml(&class),
        xml(&finding.id)
    )?;
    let place = finding.sites.iter().find(|site| site.file.is_some());
    if let Some(file) = place.and_then(|site| site.file.as_ref()).or(finding.input.as_ref()) {
        write!(out, " file=\"{}\"", xml(file))?;
    }
    if let Some(line) = place.and_then(|site| site.line) {
        write!(out, " line=\"{line}\"")?;
    }
    out.write_all(b">\n")?;
    if finding.is_excluded() {
        let reason = finding.suppressed.as_ref().map(|mark| mark.reason.as_deref());
        let reason = reason.map_or("in the baseline", |reason| reason.unwrap_or("suppressed"));
        writeln!(out, "   <skipped message=\"{}\"/>", xml(reason))?;
    } else if policy.counts(finding) {
        let severity = finding.severity;
        writeln!(out, "   <failure message=\"{title}\" type=\"{severity}\">")?;
        text(finding, out)?;
        out.write_all(b"   </failure>\n")?;
    } else {
        out.write_all(b"   <system-out>\n")?;
        text(finding, out)?;
        out.write_all(b"   </system-out>\n")?;
    }
    out.write_all(b"  </testcase>\n")
}

/// Writes the finding as text, one fact a line.
fn text(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let mut marks = words::marks(finding);
    marks.extend(words::pairs(finding));
    writeln!(out, "{}", xml(&marks.join(" · ")))?;
    if let Some(input) = &finding.input {
        writeln!(out, "{}", xml(&format!("in {input}")))?;
    }
    if let Some(group) = finding.group.as_ref().filter(|group| **group != finding.id) {
        writeln!(out, "{}", xml(&format!("of one mistake with finding {group}")))?;
    }
    for site in &finding.sites {
        let mut parts = vec![words::access(site).to_owned()];
        parts.extend(site.event.as_ref().map(|event| format!("event {event}")));
        parts.extend(site.place().map(|place| format!("at {place}")));
        parts.extend(site.location.as_ref().map(|location| format!("of `{location}`")));
        parts.extend(site.task.as_ref().map(|task| format!("in task `{task}`")));
        parts.extend(words::on_handler(finding, site));
        parts.extend(words::thread(site).map(|thread| format!("(thread `{thread}`)")));
        parts.extend(site.allocated_at());
        writeln!(out, "{}", xml(&parts.join(" ")))?;
        for post in &site.chain {
            writeln!(out, "  {}", xml(&format!("<- {post}")))?;
        }
    }
    for step in &finding.explanation {
        let rule = step.rule.as_ref().map(|rule| format!(" [{rule}]")).unwrap_or_default();
        writeln!(out, "{}", xml(&format!("- {}{rule}", step.text)))?;
    }
    if let Some(replay) = &finding.replay {
        writeln!(out, "{}", xml(&format!("replay: {replay}")))?;
    }
    Ok(())
}
