//! What an app finds outside of its script.

use super::{Code, Gap, Lowering, UnitId};
use crate::ast::Expr;
use anyorder_program::{FuncId, Literal, Reg};

/// A call of a name that the script does not define: `runIn(60, tick)`.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The app that calls.
    pub unit: UnitId,
    /// The name.
    pub name: &'a str,
    /// The arguments in their order. Named ones are one map, the first argument, as in Groovy.
    pub arguments: &'a [Argument<'a>],
}

/// An argument, evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    /// Its value.
    pub value: Reg,
    /// Its tree, where it is one expression (not the map of named arguments): so a platform can see
    /// a constant, or the name of a method.
    pub expr: Option<&'a Expr>,
    /// The named arguments of which the value is a map: names and trees.
    pub named: &'a [(&'a str, &'a Expr)],
}

impl Argument<'_> {
    /// Returns the text of a string constant.
    pub fn text(&self) -> Option<&str> {
        match &self.expr?.bare().kind {
            crate::ast::ExprKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the bare name that the argument is: `tick` in `runIn(60, tick)`.
    pub fn name(&self) -> Option<&str> {
        match &self.expr?.bare().kind {
            crate::ast::ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// Resolves what a script does not define. Its methods are asked while code is compiled; they emit
/// code or name functions. The defaults know nothing.
///
/// A result is a register that [`Code`] gave out: it stays as it is until the end of the statement.
pub trait Platform {
    /// Reads a property of the app: a setting, `state`, `location`. Is asked for each name that is
    /// no variable. `None`: it knows none of this name ([`Platform::knows_all`]).
    fn property(&mut self, code: &mut Code<'_>, unit: UnitId, name: &str) -> Option<Reg> {
        let _ = (code, unit, name);
        None
    }

    /// Reads a property of the app with a computed name: `this."$name"`. `None`: not understood.
    fn named_property(&mut self, code: &mut Code<'_>, unit: UnitId, name: Reg) -> Option<Reg> {
        let _ = (code, unit, name);
        None
    }

    /// Sets a property of the app. Returns whether there is such a property.
    fn set_property(&mut self, code: &mut Code<'_>, unit: UnitId, name: &str, value: Reg) -> bool {
        let _ = (code, unit, name, value);
        false
    }

    /// Calls a name that the script does not define; `new Date` for a class that Groovy does not
    /// make. `None`: it knows none of this name ([`Platform::knows_all`]). A platform that cannot
    /// compile a call it knows calls [`Code::gap`].
    fn call(&mut self, code: &mut Code<'_>, call: &Call<'_>) -> Option<Reg> {
        let _ = (code, call);
        None
    }

    /// Returns a function `(value)` that reads a property of values of the platform:
    /// `evt.value`. It is called for values that are none of Groovy's; it must look which value it
    /// is ([`Code::throw_missing_property`] for others).
    fn member(&mut self, lowering: &mut Lowering, name: &str) -> Option<FuncId> {
        let _ = (lowering, name);
        None
    }

    /// Returns a function `(value, new)` that sets a property of values of the platform.
    fn set_member(&mut self, lowering: &mut Lowering, name: &str) -> Option<FuncId> {
        let _ = (lowering, name);
        None
    }

    /// Returns a function `(value, name)` for properties whose names are computed, as in
    /// `device."$name"`.
    fn any_member(&mut self, lowering: &mut Lowering) -> Option<FuncId> {
        let _ = lowering;
        None
    }

    /// Returns a function `(value, new, name)` that sets a property whose name is computed.
    fn set_any_member(&mut self, lowering: &mut Lowering) -> Option<FuncId> {
        let _ = lowering;
        None
    }

    /// Returns a function `(value, arguments..)` for a method of values of the platform with so
    /// many arguments: `switch1.setLevel(50)`. A method of a list of devices is a method of each of
    /// them: such a list is a Groovy list, and the function gets it, too.
    fn method(&mut self, lowering: &mut Lowering, name: &str, arguments: u16) -> Option<FuncId> {
        let _ = (lowering, name, arguments);
        None
    }

    /// Returns a function `(value, name, arguments..)` for methods whose names are computed.
    fn any_method(&mut self, lowering: &mut Lowering, arguments: u16) -> Option<FuncId> {
        let _ = (lowering, arguments);
        None
    }

    /// Returns whether a name that the platform does not know is a mistake of the app, so that code
    /// which reaches it throws. Otherwise the name is not understood: a gap.
    fn knows_all(&self) -> bool {
        false
    }

    /// Says what stands for a value that is not understood: any of these values (havoc), or, with
    /// `None`, the function returns a `Gap`. The place is recorded in both cases.
    fn unknown(&mut self, gap: &Gap) -> Option<Vec<Literal>> {
        let _ = gap;
        None
    }
}

/// A platform that knows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPlatform;

impl Platform for NoPlatform {}
