//! The tutorial: every command in it prints what the page says.

use crate::common;

use common::{command, folder, ran, workspace};

/// A fenced block of a page: its language and its lines.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language, String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// Removes times from an output.
fn timeless(text: &str) -> String {
    let line = |line: &str| -> String {
        let parts: Vec<&str> = line.split(" · ").filter(|part| !part.ends_with(" ms")).collect();
        parts.join(" · ") + "\n"
    };
    text.lines().map(line).collect()
}

#[test]
fn the_commands_print_what_the_page_says() {
    let page = workspace().join("docs/tutorial.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let folder = folder();
    let mut commands = 0;
    for (language, text) in blocks(&page) {
        match language {
            // Fragments of a model also appear in the complete models.
            "any" if text.starts_with("model ") => {
                std::fs::write(folder.path().join("search-box.any"), text).expect("written");
            }
            "console" => {
                let (line, expected) = text.split_once('\n').expect("a command and its output");
                let words: Vec<&str> = line.split(' ').collect();
                assert_eq!(words[..2], ["$", "anyorder"], "{line}");
                let output = ran(command(&words[2..]).current_dir(folder.path()));
                assert_eq!(timeless(&output.stdout), timeless(expected), "{line}");
                let told = output.stderr.lines().filter(|line| !line.starts_with("note: "));
                assert_eq!(told.collect::<Vec<_>>(), [""; 0], "{line}");
                commands += 1;
            }
            _ => {}
        }
    }
    assert!(commands >= 5, "{commands} commands");
}
