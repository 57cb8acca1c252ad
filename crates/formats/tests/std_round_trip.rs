//! STD, there and back: on random texts, random traces and damaged texts.

use anyorder_formats::std::{Losses, StdReader, StdWriter};
use anyorder_trace::{Location, ReadError, Trace};
use common::Choices;
use proptest::prelude::*;
use std::collections::BTreeMap;

use crate::common;

fn read(text: &[u8]) -> Result<Trace, ReadError> {
    Trace::read(&mut StdReader::new(text))
}

fn right(text: &str) -> Trace {
    read(text.as_bytes()).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn written(trace: &Trace) -> std::io::Result<String> {
    let mut out = Vec::new();
    trace.write(&mut StdWriter::new(&mut out))?;
    Ok(String::from_utf8(out).unwrap())
}

fn written_lossy(trace: &Trace) -> (String, Losses) {
    let mut out = Vec::new();
    let mut writer = StdWriter::new(&mut out).lossy(true);
    trace.write(&mut writer).unwrap();
    let losses = writer.losses();
    (String::from_utf8(out).unwrap(), losses)
}

/// Makes a text that STD allows.
fn std_text(choices: &mut Choices) -> String {
    let names = ["x", "V1.2[3]", "a|b", "(", "f(I)V", " ", "0x1f", "日本", "\u{1b}[1m", "#", "\r"];
    let mut out = String::new();
    for _ in 0..choices.below(80) {
        let thread = choices.of(&["T0", "T1", "main", "T10", "a b", " "]);
        let word = choices.of(&[
            "r",
            "w",
            "r",
            "w",
            "aload",
            "astore",
            "armw",
            "alloc",
            "free",
            "acq",
            "rel",
            "destroy",
            "fork",
            "join",
            "begin",
            "end",
            "wait",
            "wake",
            "signal",
            "broadcast",
            "req",
            "branch",
            "odd_one",
        ]);
        let range = format!("{:#x}+{}", choices.below(40), 1 + choices.below(12));
        let edge = format!("{:#x}+{}", u64::MAX - choices.below(3) as u64, 1 + choices.below(9));
        let target = match word {
            "begin" | "end" | "branch" => String::new(),
            "fork" | "join" => format!("({})", choices.of(&["T0", "T1", "main", "T10", "a b"])),
            // Waits on the lock of that name are of other recorders: see `std.rs`.
            "wait" | "wake" | "signal" | "broadcast" => format!("(c{})", choices.of(&names)),
            "free" => format!("({:#x})", choices.below(40)),
            "r" | "w" | "aload" | "astore" | "armw" | "alloc" if choices.chance(2) => {
                format!("({range})")
            }
            "r" | "w" | "alloc" if choices.chance(9) => format!("({edge})"),
            _ => format!("({})", choices.of(&names)),
        };
        let site = choices.of(&["1", "2", "3", "007", "x.c:3", "?", "262144", "99999999999"]);
        out.push_str(&format!("{thread}|{word}{target}|{site}\n"));
    }
    out
}

/// The meaning of each event in words. Ranges are numbered by the first occurrence of their
/// generations.
fn meanings(trace: &Trace) -> Vec<String> {
    let tables = trace.tables();
    let mut seen = BTreeMap::new();
    trace
        .events()
        .map(|event| {
            let next = seen.len();
            let entry = (event.kind().operand() as u8, event.operand);
            let number = *seen.entry(entry).or_insert(next);
            let handler = trace.handler_of(event.id);
            let range = event.location().map(|id| match tables.locations[id.index()] {
                Location::Range { address, size, .. } => format!("{address} {size}"),
                _ => String::new(),
            });
            format!(
                "{} {} {} {number} {range:?}",
                handler.0,
                event.kind().word(),
                event.mode().bits()
            )
        })
        .collect()
}

/// The text with the size of each access to an address without one that is read as a byte.
fn with_sizes(text: &str, trace: &Trace) -> String {
    let lines = text.lines().zip(trace.events()).map(|(line, event)| {
        let location = event.location().map(|id| trace.tables().locations[id.index()]);
        let is_range = matches!(location, Some(Location::Range { .. }));
        let is_short = line.contains("(0x") && !line.contains('+') && !line.contains("|free(");
        match is_range && is_short {
            true => line.replacen(')', "+1)", 1) + "\n",
            false => line.to_owned() + "\n",
        }
    });
    lines.collect()
}

proptest! {
    #[test]
    fn texts_round_trip(numbers in common::choices(400)) {
        let text = std_text(&mut Choices::new(numbers));
        let trace = right(&text);
        prop_assert_eq!(trace.len(), text.lines().count());
        let text = with_sizes(&text, &trace);
        prop_assert_eq!(&written(&trace).unwrap(), &text);
        prop_assert_eq!(meanings(&right(&text)), meanings(&trace));
        let (lossy, losses) = written_lossy(&trace);
        prop_assert_eq!(&lossy, &text);
        prop_assert_eq!(losses, Losses::default());
    }

    #[test]
    fn any_trace_is_refused_or_written_or_written_in_part(trace in common::traces()) {
        if let Ok(text) = written(&trace) {
            let back = right(&text);
            prop_assert_eq!(back.len(), trace.len());
        }
        let (text, losses) = written_lossy(&trace);
        let back = read(text.as_bytes()).map_err(|e| format!("{e:?}\n{text}")).unwrap();
        prop_assert_eq!(back.len() as u64 + losses.skipped, trace.len() as u64);
    }

    #[test]
    fn a_trace_written_without_loss_keeps_its_meaning(numbers in common::choices(400)) {
        let text = std_text(&mut Choices::new(numbers));
        let trace = right(&text);
        let back = right(&written(&trace).unwrap());
        prop_assert_eq!(meanings(&back), meanings(&trace));
        prop_assert_eq!(back, trace);
    }

    #[test]
    fn damaged_texts_give_errors_or_sound_traces(numbers in common::choices(400)) {
        let choices = &mut Choices::new(numbers);
        let mut text = std_text(choices).into_bytes();
        common::damage(choices, &mut text);
        match read(&text) {
            Ok(trace) => common::assert_ids_are_in_tables(trace.tables(), trace.columns()),
            Err(ReadError::Malformed { problems, .. }) => prop_assert!(problems.errors_total > 0),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
    }
}
