//! Apps, and places in them.

use crate::ast::{Method, Script, StmtKind};
use anyorder_common::source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of an app in a [`Lowering`](super::Lowering).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UnitId(pub u16);

/// One app: its tree with its text. Two instances of an app are two units.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The name of the file, for places.
    pub file: String,
    /// The text.
    pub text: String,
    /// The methods by their names, in the order of the text.
    pub(super) methods: BTreeMap<String, Vec<Arc<Method>>>,
    /// The statements outside of methods.
    pub(super) script: Arc<Script>,
}

impl Unit {
    /// Makes a unit of a tree and its text. A tree with mistakes is taken, too: its wrong
    /// statements are not understood.
    pub fn new(file: &str, text: &str, script: Script) -> Unit {
        let mut methods: BTreeMap<String, Vec<Arc<Method>>> = BTreeMap::new();
        for stmt in &script.statements {
            if let StmtKind::Method(method) = &stmt.kind {
                methods.entry(method.name.clone()).or_default().push(Arc::new((**method).clone()));
            }
        }
        Unit { file: file.to_owned(), text: text.to_owned(), methods, script: Arc::new(script) }
    }

    /// Returns whether the script has a method of this name.
    pub fn has_method(&self, name: &str) -> bool {
        self.methods.contains_key(name)
    }

    /// Returns the names of the methods, sorted.
    pub fn method_names(&self) -> impl Iterator<Item = &str> {
        self.methods.keys().map(String::as_str)
    }

    /// Returns the methods of a name.
    pub fn methods(&self, name: &str) -> &[Arc<Method>] {
        self.methods.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the tree.
    pub fn script(&self) -> &Script {
        &self.script
    }
}

/// A place that is not understood.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Gap {
    /// The app; `None` in the code of the run-time library.
    pub unit: Option<UnitId>,
    /// The place.
    pub span: Span,
    /// What is not understood: a construct, a method, a name.
    pub what: String,
}
