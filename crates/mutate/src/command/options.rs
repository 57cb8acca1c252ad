//! Random options with random values.

use super::Draft;
use crate::grammar::{CommandOf, OptionOf, Takes};
use crate::kind::Kind;
use anyorder_common::random::Random as _;

/// Numbers for options that count.
const NUMBERS: [&str; 10] = ["0", "1", "2", "3", "7", "20", "100", "1000", "65536", "1000000"];

/// Numbers that few options take.
const ODD_NUMBERS: [&str; 6] =
    ["4294967295", "4294967296", "18446744073709551615", "18446744073709551616", "-1", "x"];

/// Texts where a number, a name or a list is expected.
const TEXTS: [&str; 8] =
    ["", "0", "none", "all", "x=set", "m=counter", "\u{202e}=\u{1b}[0m", "a,b"];

impl Draft<'_> {
    /// Adds the limits that the command takes, a format, and up to five other options.
    pub(super) fn options(&mut self, command: &CommandOf) {
        self.limits(command);
        let needs_program =
            command.has("--program") && self.case.inputs.is_empty() && command.name == "explore";
        for option in &command.options {
            let always = match option.name.as_str() {
                "--to" => command.name == "convert" || self.rng.percent(50),
                "--format" => self.rng.percent(60),
                "--program" => needs_program,
                _ => false,
            };
            if always {
                self.option(option);
            }
        }
        let open: Vec<&OptionOf> = command
            .options
            .iter()
            .filter(|option| {
                !["--time-limit", "--memory-limit", "--to", "--format", "--program", "--size"]
                    .contains(&option.name.as_str())
            })
            .collect();
        for _ in 0..self.rng.below(6) {
            if !open.is_empty() {
                let option = self.rng.pick(&open);
                // A format or a table of sites that does not fit ends most runs at once.
                let ends = ["--input-format", "--sites"].contains(&option.name.as_str());
                if !self.case.arguments.contains(&option.name) && (!ends || self.rng.percent(10)) {
                    self.option(option);
                }
            }
        }
    }

    fn limits(&mut self, command: &CommandOf) {
        if command.has("--time-limit") {
            let time = self.rng.pick(&[1_000, 1_000, 1_000, 500, 2_000, 20, 0]);
            self.case.stated.time_ms = Some(time);
            self.add("--time-limit", format!("{time}ms"));
        }
        if command.has("--memory-limit") {
            let mebibytes = self.rng.pick(&[64, 96, 128, 200, 200, 300]);
            self.case.stated.memory_bytes = Some(mebibytes << 20);
            self.add("--memory-limit", format!("{mebibytes}M"));
        }
    }

    fn add(&mut self, name: &str, value: String) {
        self.case.arguments.push(name.to_owned());
        self.case.arguments.push(value);
    }

    fn option(&mut self, option: &OptionOf) {
        let value = match &option.takes {
            Takes::Nothing => {
                self.case.arguments.push(option.name.clone());
                return;
            }
            Takes::OneOf(words) if option.name == "--values" => {
                let word = &words[self.rng.index(words.len())];
                self.case.arguments.push(format!("--values={word}"));
                return;
            }
            Takes::OneOf(words) => words[self.rng.index(words.len())].clone(),
            Takes::Value(word) => self.value(&option.name, word),
        };
        self.add(&option.name, value);
    }

    /// Returns a value for an option by its name and by the word that its help shows.
    fn value(&mut self, name: &str, word: &str) -> String {
        match name {
            "--sites" => return self.loose(Kind::Sites),
            "--baseline" => return self.loose(Kind::Baseline),
            "--config" => return self.loose(Kind::Config),
            "--resume" => return self.loose(Kind::Checkpoint),
            "--spec" => return self.loose(Kind::Specification),
            "--recording" => return self.loose(Kind::Schedule),
            "--program" => return self.program(),
            // More threads than there are cores only take memory; the extremes come too.
            "--threads" if self.rng.percent(90) => return self.rng.within(1, 4).to_string(),
            "--checkpoint-every" if self.rng.percent(50) => return "1ms".to_owned(),
            _ => {}
        }
        match word {
            "FILE" | "DIR" => {
                let name = name.trim_start_matches('-').to_owned();
                self.case.writes.push(name.clone());
                name
            }
            "SIZE" => self.rng.pick(&["0", "1", "64K", "16M", "10T", "99999999999T"]).to_owned(),
            "TIME" => self.rng.pick(&["0", "10ms", "1h", "99999999999h"]).to_owned(),
            "X" => self.rng.pick(&["0", "0.5", "1", "-1", "nan", "1e308"]).to_owned(),
            "N" | "S" | "K" if self.rng.percent(10) => self.rng.pick(&ODD_NUMBERS).to_owned(),
            "N" | "S" | "K" if self.rng.percent(95) => self.rng.pick(&NUMBERS).to_owned(),
            _ => self.rng.pick(&TEXTS).to_owned(),
        }
    }

    /// A program that prints its replies whatever it is asked.
    fn program(&mut self) -> String {
        let replies = self.loose(Kind::Replies);
        match self.rng.below(20) {
            0 => format!("sh -c 'cat {replies}; sleep 30'"),
            1 => format!("sh -c 'sleep 30 & cat {replies}'"),
            2 => "no-such-program".to_owned(),
            3 => "yes".to_owned(),
            4 => "cat".to_owned(),
            _ => format!("cat {replies}"),
        }
    }
}
