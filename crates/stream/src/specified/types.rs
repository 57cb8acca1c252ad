//! The known types of objects, and the declared types of objects.

use super::compile::{Place, first_tables, places};
use crate::class::ClassTable;
use anyorder_commute::{AccessPoints, Comm, Document, Spec, SpecErrors, Waits, built_in_types};
use std::collections::HashMap;
use std::sync::Arc;

/// The treatment of objects without a specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unspecified {
    /// Their invocations are ignored, and counted.
    #[default]
    Ignore,
    /// None of their invocations commute.
    NothingCommutes,
}

/// An invalid declaration: the type does not exist.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no specification of `{type_name}`, the type of `{object}`")]
pub struct DeclareError {
    /// The object.
    pub object: String,
    /// The requested type.
    pub type_name: String,
}

/// A type: its compiled specification and its communication.
#[derive(Clone, Debug)]
pub(super) struct Type {
    pub(super) spec: Spec,
    pub(super) comm: Option<Comm>,
    pub(super) waits: Option<Waits>,
    /// For objects whose callers use specified methods only.
    pub(super) exact: Compiled,
    /// For all other objects.
    pub(super) strangers: Compiled,
    /// Whether the user defined it.
    pub(super) is_own: bool,
}

/// Access points, and the places of each of their classes.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) points: AccessPoints,
    pub(super) places: Vec<Vec<Place>>,
}

impl Compiled {
    fn new(points: AccessPoints, tables: &mut Vec<ClassTable>) -> Compiled {
        Compiled { places: places(&points, tables), points }
    }
}

impl Type {
    fn new(
        (spec, document): (&Spec, &Document),
        is_own: bool,
        tables: &mut Vec<ClassTable>,
    ) -> Type {
        Type {
            comm: document.comm(spec.name()).cloned(),
            waits: document.waits(spec.name()).cloned(),
            exact: Compiled::new(AccessPoints::of(spec), tables),
            strangers: Compiled::new(AccessPoints::with_unspecified(spec), tables),
            spec: spec.clone(),
            is_own,
        }
    }

    /// Returns whether it has a method with this name and number of arguments.
    pub(super) fn has(&self, method: &str, arity: usize) -> bool {
        self.spec.methods().iter().any(|m| m.name() == method && m.arity() == arity)
    }
}

/// Specifications, and the declared types of objects. Cheap to clone.
///
/// The first of these rules that applies decides the type of an object:
///
/// 1. [`Types::declare`];
/// 2. a type with the very name of the object;
/// 3. the part of its name before the first `:` or `#`, if a type is called so: `queue:jobs`,
///    `file#3`;
/// 4. the only type of the user, or else the only built-in one, that has all methods that the
///    trace's table of invocations names for the object, with as many arguments.
///
/// All other objects are [`Unspecified`]. The fourth rule uses the invocations in the tables at the
/// first use of the object. These are all invocations of a trace in memory; in a stream, all up to
/// the end of the block.
#[derive(Clone, Debug)]
pub struct Types {
    pub(super) list: Arc<Vec<Type>>,
    /// The tables of all types.
    pub(super) tables: Arc<Vec<ClassTable>>,
    declared: HashMap<String, usize>,
    pub(super) unspecified: Unspecified,
}

/// The name of the type of objects without a specification.
pub(super) const NO_TYPE: &str = "unspecified";

impl Types {
    /// Returns the built-in types with their fine specifications.
    ///
    /// # Errors
    /// Never fails: tests check the texts.
    pub fn built_in() -> Result<Types, SpecErrors> {
        Types::with(&Document::default())
    }

    /// Returns a user's types, and the built-in types whose names the user does not define.
    ///
    /// # Errors
    /// Never fails: tests check the texts of the built-in types.
    pub fn with(document: &Document) -> Result<Types, SpecErrors> {
        let (mut list, mut tables) = (Vec::new(), first_tables());
        for spec in &document.specs {
            list.push(Type::new((spec, document), true, &mut tables));
        }
        for built_in in built_in_types() {
            let fine = built_in.fine()?;
            for spec in fine.specs.iter().filter(|spec| document.spec(spec.name()).is_none()) {
                list.push(Type::new((spec, &fine), false, &mut tables));
            }
        }
        // Nothing commutes if nothing is known.
        let nothing = Spec::parse(&format!("spec {NO_TYPE} {{}}"))?;
        list.push(Type::new((&nothing, &Document::default()), false, &mut tables));
        let unspecified = Unspecified::default();
        let (list, tables) = (Arc::new(list), Arc::new(tables));
        Ok(Types { list, tables, declared: HashMap::new(), unspecified })
    }

    /// Declares the type of an object, replacing an earlier declaration.
    ///
    /// # Errors
    /// Fails if there is no such type.
    pub fn declare(&mut self, object: &str, type_name: &str) -> Result<(), DeclareError> {
        let found = self.find(type_name).ok_or_else(|| DeclareError {
            object: object.to_owned(),
            type_name: type_name.to_owned(),
        })?;
        self.declared.insert(object.to_owned(), found);
        Ok(())
    }

    /// Sets the treatment of objects without a specification.
    #[must_use]
    pub fn unspecified(mut self, unspecified: Unspecified) -> Types {
        self.unspecified = unspecified;
        self
    }

    /// Returns the names of the types, those of the user first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list[..self.list.len() - 1].iter().map(|of_type| of_type.spec.name())
    }

    /// Returns the specification of a type.
    #[must_use]
    pub fn spec(&self, type_name: &str) -> Option<&Spec> {
        self.find(type_name).map(|at| &self.list[at].spec)
    }

    /// Returns the type of unspecified objects, unless they are ignored.
    pub(super) fn fallback(&self) -> Option<usize> {
        (self.unspecified == Unspecified::NothingCommutes).then_some(self.list.len() - 1)
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.list[..self.list.len() - 1].iter().position(|of_type| of_type.spec.name() == name)
    }

    /// Returns the type that the name of an object encodes.
    pub(super) fn by_name(&self, object: &str) -> Option<usize> {
        let declared = self.declared.get(object).copied();
        declared.or_else(|| self.find(object)).or_else(|| {
            let end = object.find([':', '#'])?;
            self.find(&object[..end])
        })
    }

    /// Returns the only type that has all of these methods, the user's types first.
    pub(super) fn by_methods<'m>(
        &self,
        methods: impl Iterator<Item = (&'m str, usize)> + Clone,
    ) -> Option<usize> {
        [true, false].into_iter().find_map(|is_own| {
            let known = &self.list[..self.list.len() - 1];
            let mut fitting = known.iter().enumerate().filter(|(_, of_type)| {
                of_type.is_own == is_own
                    && methods.clone().all(|(method, arity)| of_type.has(method, arity))
            });
            match (fitting.next(), fitting.next()) {
                (Some((at, _)), None) => Some(at),
                _ => None,
            }
        })
    }
}
