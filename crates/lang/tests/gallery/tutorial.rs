//! The tutorial: its models give what it shows.

use crate::gallery::run::machine;
use anyorder_search::{SearchOptions, search};
use anyorder_system::Control;
use std::fs;
use std::path::PathBuf;

/// The fenced blocks of a page: language and text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block does not end");
    blocks
}

#[test]
fn the_tutorial_shows_what_a_search_finds() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial.md");
    let page = fs::read_to_string(path).expect("the tutorial");
    let mut model = None;
    let mut runs = 0;
    for (language, text) in blocks(&page) {
        if language == "any" && text.starts_with("model ") {
            model = Some(text);
        } else if language == "console" {
            let model = model.as_deref().expect("a model before its run");
            check(model, &text);
            runs += 1;
        }
    }
    assert!(runs >= 5, "{runs} runs");
}

fn check(model: &str, shown: &str) {
    let machine = machine("search-box.any", model);
    let states_max = shown.contains("--max-states 1000").then_some(1000);
    let options = SearchOptions { states_max, ..SearchOptions::default() };
    let outcome = search(&machine, &options, &Control::default()).expect("a search");
    let (states, transitions) = (outcome.stats.states, outcome.stats.transitions);
    let shown = shown.replace(',', "");
    // What is shown was searched with reduction, which leaves states out.
    let numbers: Vec<u64> = shown
        .lines()
        .find(|line| line.contains(" states · "))
        .into_iter()
        .flat_map(|line| line.split(' ').filter_map(|word| word.parse().ok()))
        .collect();
    assert!(
        numbers.len() >= 2 && numbers[0] <= states && numbers[1] <= transitions,
        "{states} {transitions}: {shown}"
    );
    let verdict = match (outcome.complete, outcome.violations.first()) {
        (_, Some(found)) => {
            let steps = found.path.steps.len();
            // The last step of the table, which is the one before the outcome.
            let last = shown.lines().take_while(|line| !line.starts_with("    =>")).last();
            let last = last.and_then(|line| line.split_whitespace().next()).unwrap_or_default();
            assert_eq!(last, steps.to_string(), "{shown}");
            "findings"
        }
        (true, None) => "ok",
        (false, None) => "incomplete",
    };
    assert!(shown.contains(&format!("\nverdict: {verdict}")), "{verdict}: {shown}");
}
