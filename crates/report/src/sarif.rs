//! SARIF 2.1.0 for code scanning services.
//!
//! Section numbers (§) refer to <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use crate::json::{Audience, write_value};
use crate::limits;
use crate::source;
use crate::words;
use anyorder_common::text::escape;
use anyorder_finding::{Finding, Input, Outcome, Severity, Site, WarningKind, explain};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the result as one SARIF log with one run, and a newline. It writes results one by one, so
/// memory holds one finding.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run::new(outcome)],
    };
    write_value(&log, Audience::Any, out)?;
    out.write_all(b"\n")
}

/// The whole log, with its only run.
#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Value,
    invocations: [Value; 1],
    column_kind: &'static str,
    results: Results<'a>,
}

/// The results of the run, with the positions of their rules.
struct Results<'a>(&'a Outcome, BTreeMap<String, usize>);

impl Run<'_> {
    fn new(outcome: &Outcome) -> Run<'_> {
        let mut samples: BTreeMap<String, &Finding> = BTreeMap::new();
        for finding in &outcome.findings {
            samples.entry(rule_id(finding)).or_insert(finding);
        }
        let rules: Vec<Value> = samples.iter().map(|(id, finding)| rule(id, finding)).collect();
        let indices = samples.into_keys().enumerate().map(|(index, id)| (id, index)).collect();
        Run {
            tool: json!({ "driver": {
                "name": escape(&outcome.tool), "version": escape(&outcome.version), "rules": rules,
            }}),
            invocations: [invocation(outcome)],
            column_kind: "unicodeCodePoints",
            results: Results(outcome, indices),
        }
    }
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Results(outcome, indices) = self;
        // With several inputs, each finding names its own.
        let first = outcome.inputs.first();
        serializer.collect_seq(outcome.findings.iter().map(|finding| {
            let index = indices.get(&rule_id(finding)).copied().unwrap_or_default();
            let of_finding = |path: &String| outcome.inputs.iter().find(|one| one.path == *path);
            let input = finding.input.as_ref().and_then(of_finding).or(first);
            result(finding, index, input.map(artifact))
        }))
    }
}

/// The file of an input. A program's file, not the command that starts it.
fn artifact(input: &Input) -> &str {
    input.file.as_deref().unwrap_or(&input.path)
}

/// Returns the file of a site. Programs report the last part of their own path: it is the input.
fn file_of<'a>(site: &'a Site, input: Option<&'a str>) -> Option<&'a str> {
    let Some(file) = site.file.as_deref() else { return input };
    let is_input = |input: &&str| input.rsplit(['/', '\\']).next() == Some(file);
    Some(input.filter(is_input).unwrap_or(file))
}

/// Returns the id of a finding's rule: its kind and category.
fn rule_id(finding: &Finding) -> String {
    match &finding.category {
        Some(category) => escape(&format!("{}/{category}", finding.kind)).into_owned(),
        None => finding.kind.to_string(),
    }
}

/// Describes a rule with the texts of `anyorder explain` (§3.49).
fn rule(id: &str, sample: &Finding) -> Value {
    let topic = sample.category.as_deref().and_then(explain);
    let full = topic.or_else(|| explain(sample.kind.word())).unwrap_or_default();
    let (short, help) = full.split_once("\n\n").unwrap_or((full, full));
    let short = short.split_once(": ").map_or(short, |(_, rest)| rest);
    json!({
        "id": id,
        "shortDescription": message(short),
        "fullDescription": message(short),
        "help": { "text": help },
        "defaultConfiguration": { "level": level(Severity::Warning) },
    })
}

/// States whether the search completed (§3.20).
fn invocation(outcome: &Outcome) -> Value {
    let note = |text: &str| json!({ "level": "warning", "message": message(text) });
    let cuts = limits::cuts(outcome).into_iter().map(|cut| note(&cut));
    let bounds = limits::bounds(outcome)
        .into_iter()
        .map(|bound| json!({ "level": "note", "message": message(&bound) }));
    let warnings = outcome.warnings.iter().map(|warning| {
        let level = if warning.kind == WarningKind::Odd { "note" } else { "warning" };
        let text = format!("{}: {}", warning.kind, words::warning(outcome, warning));
        let mut note = json!({ "level": level, "message": message(&text) });
        note["descriptor"] = json!({ "id": warning.kind.word() });
        if let Some(input) = &warning.input {
            let named = outcome.inputs.iter().find(|one| one.path == *input);
            let file = named.map_or(input.as_str(), artifact);
            let location = json!({ "artifactLocation": { "uri": uri(file) } });
            note["locations"] = json!([{ "physicalLocation": location }]);
        }
        note
    });
    let rests = words::ignored_input(outcome).map(|text| note(&text));
    let notes: Vec<Value> = cuts.chain(bounds).chain(warnings).chain(rests).collect();
    json!({ "executionSuccessful": true, "toolExecutionNotifications": notes })
}

/// Makes the result of a finding (§3.27). `input` replaces the file of sites without one.
fn result(finding: &Finding, rule_index: usize, input: Option<&str>) -> Value {
    let mut sites =
        finding.sites.iter().map(|site| location(site, site_text(finding, site), input));
    let first: Vec<Value> = sites.next().into_iter().collect();
    let others = finding.related.iter().filter(|one| one.site.file.is_some());
    let others = others.map(|one| location(&one.site, one.text.clone(), input));
    let related: Vec<Value> = sites
        .chain(others)
        .enumerate()
        .map(|(index, mut location)| {
            location["id"] = json!(index + 1);
            location
        })
        .collect();
    let mut text = finding.title.clone();
    for (index, site) in finding.sites.iter().enumerate() {
        text.push_str(&format!("\n{}. {}", index + 1, site_text(finding, site)));
    }
    for related in &finding.related {
        let at = related.site.place().map(|place| format!(" at {place}")).unwrap_or_default();
        text.push_str(&format!("\n{}: {}{at}", related.kind, related.text));
    }
    let mut marks = words::marks(finding);
    marks.extend(words::pairs(finding));
    text.push_str(&format!("\n{}", marks.join(" · ")));
    let mut properties = json!({ "harm": finding.harm, "marks": visible_all(&marks) });
    if finding.pairs_total > 0 {
        properties["pairs_total"] = json!(finding.pairs_total);
    }
    if let Some(coverage) = finding.coverage {
        properties["coverage"] = json!(coverage);
    }
    if let Some(group) = &finding.group {
        properties["group"] = json!(escape(group));
    }
    let mut result = json!({
        "ruleId": rule_id(finding),
        "ruleIndex": rule_index,
        "level": level(finding.severity),
        "message": message(&text),
        "locations": first,
        "partialFingerprints": { "anyorderFindingId/v1": finding.id },
        "properties": properties,
    });
    if !related.is_empty() {
        result["relatedLocations"] = Value::Array(related);
    }
    let stacks = stacks(finding);
    if !stacks.is_empty() {
        result["stacks"] = Value::Array(stacks);
    }
    if let Some(flow) = code_flow(finding, input) {
        result["codeFlows"] = json!([flow]);
    }
    let suppressions = suppressions(finding);
    if !suppressions.is_empty() {
        result["suppressions"] = Value::Array(suppressions);
    }
    result
}

/// Makes the call stacks of the sites, and of what they are about (§3.44). Only for findings that
/// say what they are about: a trace may have many thousands with long stacks, which take more
/// memory than a limit leaves for the report.
fn stacks(finding: &Finding) -> Vec<Value> {
    if finding.related.is_empty() {
        return Vec::new();
    }
    let of_sites = finding.sites.iter().map(|site| (site_text(finding, site), site));
    let of_related = finding.related.iter().map(|one| (one.text.clone(), &one.site));
    let known = of_sites.chain(of_related).filter(|(_, site)| !site.stack.is_unknown());
    let frame = |position: &String| {
        let site = read_position(position);
        json!({ "location": location(&site, position.clone(), None) })
    };
    let stack = |(text, site): (String, &Site)| {
        let frames: Vec<Value> = site.stack.iter().map(frame).collect();
        json!({ "message": message(&text), "frames": frames })
    };
    known.map(stack).collect()
}

/// Reads a position of a call stack: `main.c:12:3 in f`. What has no line stays a text.
fn read_position(text: &str) -> Site {
    let (place, function) = match text.rsplit_once(" in ") {
        Some((place, function)) => (place, Some(function.to_owned())),
        None => (text, None),
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let split = |text: &'_ str| text.rsplit_once(':').map(|(a, b)| (a.to_owned(), number(b)));
    let (file, line, column) = match split(place) {
        Some((rest, Some(last))) => match split(&rest) {
            Some((file, Some(line))) => (Some(file), Some(line), Some(last)),
            _ => (Some(rest), Some(last), None),
        },
        _ => (None, None, None),
    };
    Site { file, line, column, function, ..Site::default() }
}

/// Makes one thread flow for each site, from the root of its chain of posts to the site (§3.36).
fn code_flow(finding: &Finding, input: Option<&str>) -> Option<Value> {
    if finding.sites.iter().all(|site| site.chain.is_empty()) {
        return None;
    }
    let flow = |(index, site): (usize, &Site)| {
        let posts = site.chain.iter().rev().map(|post| json!({ "message": message(post) }));
        let steps = posts.chain([location(site, site_text(finding, site), input)]);
        let steps: Vec<Value> = steps.map(|location| json!({ "location": location })).collect();
        json!({ "id": format!("{}", index + 1), "locations": steps })
    };
    let flows: Vec<Value> = finding.sites.iter().enumerate().map(flow).collect();
    Some(json!({ "threadFlows": flows }))
}

/// States why a finding does not count (§3.35).
fn suppressions(finding: &Finding) -> Vec<Value> {
    let because = |why: &str| json!({ "kind": "external", "justification": escape(why) });
    let mut all = Vec::new();
    if let Some(mark) = &finding.suppressed {
        all.push(because(mark.reason.as_deref().unwrap_or("suppressed in anyorder.toml")));
    }
    if finding.baseline {
        all.push(because("in the baseline"));
    }
    all
}

/// Makes a location (§3.28): physical if the file is known, and logical by task and handler.
fn location(site: &Site, text: String, input: Option<&str>) -> Value {
    let mut location = json!({ "message": message(&text) });
    if let Some(file) = file_of(site, input) {
        let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
        // Positions in the input's program are not positions in the input itself.
        if let (Some(_), Some(line)) = (&site.file, site.line.filter(|line| *line > 0)) {
            physical["region"] = json!({ "startLine": line });
            if let Some(column) = site.column.filter(|column| *column > 0) {
                physical["region"]["startColumn"] = json!(column);
            }
            if let (Some(text), Some(source)) = (source::line(site), &site.source) {
                physical["region"]["snippet"] = json!({ "text": text });
                let (last, whole) = source::whole(source);
                physical["contextRegion"] = json!({
                    "startLine": source.first, "endLine": last, "snippet": { "text": whole },
                });
            }
        }
        location["physicalLocation"] = physical;
    }
    let mut logical = Vec::new();
    for (name, kind) in
        [(&site.handler, "handler"), (&site.task, "task"), (&site.label, "position")]
    {
        // The physical location already shows a label that is the position itself.
        let is_shown = kind == "position" && site.file.is_some() && site.label == site.position();
        if let Some(name) = name.as_ref().filter(|_| !is_shown) {
            logical.push(json!({ "name": escape(name), "kind": kind }));
        }
    }
    if !logical.is_empty() {
        location["logicalLocations"] = Value::Array(logical);
    }
    location
}

/// Describes the event at a site in one phrase.
fn site_text(finding: &Finding, site: &Site) -> String {
    let mut text = words::access(site).to_owned();
    let (on, handler) = words::of_handler(finding);
    let on = format!("{on} {handler}");
    for (what, part) in [
        ("in", &site.function),
        ("of", &site.location),
        ("in task", &site.task),
        (&on, &site.handler),
        ("event", &site.event),
    ] {
        if let Some(part) = part {
            text.push_str(&format!(" {what} `{part}`"));
        }
    }
    if let Some(allocated) = site.allocated_at() {
        text.push_str(&format!(", {allocated}"));
    }
    text
}

/// Makes a plain-text message. Brackets are escaped, since they would be links (§3.11.6).
fn message(text: &str) -> Value {
    let mut safe = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        for c in escape(line).chars() {
            if matches!(c, '[' | ']' | '\\') {
                safe.push('\\');
            }
            safe.push(c);
        }
        safe.push_str(end);
    }
    json!({ "text": safe })
}

/// Makes a valid relative or absolute URI reference from a path. No part of it can be a scheme, a
/// query or a host.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for (position, byte) in path.bytes().enumerate() {
        let byte = if byte == b'\\' { b'/' } else { byte };
        match byte {
            // A second slash at the start would turn the next part into a host.
            b'/' if position == 1 && out == "/" => {}
            b'/' | b'.' | b'-' | b'_' | b'~' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Returns the level for a severity (§3.27.10).
const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn visible_all(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| escape(text).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris_without_scheme_host_or_query() {
        for (path, expected) in [
            ("src/app.js", "src/app.js"),
            ("javascript:alert(1)", "javascript%3Aalert%281%29"),
            ("//evil.example/x", "/evil.example/x"),
            ("\\\\evil\\x", "/evil/x"),
            ("a b?c#d%e", "a%20b%3Fc%23d%25e"),
            ("ä", "%C3%A4"),
        ] {
            assert_eq!(uri(path), expected);
        }
    }

    #[test]
    fn brackets_in_messages_are_no_links() {
        assert_eq!(
            message("a [x](http://y)\n\x1b"),
            json!({ "text": "a \\[x\\](http://y)\n\\\\u{1b}" })
        );
    }
}
