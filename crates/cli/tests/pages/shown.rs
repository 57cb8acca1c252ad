//! What reports of pages show: a hostile page cannot run anything in them, and services get what
//! they need.

use super::{check, has_browser};
use crate::common::{command, folder, ran};
use anyorder_testkit::effort::is_due;
use serde_json::Value;
use std::process::Command;

/// Titles, texts, addresses and names that try to become code.
const HOSTILE: &str = r#"<!DOCTYPE html><title></title><p id="out"></p><script>
const evil = '</' + 'script></pre></style><script>document.body.dataset.pwned = 6 * 7</' + 'script>' +
  '<img src=x onerror="document.body.dataset.pwned = 6 * 7"><a href="javascript:alert(1)">x</a>';
document.title = evil;
const out = document.getElementById('out');
const ask = (path) => fetch(path).then((response) => response.text()).then((text) => {
  out.textContent = text + evil;
  console.error(evil + text);
  location.hash = 'javascript:' + text;
  localStorage.setItem(evil, text);
});
ask('a?"><script>document.body.dataset.pwned=42</script>');
ask("b?'onload='document.body.dataset.pwned=42");
</script>"#;

#[test]
fn a_hostile_page_runs_nothing_in_its_report() {
    if !is_due(1, 3) || !has_browser() {
        return;
    }
    let folder = folder();
    let name = "<img src=x onerror=document.body.dataset.pwned=42>.html";
    std::fs::write(folder.path().join(name), HOSTILE).expect("written");
    let page = folder.path().join(name).to_string_lossy().into_owned();
    let report = folder.path().join("report");
    let place = report.to_string_lossy();
    let ran = ran(&mut command(&["check", &page, "--budget", "0s", "--report", &place]));
    assert_eq!(ran.status, 1, "{ran:?}");
    let text = std::fs::read_to_string(report.join("index.html")).expect("a report");
    for raw in ["<img src=x", "<script>document", "href=\"javascript:"] {
        assert!(!text.contains(raw), "{raw}");
    }
    let policy = text.split("Content-Security-Policy").nth(1).expect("a policy");
    assert!(policy.contains("default-src &#39;none&#39;") || policy.contains("default-src 'none'"));
    let shown = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(report.join("index.html"))
        .output();
    let Ok(shown) = shown else {
        println!("skipped: the browser has another name");
        return;
    };
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("slider on"), "the report's own scripts run");
    assert!(!shown.contains("data-pwned"), "{shown}");
}

#[test]
fn services_get_the_place_of_a_finding_of_a_page() {
    if !is_due(2, 3) || !has_browser() {
        return;
    }
    let sarif = check("late_script", &["--format", "sarif"]);
    let value: Value = serde_json::from_str(&sarif.stdout).expect("JSON");
    let result = &value["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    let uri = place["artifactLocation"]["uri"].as_str().unwrap_or_default();
    assert!(uri.starts_with("examples/web/late_script/"), "{result}");
    assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 0), "{result}");
    let junit = check("late_script", &["--format", "junit"]);
    assert_eq!(junit.status, 1, "{junit:?}");
    assert_eq!(junit.stdout.matches("<failure").count(), 1, "{junit:?}");
    assert!(junit.stdout.contains("the field"), "{junit:?}");
}
