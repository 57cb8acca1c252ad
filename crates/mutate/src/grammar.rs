//! What can be typed, as the binary itself says it: commands, options, and the values they take.

use std::io;
use std::path::Path;
use std::process::Command;

/// What an option takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// One of these words.
    OneOf(Vec<String>),
    /// A value described by the word between the angle brackets, such as `FILE`.
    Value(String),
}

/// One option, such as `--max-pairs <N>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionOf {
    /// The long name, with its dashes.
    pub name: String,
    /// What follows it.
    pub takes: Takes,
}

/// One command and its options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandOf {
    /// Its name.
    pub name: String,
    /// Its options, but `--help` and `--version`.
    pub options: Vec<OptionOf>,
    /// The words for which a position has a list, such as the families of `generate`.
    pub words: Vec<String>,
}

impl CommandOf {
    /// Returns whether the command has an option of that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.name == name)
    }
}

/// Asks the binary for its commands and their options.
///
/// # Errors
///
/// When the binary does not run, or its help names no command.
pub fn learn(binary: &Path) -> io::Result<Vec<CommandOf>> {
    let help = help(binary, &["--help"])?;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<&str> = listed
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    if names.is_empty() {
        return Err(io::Error::other("the help names no command"));
    }
    let command = |name: &str| {
        let help = crate::grammar::help(binary, &[name, "--help"])?;
        let (options, words) = options(&help);
        Ok(CommandOf { name: name.to_owned(), options, words })
    };
    names.into_iter().map(command).collect()
}

fn help(binary: &Path, arguments: &[&str]) -> io::Result<String> {
    let output = Command::new(binary).args(arguments).env("COLUMNS", "100").output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("{arguments:?} fails")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the options of a help, and the words that a position may have.
fn options(help: &str) -> (Vec<OptionOf>, Vec<String>) {
    let mut options: Vec<OptionOf> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut at_option = false;
    let lines: Vec<&str> = help.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if indent <= 6 && (text.starts_with("--") || text.starts_with("-")) && indent > 0 {
            at_option = true;
            let long = &text[text.find("--").unwrap_or(0)..];
            let end = long.find([' ', '[', '=']).unwrap_or(long.len());
            let value = long[end..].split_once('<').and_then(|(_, rest)| rest.split_once('>'));
            let takes =
                value.map_or(Takes::Nothing, |(word, _)| Takes::Value(word.trim().to_owned()));
            if !["--help", "--version", "--color"].contains(&&long[..end]) {
                options.push(OptionOf { name: long[..end].to_owned(), takes });
            } else {
                options.push(OptionOf { name: String::new(), takes: Takes::Nothing });
            }
        } else if indent > 0 && (text.starts_with('<') || text.starts_with('[')) && indent < 4 {
            at_option = false;
        }
        let listed = listed(&lines, number);
        if !listed.is_empty() {
            match (at_option, options.last_mut()) {
                (true, Some(option)) if option.takes != Takes::Nothing => match &mut option.takes {
                    Takes::OneOf(all) => all.extend(listed),
                    takes => *takes = Takes::OneOf(listed),
                },
                (true, _) => {}
                (false, _) => words.extend(listed),
            }
        }
    }
    options.retain(|option| !option.name.is_empty());
    options.dedup_by(|one, other| one.name == other.name);
    (options, words)
}

/// Returns the possible values that stand in a line: `[possible values: a, b]`, over its end if it
/// is broken, or `- a: what it means`.
fn listed(lines: &[&str], number: usize) -> Vec<String> {
    let text = lines[number].trim_start();
    if let Some(item) = text.strip_prefix("- ") {
        let word = item.split([':', ' ']).next().unwrap_or_default();
        return vec![word.to_owned()];
    }
    let Some((_, rest)) = text.split_once("[possible values:") else { return Vec::new() };
    let mut all = rest.to_owned();
    for line in &lines[number + 1..] {
        if all.contains(']') {
            break;
        }
        all.push(' ');
        all.push_str(line.trim());
    }
    let list = all.split(']').next().unwrap_or_default();
    list.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_help_is_taken_apart() {
        let help = "\
Usage: x

Arguments:
  <FAMILY>
          The family

          Possible values:
          - flat: some text
          - knot: more

Options:
  -o, --output <FILE>
          A file
      --values[=<BOOL>]
          [possible values: true, false]
      --strict  Is strict
      --input-format <FORMAT>  Read inputs as this format [possible values: binary,
                               text]
  -h, --help
          Print help
";
        let (options, words) = options(help);
        assert_eq!(words, ["flat", "knot"]);
        let shown: Vec<String> =
            options.iter().map(|option| format!("{} {:?}", option.name, option.takes)).collect();
        assert_eq!(
            shown,
            [
                "--output Value(\"FILE\")",
                "--values OneOf([\"true\", \"false\"])",
                "--strict Nothing",
                "--input-format OneOf([\"binary\", \"text\"])",
            ]
        );
    }
}
