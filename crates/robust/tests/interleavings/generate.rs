//! Random models.

use anyorder_common::random::{Random, SplitMix64};
use std::fmt::Write;

/// What a model may have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    /// The order of the handlers `main` and `ui`.
    pub(crate) order: &'static str,
    pub(crate) driver: bool,
    pub(crate) assume: bool,
    /// `init` posts.
    pub(crate) init: bool,
    /// Events that are not `once`.
    pub(crate) again: bool,
    pub(crate) fails: bool,
    pub(crate) locks: bool,
    pub(crate) cancel: bool,
    pub(crate) front: bool,
    /// Steps with several alternatives.
    pub(crate) choose: bool,
    pub(crate) events: usize,
    /// Two events that overlap, and hardly a task.
    pub(crate) tiny: bool,
}

impl Shape {
    pub(crate) fn random(random: &mut SplitMix64) -> Shape {
        let again = random.percent(20);
        let most = if again { 2 } else { 3 };
        let tiny = random.percent(30);
        Shape {
            tiny,
            order: ["bag", "bag", "fifo", "fifo", "delayed"][random.index(5)],
            driver: random.percent(40) && !again,
            assume: random.percent(25),
            init: random.percent(20),
            again,
            fails: random.percent(if tiny { 70 } else { 30 }),
            locks: random.percent(if tiny { 70 } else { 20 }),
            cancel: random.percent(15),
            front: random.percent(15),
            choose: random.percent(20),
            events: if tiny { 2 } else { 1 + random.index(most) },
        }
    }
}

const VARIABLES: [&str; 4] = ["a", "b", "c", "d"];

/// Writes a model. Procedures may post and call only those with higher numbers, so that runs end.
pub(crate) fn model(random: &mut SplitMix64, shape: Shape) -> String {
    let mut text = String::from("model random\nsetting granularity = access;\n");
    let count = if shape.tiny { 1 } else { 2 + random.index(2) };
    let variables = &VARIABLES[..1 + random.index(3)];
    for variable in variables {
        let _ = writeln!(text, "var {variable} = 0;");
    }
    let _ = writeln!(text, "var handle: task? = null;\nlock l;\nlock m;");
    let _ = writeln!(text, "handler main: {};\nhandler ui: {};", shape.order, shape.order);
    if shape.init {
        text.push_str("init {\n");
        if random.percent(50) {
            text.push_str("    async[any] p0();\n");
        }
        if random.percent(40) {
            text.push_str("    a = 1 - a;\n");
        }
        (0..1 + random.index(2)).for_each(|_| post(random, &mut text, 0, count, shape));
        text.push_str("}\n");
    }
    for event in 0..shape.events {
        let once = if shape.again && random.percent(70) { "" } else { "once " };
        let lanes = ["on main ", "on main ", "on ui ", "", "", "", ""];
        let lane = lanes[if shape.tiny { 3 } else { 0 } + random.index(4)];
        let when = if random.percent(10) { "when a != 1 " } else { "" };
        let _ = writeln!(text, "{once}event e{event} {lane}{when}{{");
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

/// Writes a post.
fn post(random: &mut SplitMix64, text: &mut String, from: usize, to: usize, shape: Shape) {
    let posted = from + random.index(to - from);
    let lane = ["main", "main", "ui"][random.index(3)];
    let after = match shape.order {
        "delayed" if random.percent(70) => format!(" after {}", 5 * random.index(3)),
        _ => String::new(),
    };
    let front = if shape.front && random.percent(40) { " front" } else { "" };
    let handle = if shape.cancel && random.percent(60) { "handle = " } else { "" };
    let _ = writeln!(text, "    {handle}post p{posted}() to {lane}{after}{front};");
}

fn body(
    random: &mut SplitMix64,
    text: &mut String,
    variables: &[&str],
    (from, to): (usize, usize),
    shape: Shape,
) {
    let most = if from == 0 { 3 } else { 2 };
    for _ in 0..1 + random.index(most) {
        let variable = variables[random.index(variables.len())];
        let other = variables[random.index(variables.len())];
        let posts = from < to;
        if shape.choose && random.percent(30) {
            let _ = match random.index(3) {
                0 => writeln!(text, "    {variable} = choose 0..3;"),
                1 => writeln!(text, "    {variable} = choose [{other}, 2];"),
                _ if posts => {
                    let posted = from + random.index(to - from);
                    writeln!(
                        text,
                        "    choose {{ {{ async[any] p{posted}(); }} {{ {variable} = 1; }} }}"
                    )
                }
                _ => writeln!(
                    text,
                    "    choose {{ {{ assume {other} == 0; }} {{ {variable} = 1; }} }}"
                ),
            };
            continue;
        }
        match random.index(15) {
            0..=2 => _ = writeln!(text, "    {variable} = {};", 1 + random.index(2)),
            3 => _ = writeln!(text, "    {variable} = {other};"),
            4 => _ = writeln!(text, "    if {variable} == 1 {{ {other} = 2; }}"),
            5 if shape.assume => {
                let value = ["!= 1", "== 1"][random.index(2)];
                _ = writeln!(text, "    assume {variable} {value};");
            }
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
            10 | 11 if posts => post(random, text, from, to, shape),
            12 if shape.fails => _ = writeln!(text, "    assert {variable} != 2;"),
            13 if shape.locks => {
                let (first, then) = if random.percent(50) { ("l", "m") } else { ("m", "l") };
                let _ = writeln!(
                    text,
                    "    with {first} {{ with {then} {{ {variable} = {other}; }} }}"
                );
            }
            14 if shape.cancel => text.push_str("    cancel handle;\n"),
            13..15 if posts => {
                let posted = from + random.index(to - from);
                let _ = writeln!(text, "    async[any] p{posted}();");
            }
            _ => _ = writeln!(text, "    {variable} = 0;"),
        }
    }
}
