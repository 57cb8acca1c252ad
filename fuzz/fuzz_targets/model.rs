//! Models: diagnostics that can be shown, a layout that stays, and programs that the machine takes and runs.
#![no_main]

use anyorder_fuzz::walk::walk;
use anyorder_lang::diagnostic::{Code, render};
use anyorder_lang::{format::format, load, lower::compile, source::Source};
use anyorder_vm::Machine;
use libfuzzer_sys::fuzz_target;

/// Instructions of a step, and elements of a value: enough to see something, and fast.
const STEPS_MAX: u64 = 500;
const SIZE_MAX: u32 = 200;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let loaded = load(text);
    let source = Source::new("fuzz.any", text);
    for diagnostic in &loaded.diagnostics {
        assert!(!render(&source, diagnostic, false).is_empty());
    }
    if let Ok(once) = format(text) {
        let twice = format(&once).expect("what was formatted can be formatted");
        assert_eq!(twice, once, "formatting twice");
        let again = load(&once);
        assert_eq!(again.is_valid(), loaded.is_valid(), "formatted:\n{once}");
    }
    let mut compiled = match compile(text, "fuzz.any") {
        Ok(compiled) => compiled,
        Err(errors) => {
            let too_large = errors.iter().any(|d| d.code == Code::TOO_LARGE);
            assert!(too_large || !loaded.is_valid(), "what the check accepts is lowered");
            return;
        }
    };
    assert!(loaded.is_valid());
    let settings = &mut compiled.program.settings;
    settings.steps = settings.steps.min(STEPS_MAX);
    settings.size = settings.size.min(SIZE_MAX);
    let machine =
        Machine::new(compiled.program).expect("the machine takes what the language makes");
    // A walk that depends on nothing but the text's length and its own.
    let mut turn = data.len();
    walk(&machine, 8, |count| {
        turn = turn.wrapping_mul(31).wrapping_add(7);
        turn % count
    });
});
