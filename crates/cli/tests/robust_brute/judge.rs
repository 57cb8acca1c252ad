//! Compares what the command says with what is true.

use crate::robust_brute::ast::Model;
use crate::robust_brute::conflicts::Answer;
use crate::robust_brute::replay::follow;
use crate::robust_brute::truth::Truth;
use serde_json::Value;
use std::collections::BTreeSet;

/// The answer that a result gives to one of the four questions.
fn said(result: &Value, question: &str) -> Option<String> {
    result["stats"][question].as_str().map(str::to_owned)
}

/// The name of an answer.
pub(crate) fn word(answer: Answer) -> &'static str {
    match answer {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    }
}

fn strings(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns what is wrong with a result. With `exact`, what could be decided must be.
pub(crate) fn faults(result: &Value, truth: &Truth, exact: bool) -> Vec<String> {
    let mut faults = Vec::new();
    // What is complete has all answers, whatever the limits.
    let exact = exact || result["complete"].as_bool() == Some(true);
    verdict(result, truth, exact, &mut faults);
    findings(result, truth, &mut faults);
    if result["stats"]["deterministic"].is_string() {
        properties(result, truth, exact, &mut faults);
    } else {
        by_findings(result, truth, &mut faults);
    }
    if truth.concurrent.complete {
        let bounded = strings(&result["bounds"]).contains(&"repeat".to_owned());
        // A search that found another outcome need not go on to all repeats.
        let needed = truth.concurrent.more && exact && result["verdict"] == "robust";
        if bounded && !truth.concurrent.more {
            faults.push("bounded by the repeats, but no event comes again".to_owned());
        }
        if needed && !bounded {
            faults.push("not bounded by the repeats, but an event comes again".to_owned());
        }
    }
    faults
}

/// Returns what is wrong with a refusal: all, unless the model cannot begin.
pub(crate) fn refused(message: &str, truth: &Truth) -> Vec<String> {
    if truth.never_begins && message.contains("init") {
        return Vec::new();
    }
    vec![format!("refused: {}", message.chars().take(200).collect::<String>())]
}

/// Returns what is wrong with the schedules of the findings.
pub(crate) fn schedules(result: &Value, model: &Model, truth: &Truth) -> Vec<String> {
    let mut faults = Vec::new();
    for finding in result["findings"].as_array().into_iter().flatten() {
        let harmful = finding["harm"] == "harmful";
        let choices = &finding["witness"]["inline"]["choices"];
        if !choices.is_array() {
            faults.push("a finding without a schedule".to_owned());
        }
        faults.extend(follow(model, truth, choices, harmful));
    }
    faults
}

fn verdict(result: &Value, truth: &Truth, exact: bool, faults: &mut Vec<String>) {
    let said = result["verdict"].as_str().unwrap_or_default();
    match (said, truth.robust()) {
        ("robust", Some(false)) => faults.push("wrong robust".to_owned()),
        ("not_robust", Some(true)) => faults.push("wrong not_robust".to_owned()),
        ("robust" | "not_robust", None) if truth.has_no_end() => {
            faults.push(format!("{said}, but no run ends"));
        }
        ("unknown", Some(_)) if exact => faults.push("unknown, but small".to_owned()),
        _ => {}
    }
    let limits = strings(&result["limits"]);
    if said == "unknown" && limits.is_empty() {
        faults.push("unknown without a limit".to_owned());
    }
    let complete = result["complete"].as_bool() == Some(true);
    if complete && said == "unknown" {
        faults.push("unknown, but complete".to_owned());
    }
}

/// Each finding has a run that replays; `not_robust` has one that is harmful.
fn findings(result: &Value, truth: &Truth, faults: &mut Vec<String>) {
    let mut harmful = 0;
    for finding in result["findings"].as_array().into_iter().flatten() {
        if finding["confirmed"] == false {
            faults.push("a finding that is not confirmed".to_owned());
        }
        if finding["sites"].as_array().is_none_or(Vec::is_empty) {
            faults.push("a finding without a place".to_owned());
        }
        match finding["harm"].as_str() {
            Some("harmful") => {
                harmful += 1;
                if truth.robust() == Some(true) {
                    faults.push("a harmful finding in a robust model".to_owned());
                }
            }
            Some("harmless") if finding["harm_class"] != "conflict_only" => {
                faults.push("harmless without a reason".to_owned());
            }
            _ => {}
        }
    }
    if result["verdict"] == "not_robust" && harmful == 0 {
        faults.push("not_robust without a harmful finding".to_owned());
    }
}

/// The answers by name.
fn properties(result: &Value, truth: &Truth, exact: bool, faults: &mut Vec<String>) {
    let questions = [
        ("deterministic", truth.all_deterministic()),
        ("serializable", truth.orders.serializable),
        ("start_order", truth.orders.start_order),
        ("states", truth.robust()),
    ];
    let mut open = false;
    for (question, right) in questions {
        let said = said(result, question).unwrap_or_default();
        open |= said == "unknown";
        let right = word(right);
        if said != right && said != "unknown" && right != "unknown" {
            faults.push(format!("{question}: {said}, right is {right}"));
        }
        if said == "unknown" && right != "unknown" && exact {
            faults.push(format!("{question}: open, right is {right}"));
        }
    }
    if open && result["complete"].as_bool() == Some(true) {
        faults.push("an open question, but complete".to_owned());
    }
    let named = result["stats"]["not_deterministic"].as_str().unwrap_or_default();
    let named: BTreeSet<&str> = named.split(", ").filter(|name| !name.is_empty()).collect();
    for (event, answer) in &truth.deterministic {
        match (named.contains(&**event), answer) {
            (true, Some(true)) => faults.push("an event named that is deterministic".to_owned()),
            (false, Some(false)) if exact => {
                faults.push("an event not named that is not deterministic".to_owned());
            }
            _ => {}
        }
    }
}

/// The answers of a binary that has only findings.
fn by_findings(result: &Value, truth: &Truth, faults: &mut Vec<String>) {
    let of = |wanted: &dyn Fn(&Value) -> bool| {
        result["findings"].as_array().into_iter().flatten().any(wanted)
    };
    let complete =
        result["complete"].as_bool() == Some(true) && strings(&result["bounds"]).is_empty();
    let order = |finding: &Value| finding["category"] == "start_order";
    let states = |finding: &Value| finding["category"] == "states";
    let serial = |finding: &Value| {
        finding["kind"] == "not_serializable" && !order(finding) && !states(finding)
    };
    for (question, found, right) in [
        ("deterministic", of(&|one| one["kind"] == "nondeterminism"), truth.all_deterministic()),
        ("serializable", of(&serial), truth.orders.serializable),
        ("start_order", of(&serial) || of(&order), truth.orders.start_order),
    ] {
        match right {
            Some(true) if found => faults.push(format!("{question}: no, right is yes")),
            Some(false) if !found && complete => {
                faults.push(format!("{question}: yes, right is no"));
            }
            _ => {}
        }
    }
    let mut named = BTreeSet::new();
    for finding in result["findings"].as_array().into_iter().flatten() {
        if finding["kind"] == "nondeterminism" {
            let from = finding["cycle"][0]["from"].as_str().unwrap_or_default();
            named.insert(from.split('#').next().unwrap_or_default());
        }
    }
    for (event, answer) in &truth.deterministic {
        match (named.contains(&**event), answer) {
            (true, Some(true)) => faults.push("an event named that is deterministic".to_owned()),
            (false, Some(false)) if complete => {
                faults.push("an event not named that is not deterministic".to_owned());
            }
            _ => {}
        }
    }
}
