//! The paper's examples as toy systems, and small systems of the same kind.

use crate::tests::common::{Task, Toy, Tree, Value};

pub(crate) fn read(place: usize, branches: Vec<Tree>) -> Tree {
    Tree::Read(place, branches)
}

pub(crate) fn set(place: usize, value: u8, next: Tree) -> Tree {
    Tree::Write(place, Value::Constant(value), Box::new(next))
}

/// Sets a place and is done.
pub(crate) fn end(place: usize, value: u8) -> Tree {
    set(place, value, Tree::Done)
}

/// A task that is ready while the place holds the value.
pub(crate) fn at(place: usize, value: u8, body: Tree) -> Task {
    Task { awaits: vec![(place, vec![value])], body, component: None }
}

/// A task that is always ready.
pub(crate) fn always(body: Tree) -> Task {
    Task { awaits: Vec::new(), body, component: None }
}

pub(crate) fn system(places: usize, tasks: Vec<Task>) -> Toy {
    Toy { initial: vec![vec![0; places]], domain: 2, tasks, ..Toy::default() }
}

/// Figure 1: x, y, z, and the positions of T1 and T3.
pub(crate) fn figure_1() -> Toy {
    let count = |pc: usize, to: u8| read(0, vec![set(0, 1, end(pc, to)), Tree::Fail(0)]);
    let tasks = vec![
        at(3, 0, count(3, 1)),
        always(read(1, vec![Tree::Done])),
        at(4, 0, read(2, vec![end(4, 1)])),
        at(4, 1, count(4, 2)),
    ];
    Toy { domain: 3, ..system(5, tasks) }
}

/// Figure 3: x, y, z; the tasks are e1 to e4.
pub(crate) fn figure_3() -> Toy {
    system(
        3,
        vec![
            always(set(0, 1, read(2, vec![Tree::Done]))),
            always(read(1, vec![set(2, 0, end(1, 1)), Tree::Done])),
            always(end(1, 0)),
            always(read(0, vec![read(1, vec![Tree::Done, Tree::Fail(0)]), end(0, 0)])),
        ],
    )
}

/// Events that happen once: `happened` is the place of the first one's mark.
pub(crate) fn once(places: usize, bodies: Vec<Tree>) -> Toy {
    let count = bodies.len();
    let tasks = bodies.into_iter().enumerate();
    let tasks = tasks.map(|(index, body)| at(places + index, 0, body)).collect();
    system(places + count, tasks)
}

/// Figure 5: x, y.
pub(crate) fn figure_5() -> Toy {
    once(
        2,
        vec![
            set(1, 1, end(2, 1)),
            set(0, 1, end(3, 1)),
            read(0, vec![end(4, 1), read(1, vec![Tree::Fail(0), end(4, 1)])]),
        ],
    )
}

/// States u and v: a leads to u, b to v, c stays in v. The places: the state, the place that
/// enables c, and the place that c reads.
pub(crate) fn fairness() -> Toy {
    system(
        3,
        vec![
            always(set(0, 0, end(1, 0))),
            always(set(0, 1, end(1, 1))),
            at(1, 1, read(2, vec![Tree::Done])),
        ],
    )
}
