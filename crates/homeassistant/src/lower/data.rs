//! The values that what a trigger brings is compared with: all constants of the templates of an
//! automation, and another value.

use super::table::OTHER;
use super::template::mentions;
use crate::syntax::{Automation, shown_number};
use crate::yaml::is_template;

/// The most values.
const VALUES_MAX: usize = 16;

/// Returns the values for an automation.
pub(super) fn compared(automation: &Automation) -> Vec<String> {
    let mut texts = Vec::new();
    let written = format!("{:?}{:?}", automation.conditions, automation.actions);
    let variables = automation.variables.iter().filter_map(|(_, value)| value.scalar());
    for text in variables {
        add(&text, &mut texts);
    }
    // The templates are the quoted texts of the tree.
    for text in written.split("\"").filter(|text| is_template(text)) {
        add(&text.replace("\\", ""), &mut texts);
    }
    texts.truncate(VALUES_MAX);
    texts.push(OTHER.to_owned());
    texts
}

fn add(template: &str, texts: &mut Vec<String>) {
    let found = mentions(template);
    let numbers = found.numbers.iter().map(|number| shown_number(*number));
    for text in found.texts.into_iter().chain(numbers) {
        let text = text.strip_suffix(".0").map_or(text.clone(), str::to_owned);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
}
