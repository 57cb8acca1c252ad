//! Random models.

use anyorder_common::random::{Random, SplitMix64};
use std::fmt::Write;

/// What a model may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) fifo: bool,
    pub(crate) driver: bool,
    pub(crate) assume: bool,
    pub(crate) events: usize,
}

const VARIABLES: [&str; 4] = ["a", "b", "c", "d"];

/// Writes a model. Procedures may post and call only those with higher numbers, so that runs end.
pub(crate) fn model(random: &mut SplitMix64, shape: Shape) -> String {
    let mut text = String::from("model random\nsetting granularity = access;\n");
    let count = 2 + random.index(3);
    let variables = &VARIABLES[..2 + random.index(3)];
    for variable in variables {
        let _ = writeln!(text, "var {variable} = 0;");
    }
    let order = if shape.fifo { "fifo" } else { "bag" };
    let _ = writeln!(text, "handler main: {order};");
    for event in 0..shape.events {
        let _ = writeln!(text, "once event e{event} on main {{");
        body(random, &mut text, variables, (0, count), shape);
        text.push_str("}\n");
    }
    for procedure in 0..count {
        let _ = writeln!(text, "procedure p{procedure}() {{");
        body(random, &mut text, variables, (procedure + 1, count), shape);
        text.push_str("}\n");
    }
    if shape.driver && shape.events > 1 {
        let names: Vec<String> = (0..shape.events).map(|event| format!("e{event}")).collect();
        let _ = writeln!(text, "driver {};", names.join(", "));
    }
    text
}

fn body(
    random: &mut SplitMix64,
    text: &mut String,
    variables: &[&str],
    (from, to): (usize, usize),
    shape: Shape,
) {
    for _ in 0..1 + random.index(3) {
        let variable = variables[random.index(variables.len())];
        let other = variables[random.index(variables.len())];
        let posts = from < to;
        match random.index(12) {
            0..=2 => _ = writeln!(text, "    {variable} = {};", 1 + random.index(2)),
            3 => _ = writeln!(text, "    {variable} = {other};"),
            4 => _ = writeln!(text, "    if {variable} == 1 {{ {other} = 2; }}"),
            5 if shape.assume => _ = writeln!(text, "    assume {variable} != 1;"),
            6 if posts => {
                let called = from + random.index(to - from);
                let _ = writeln!(text, "    if {variable} == 0 {{ async[any] p{called}(); }}");
            }
            7 if posts => {
                let called = from + random.index(to - from);
                let _ = writeln!(text, "    call p{called}();");
            }
            8 | 9 if posts => {
                let posted = from + random.index(to - from);
                let _ = writeln!(text, "    async[any] p{posted}();");
            }
            10 | 11 if posts => {
                let posted = from + random.index(to - from);
                let _ = writeln!(text, "    async[main] p{posted}();");
            }
            _ => _ = writeln!(text, "    {variable} = 0;"),
        }
    }
}
