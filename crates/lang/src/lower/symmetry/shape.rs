//! Shapes of the check as shapes of the machine.

use crate::check::{self, Shape};
use anyorder_vm::program as vm;
use std::collections::BTreeSet;

/// What there is to know of shapes.
pub(super) struct Shapes<'a> {
    known: &'a check::Shapes,
    /// Records (0) and enums (1) that hold indices.
    named: BTreeSet<(u8, u32)>,
}

impl<'a> Shapes<'a> {
    pub(super) fn new(known: &'a check::Shapes) -> Shapes<'a> {
        let mut shapes = Shapes { known, named: BTreeSet::new() };
        // Types may hold each other: rounds until nothing more is found.
        loop {
            let before = shapes.named.len();
            for (id, fields) in (0..).zip(&known.records) {
                if fields.iter().any(|field| shapes.of(field) != vm::Shape::Plain) {
                    shapes.named.insert((0, id));
                }
            }
            for (id, variants) in (0..).zip(&known.enums) {
                if variants.iter().flatten().any(|field| shapes.of(field) != vm::Shape::Plain) {
                    shapes.named.insert((1, id));
                }
            }
            if shapes.named.len() == before {
                return shapes;
            }
        }
    }

    /// Returns the machine's shape.
    pub(super) fn of(&self, shape: &Shape) -> vm::Shape {
        match shape {
            Shape::Int(leaf) => self.known.set(*leaf).map_or(vm::Shape::Plain, vm::Shape::Index),
            Shape::List(leaf, of) => match (self.known.set(*leaf), self.of(of)) {
                (None, vm::Shape::Plain) => vm::Shape::Plain,
                (by, of) => vm::Shape::List(by, Box::new(of)),
            },
            Shape::Set(of) => match self.of(of) {
                vm::Shape::Plain => vm::Shape::Plain,
                of => vm::Shape::Set(Box::new(of)),
            },
            Shape::Map(key, value) => match (self.of(key), self.of(value)) {
                (vm::Shape::Plain, vm::Shape::Plain) => vm::Shape::Plain,
                (key, value) => vm::Shape::Map(Box::new(key), Box::new(value)),
            },
            Shape::Record(id) if self.named.contains(&(0, id.0)) => vm::Shape::Named,
            Shape::Enum(id) if self.named.contains(&(1, id.0)) => vm::Shape::Named,
            _ => vm::Shape::Plain,
        }
    }

    fn all(&self, shapes: &[Shape]) -> Vec<vm::Shape> {
        shapes.iter().map(|shape| self.of(shape)).collect()
    }

    /// Returns where declared things keep indices.
    pub(super) fn indices(&self, known: &check::Shapes) -> vm::Indices {
        // Types, tasks and globals have the same order here and there.
        let globals = known.globals.iter().zip(0..);
        let globals = globals.map(|(shape, id)| (vm::GlobalId(id), self.of(shape)));
        let enums = known.enums.iter();
        vm::Indices {
            globals: globals.filter(|(_, shape)| *shape != vm::Shape::Plain).collect(),
            records: known.records.iter().map(|fields| self.all(fields)).collect(),
            enums: enums.map(|e| e.iter().map(|payload| self.all(payload)).collect()).collect(),
            classes: known.classes.iter().map(|fields| self.all(fields)).collect(),
            tasks: known.tasks.iter().map(|params| self.all(params)).collect(),
            registers: vec![],
        }
    }
}
