//! Random constant expressions: what the check accepts as the value of a constant is lowered, and
//! has the value that the naive interpreter finds, as a constant and where it is written in code.

use crate::naive::differential::{Difference, compare};
use crate::naive::generate::Gen;
use crate::naive::interp::program::Mutant;
use anyorder_lang::load;

const AROUND: &str = "model m
enum E { A, B(int), C(E) }
record R { a: int, b: list<int> }
const YES = true;
const BIG = 9223372036854775807;
const L = [3, 1, 2];
const M = map[1: \"x\", 0: \"y\"];
const Q = R { a: 3, b: [1, 1] };
const V = E.B(2);
const ANY: any = 4;
";

/// The types of what is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Int,
    Bool,
    Str,
    List,
    Set,
    Map,
    Enum,
    Record,
}

const ALL: [Of; 8] = [Of::Int, Of::Bool, Of::Str, Of::List, Of::Set, Of::Map, Of::Enum, Of::Record];

fn leaf(g: &mut Gen, of: Of) -> String {
    let from: &[&str] = match of {
        Of::Int => &["0", "1", "2", "-1", "7", "BIG", "Q.a", "L[1]", "ANY", "(-BIG - 1)"],
        Of::Bool => &["true", "false", "YES", "2 in L", "V == E.B(2)"],
        Of::Str => &["\"\"", "\"x\"", "\"xy\"", "M[1]", "\"é\""],
        Of::List => &["[]", "L", "Q.b", "0..3", "[1; 2]", "0..5000"],
        Of::Set => &["set[2, 1, 2]", "set[]", "set[0]"],
        Of::Map => &["M", "map[2: \"b\", 1: \"a\", 2: \"c\"]"],
        Of::Enum => &["E.A", "V", "E.B(1)", "E.C(E.A)"],
        Of::Record => &["Q", "R { b: [], a: 0 }"],
    };
    g.pick(from).to_string()
}

fn expr(g: &mut Gen, of: Of, depth: usize) -> String {
    if depth == 0 || g.percent(15) {
        return leaf(g, of);
    }
    let depth = depth - 1;
    if g.percent(20) {
        let (c, a, b) = (expr(g, Of::Bool, depth), expr(g, of, depth), expr(g, of, depth));
        return match g.below(2) {
            0 => format!("(if {c} {{ {a} }} else {{ {b} }})"),
            _ => format!("(if {c} {{ {a} }} else if YES {{ {b} }} else {{ {a} }})"),
        };
    }
    match of {
        Of::Int => {
            let (a, b) = (expr(g, Of::Int, depth), expr(g, Of::Int, depth));
            match g.below(5) {
                0 => format!("-{a}").replace("--", "- -"),
                1 => format!("{}[{a}]", expr(g, Of::List, depth)),
                2 => format!("({}).a", expr(g, Of::Record, depth)),
                _ => format!("({a} {} {b})", g.pick(&["+", "-", "*", "/", "%"])),
            }
        }
        Of::Bool => {
            let of = g.pick(&ALL);
            let (a, b) = (expr(g, of, depth), expr(g, of, depth));
            match g.below(6) {
                0 => format!("!{}", expr(g, Of::Bool, depth)),
                1 => format!("({} && {})", expr(g, Of::Bool, depth), expr(g, Of::Bool, depth)),
                2 => format!("({} || {})", expr(g, Of::Bool, depth), expr(g, Of::Bool, depth)),
                3 => format!("({a} {} {b})", g.pick(&["==", "!="])),
                4 => {
                    let of = g.pick(&[Of::Int, Of::Str]);
                    let sign = g.pick(&["<", "<=", ">", ">="]);
                    format!("({} {sign} {})", expr(g, of, depth), expr(g, of, depth))
                }
                _ => {
                    let (one, many) = g.pick(&[
                        (Of::Int, Of::List),
                        (Of::Int, Of::Set),
                        (Of::Int, Of::Map),
                        (Of::Str, Of::Str),
                    ]);
                    format!("({} in {})", expr(g, one, depth), expr(g, many, depth))
                }
            }
        }
        Of::Str => match g.below(2) {
            0 => format!("({} + {})", expr(g, Of::Str, depth), expr(g, Of::Str, depth)),
            _ => format!("({})[{}]", expr(g, Of::Map, depth), expr(g, Of::Int, depth)),
        },
        Of::List => {
            let (a, b) = (expr(g, Of::Int, depth), expr(g, Of::Int, depth));
            match g.below(5) {
                0 => {
                    let from = g.pick(&["0", "-1", "Q.a", "L[1]"]);
                    format!(
                        "({from}..{})",
                        g.pick(&["2", "L[0]", "-3", "(if YES { 4 } else { 1 })"])
                    )
                }
                1 => format!("[{a}; {}]", g.pick(&["0", "3", "L[1]", "Q.a", "-1"])),
                2 => format!("({} + {})", expr(g, Of::List, depth), expr(g, Of::List, depth)),
                3 => format!("({}).b", expr(g, Of::Record, depth)),
                _ => format!("[{a}, {b}]"),
            }
        }
        Of::Set => format!("set[{}, {}]", expr(g, Of::Int, depth), expr(g, Of::Int, depth)),
        Of::Map => {
            let (k, v) = (expr(g, Of::Int, depth), expr(g, Of::Str, depth));
            format!("map[{k}: {v}, {}: {}]", expr(g, Of::Int, depth), expr(g, Of::Str, depth))
        }
        Of::Enum => match g.below(2) {
            0 => format!("E.B({})", expr(g, Of::Int, depth)),
            _ => format!("E.C({})", expr(g, Of::Enum, depth)),
        },
        Of::Record => {
            let (a, b) = (expr(g, Of::Int, depth), expr(g, Of::List, depth));
            format!("R {{ b: {b}, a: {a} }}")
        }
    }
}

#[test]
fn constants_have_the_values_of_the_naive_interpreter() {
    let (mut taken, mut code) = (0, 0);
    for seed in 1..=1_500 {
        let mut g = Gen::new(seed);
        let of = g.pick(&ALL);
        let value = expr(&mut g, of, 3);
        let used = "var x: any = null; event e when x == null { x = C; }";
        let constant = format!("{AROUND}const C = {value};\n{used}\n");
        if load(&constant).is_valid() {
            taken += 1;
            if let Err(Difference::Refused(why) | Difference::Found(why)) =
                compare(&constant, Mutant::None, 20)
            {
                panic!("{constant}\n{why}");
            }
        }
        // In code it may fail, and reads what it names.
        let written = format!(
            "{AROUND}var x: any = null; event e when x == null {{ let z = {value}; x = z; }}\nvar y: any = {value};\n"
        );
        if load(&written).is_valid() {
            code += 1;
            if let Err(Difference::Refused(why) | Difference::Found(why)) =
                compare(&written, Mutant::None, 20)
            {
                panic!("{written}\n{why}");
            }
        }
    }
    assert!(taken > 700 && code > 1_200, "{taken} constants, {code} in code");
}
