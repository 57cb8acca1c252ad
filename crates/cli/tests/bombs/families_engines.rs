//! Bombs for the machine, the searches, the consistency checker and the readers: small inputs that
//! ask for much time or memory. Each function takes a size and returns the text of an input.

use crate::families_threads::Family;
use std::fmt::Write;

/// Models, with their sizes.
pub(crate) const MODELS: &[(&str, Family, usize)] = &[
    ("a step that pushes", push_for_ever, 100_000_000),
    ("an init that pushes", push_in_init, 100_000_000),
    ("conditions that count", slow_conditions, 3_000_000),
    ("a response that counts", slow_response, 3_000_000),
    ("large alternatives", many_alternatives, 60_000),
    ("large objects", large_objects, 100_000),
    ("a mailbox that grows", growing_mailbox, 1),
    ("a large symmetry", large_symmetry, 7),
    ("a deep expression", deep_expression, 100_000),
    ("deep blocks", deep_blocks, 100_000),
    ("a sum", long_sum, 100_000),
    ("a large literal", large_literal, 300_000),
    ("a large function", large_function, 20_000),
    ("large first values", large_initial_values, 1_000),
    ("independent events", many_events, 30),
    ("attributes of two components", many_attributes, 300),
];

/// Partial traces, with their sizes.
pub(crate) const PARTIAL: &[(&str, Family, usize)] = &[
    ("one variable of all handlers", one_variable, 20_000),
    ("messages on two handlers", many_messages, 10_000),
    ("a chain of messages", long_chain, 20_000),
];

/// Files that are no traces.
pub(crate) const FILES: &[(&str, Family, usize)] = &[
    ("a line without an end", endless_line, 50_000_000),
    ("blank lines", blank_lines, 20_000_000),
];

/// One step pushes to a list for ever, up to `steps` operations.
fn push_for_ever(steps: usize) -> String {
    format!(
        "model bomb\nsetting steps = {steps};\nvar xs = [0];\nevent grow {{ while true {{ xs.push(1); }} }}\n"
    )
}

/// The same in `init`.
fn push_in_init(steps: usize) -> String {
    format!(
        "model bomb\nsetting steps = {steps};\nvar xs = [0];\ninit {{ while true {{ xs.push(1); }} }}\nevent none {{ xs = [1]; }}\n"
    )
}

/// An event, an invariant, a guard and a final condition that each count up to `steps`.
fn slow_conditions(steps: usize) -> String {
    let most = steps.saturating_mul(8);
    format!(
        "model bomb\nsetting steps = {most};\nvar x = 0;\nfn slow() -> bool {{ let i = 0; while i < {steps} {{ i += 1; }} return true; }}\nevent a when slow() {{ x += 1; }}\nevent b {{ x += 2; }}\ninvariant i: slow();\nfinal: slow();\n"
    )
}

/// A response property whose conditions count up to `steps`.
fn slow_response(steps: usize) -> String {
    let most = steps.saturating_mul(8);
    format!(
        "model bomb\nsetting steps = {most};\nvar x = 0;\nfn slow() -> bool {{ let i = 0; while i < {steps} {{ i += 1; }} return true; }}\nevent a when x < 1000000 {{ x += 1; }}\nresponse r: slow() && x > 3 leads_to x > 999999;\n"
    )
}

/// One step with `count` alternatives, each with its own copy of a list of `count` elements.
fn many_alternatives(count: usize) -> String {
    format!(
        "model bomb\nvar xs = [0];\nevent grow {{ let ys = [0]; while ys.len() < {count} {{ ys = ys + ys; }} let i = choose 0..{count}; ys.push(i); xs = ys; }}\n"
    )
}

/// Objects that each hold a list of `size` elements of their own.
fn large_objects(size: usize) -> String {
    format!(
        "model bomb\nsetting steps = 100000000;\nclass Box {{ var items: list<int>; }}\nvar boxes: list<Box>;\nevent grow {{ let xs = [0]; while xs.len() < {size} {{ xs = xs + xs; }} while true {{ xs.push(1); let b = new Box {{ items: xs }}; boxes.push(b); }} }}\n"
    )
}

/// A mailbox that grows for ever.
fn growing_mailbox(_size: usize) -> String {
    "model bomb\nhandler h: bag;\nvar n = 0;\ntask t(i: int) on h { n = i; }\nevent more { n += 1; post t(n); }\n".to_owned()
}

/// A symmetry of `count` values, of which no two are alike.
fn large_symmetry(count: usize) -> String {
    format!(
        "model bomb\nindex Node = {count};\nvar next: [int; Node];\nvar n = 0;\nevent step[i in Node] {{ n += 1; next[i] = n; }}\n"
    )
}

/// An expression nested `depth` deep.
fn deep_expression(depth: usize) -> String {
    format!(
        "model bomb\nvar x = {}1{};\nevent a {{ x += 1; }}\n",
        "(".repeat(depth),
        ")".repeat(depth)
    )
}

/// Blocks nested `depth` deep.
fn deep_blocks(depth: usize) -> String {
    let (open, close) = ("if x > 0 { ".repeat(depth), "}".repeat(depth));
    format!("model bomb\nvar x = 1;\nevent a {{ {open} x += 1; {close} }}\n")
}

/// A sum of `count` terms.
fn long_sum(count: usize) -> String {
    format!("model bomb\nvar x = {};\nevent a {{ x += 1; }}\n", vec!["1"; count].join(" + "))
}

/// A list literal of `count` elements.
fn large_literal(count: usize) -> String {
    format!("model bomb\nvar x = [{}];\nevent a {{ x = []; }}\n", vec!["1"; count].join(","))
}

/// A function of `count` statements, each with a variable of its own.
fn large_function(count: usize) -> String {
    let mut text = "model bomb\nvar x = 1;\nevent a {\n".to_owned();
    for i in 0..count {
        let before = if i == 0 { "x".to_owned() } else { format!("v{}", i - 1) };
        let _ = writeln!(text, "let v{i} = {before} + 1;");
    }
    text.push_str("}\n");
    text
}

/// Initial values that are arrays of arrays: `size` times `size` elements.
fn large_initial_values(size: usize) -> String {
    format!(
        "model bomb\nconst A = [0; {size}];\nvar x = [A; {size}];\nvar y = [[1; {size}]; {size}];\nevent a {{ x = y; }}\n"
    )
}

/// `count` independent events: as many states as there are sets of them.
fn many_events(count: usize) -> String {
    format!(
        "model bomb\nvar x: [int; {count}];\nevent e[i in 0..{count}] when x[i] < 3 {{ x[i] += 1; }}\n"
    )
}

/// Two components that update `count` attributes each.
fn many_attributes(count: usize) -> String {
    let mut text = "model bomb\ncomponent a: ea;\ncomponent b: eb;\n".to_owned();
    for i in 0..count {
        let _ = writeln!(text, "var x{i} = 0;");
    }
    for name in ["ea", "eb"] {
        let _ = write!(text, "event {name} {{ ");
        for i in 0..count {
            let _ = write!(text, "x{i} = (x{i} + 1) % 3; ");
        }
        text.push_str("}\n");
    }
    text
}

/// A line of `bytes` bytes without an end, for every text format.
fn endless_line(bytes: usize) -> String {
    "a".repeat(bytes)
}

/// Lines without events.
fn blank_lines(count: usize) -> String {
    "\n".repeat(count)
}

/// A partial trace: `count` handlers write and read one variable, in one order.
fn one_variable(count: usize) -> String {
    let mut text = "edtrace 1\n".to_owned();
    for i in 0..count {
        let _ = writeln!(text, "w{i} h{i} - w x\nr{i} h{i} - r x w{i}");
    }
    let writes: Vec<String> = (0..count).map(|i| format!("w{i}")).collect();
    let _ = writeln!(text, "co x {}", writes.join(" "));
    text
}

/// A partial trace: `count` messages on each of two handlers, in no order, each reads what another
/// wrote.
fn many_messages(count: usize) -> String {
    let mut text = "edtrace 1\n".to_owned();
    let mut writes = [String::new(), String::new()];
    for i in 0..count {
        for (side, handler) in ["a", "b"].into_iter().enumerate() {
            let other = ["b", "a"][side];
            let _ = writeln!(text, "p{handler}{i} q{handler}{i} - post m{handler}{i}");
            let _ = writeln!(text, "g{handler}{i} {handler} m{handler}{i} get");
            let _ = writeln!(text, "w{handler}{i} {handler} m{handler}{i} w {handler}");
            let seen = format!("w{other}{}", (i * 7 + 3) % count);
            let _ = writeln!(text, "r{handler}{i} {handler} m{handler}{i} r {other} {seen}");
            let _ = write!(writes[side], " w{handler}{i}");
        }
    }
    let _ = writeln!(text, "co a{}\nco b{}", writes[0], writes[1]);
    text
}

/// A partial trace: one message after the other, `count` long, on `count / 10` handlers.
fn long_chain(count: usize) -> String {
    let mut text = "edtrace 1\np0 main - post m0\n".to_owned();
    for i in 0..count {
        let handler = i % (count / 10).max(1);
        let _ = writeln!(text, "g{i} h{handler} m{i} get\nw{i} h{handler} m{i} w x{i}");
        let _ = writeln!(text, "p{} h{handler} m{i} post m{}", i + 1, i + 1);
    }
    let _ = writeln!(text, "g{count} last m{count} get");
    text
}
