//! The compiler's state: units, functions asked for, and what was not understood.

use super::kinds::Kinds;
use super::native::Natives;
use super::platform::Platform;
use super::unit::{Gap, Unit, UnitId};
use super::{Code, dispatch, methods, prelude};
use anyorder_common::source::Span;
use anyorder_program::{ConstId, FuncId, Literal, ProgramBuilder, SiteId};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// What a function is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Wanted {
    /// A method called with so many arguments: `(arguments..)`.
    Entry(UnitId, String, u16),
    /// The method of a name with this number, called with so many arguments.
    Method(UnitId, String, usize, u16),
    /// Any method with so many arguments: `(name, arguments..)`.
    Named(UnitId, u16),
    /// The statements of a script outside of methods.
    Script(UnitId),
    /// A function of the run-time library.
    Library(String, u16),
    /// `(value)`: a property.
    Get(String),
    /// `(value, new)`: sets a property.
    Set(String),
    /// `(value, name)`: a property with a computed name.
    GetAny,
    /// `(value, new, name)`
    SetAny,
    /// `(value, arguments..)`: a method of a value.
    Invoke(String, u16),
    /// `(value, name, arguments..)`: a method with a computed name.
    InvokeAny(u16),
    /// `(closure, arguments..)`: calls a closure.
    CallValue(u16),
}

/// A unit with what is needed for its places.
#[derive(Clone, Debug)]
struct Placed {
    unit: Arc<Unit>,
    file: u16,
    line_starts: Vec<u32>,
}

/// Compiles apps into functions of one program.
///
/// A platform declares what it needs in [`Lowering::builder`], adds units, asks for functions
/// ([`Lowering::method`]), and calls [`Lowering::compile`] at the end: it compiles all that was
/// asked for, and all that this calls. Then [`Lowering::finish`] gives the builder back.
pub struct Lowering {
    builder: ProgramBuilder,
    kinds: Kinds,
    units: Vec<Placed>,
    functions: HashMap<Wanted, FuncId>,
    queue: VecDeque<(Wanted, FuncId)>,
    natives: Natives,
    texts: HashMap<String, ConstId>,
    gaps: BTreeSet<Gap>,
}

impl std::fmt::Debug for Lowering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lowering").field("functions", &self.functions.len()).finish()
    }
}

impl Lowering {
    /// Starts with a builder, in which a platform may have declared things already.
    pub fn new(mut builder: ProgramBuilder) -> Lowering {
        let kinds = Kinds::new(&mut builder);
        Lowering {
            builder,
            kinds,
            units: Vec::new(),
            functions: HashMap::new(),
            queue: VecDeque::new(),
            natives: Natives::default(),
            texts: HashMap::new(),
            gaps: BTreeSet::new(),
        }
    }

    /// Adds an app.
    pub fn unit(&mut self, unit: Unit) -> UnitId {
        let mut line_starts = vec![0];
        for (at, byte) in (0_u32..).zip(unit.text.bytes()) {
            if byte == b'\n' {
                line_starts.push(at + 1);
            }
        }
        let file = self.builder.file(&unit.file);
        self.units.push(Placed { unit: Arc::new(unit), file, line_starts });
        UnitId(u16::try_from(self.units.len() - 1).unwrap_or(u16::MAX))
    }

    /// Returns an app; one that does not exist is empty.
    pub fn app(&self, id: UnitId) -> Arc<Unit> {
        if id == prelude::UNIT {
            return prelude::unit();
        }
        match self.units.get(usize::from(id.0)) {
            Some(placed) => placed.unit.clone(),
            None => Arc::new(Unit::new("", "", crate::ast::Script::default())),
        }
    }

    /// Returns the types of the values.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Returns the builder, for declarations.
    pub fn builder(&mut self) -> &mut ProgramBuilder {
        &mut self.builder
    }

    /// Returns the function that calls the method `name` with so many arguments; `None` if no
    /// method of that name takes so many.
    pub fn method(&mut self, unit: UnitId, name: &str, arguments: u16) -> Option<FuncId> {
        let app = self.app(unit);
        let takes = app.methods(name).iter().any(|one| methods::takes_count(one, arguments));
        takes.then(|| self.want(Wanted::Entry(unit, name.to_owned(), arguments)))
    }

    /// Returns the function `(name, arguments..)` that calls the method of a name which is known
    /// only when it runs. All methods with so many arguments are compiled for it.
    pub fn named_method(&mut self, unit: UnitId, arguments: u16) -> FuncId {
        self.want(Wanted::Named(unit, arguments))
    }

    /// Returns the function that runs the statements of a script outside of its methods.
    pub fn script(&mut self, unit: UnitId) -> FuncId {
        self.want(Wanted::Script(unit))
    }

    /// Returns the function `(closure, arguments..)` that calls a closure.
    pub fn call_value(&mut self, arguments: u16) -> FuncId {
        self.want(Wanted::CallValue(arguments))
    }

    /// Returns the function `(value)` to a boolean: what the value counts as in a condition.
    pub fn truth(&mut self) -> FuncId {
        self.want(Wanted::Library("truth".to_owned(), 1))
    }

    /// Returns the function `(value)` to its text.
    pub fn show(&mut self) -> FuncId {
        self.want(Wanted::Library("show".to_owned(), 1))
    }

    /// Returns the function `(a, b)` of `==`, to a boolean.
    pub fn equal(&mut self) -> FuncId {
        self.want(Wanted::Library("equal".to_owned(), 2))
    }

    /// Returns the function `(value)` to the same value without objects: lists become lists of the
    /// machine, maps records of `Kinds::frozen_map`. Closures are a gap.
    pub fn freeze(&mut self) -> FuncId {
        self.want(Wanted::Library("freeze".to_owned(), 1))
    }

    /// Returns the function `(value)` that makes new lists and maps of a frozen value.
    pub fn thaw(&mut self) -> FuncId {
        self.want(Wanted::Library("thaw".to_owned(), 1))
    }

    /// Starts a function of the platform.
    pub fn code(&mut self, name: &str, params: u16) -> Code<'_> {
        Code::new(self, name, params, 0)
    }

    /// Compiles all functions that were asked for, and those that they ask for.
    pub fn compile(&mut self, platform: &mut dyn Platform) {
        while let Some((wanted, id)) = self.queue.pop_front() {
            match wanted {
                Wanted::Entry(unit, name, arguments) => {
                    methods::entry(self, platform, id, unit, &name, arguments);
                }
                Wanted::Method(unit, name, index, arguments) => {
                    methods::one(self, platform, id, (unit, &name, index), arguments);
                }
                Wanted::Named(unit, arguments) => methods::named(self, id, unit, arguments),
                Wanted::Script(unit) => methods::script(self, platform, id, unit),
                Wanted::Library(name, count) => prelude::function(self, platform, id, &name, count),
                other => dispatch::function(self, platform, id, &other),
            }
        }
    }

    /// Returns the places that are not understood, in order.
    pub fn gaps(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter()
    }

    /// Returns the builder with everything compiled.
    pub fn finish(self) -> ProgramBuilder {
        self.builder
    }

    /// Returns the function for something; it is compiled later.
    pub(super) fn want(&mut self, wanted: Wanted) -> FuncId {
        if let Some(id) = self.functions.get(&wanted) {
            return *id;
        }
        let id = self.builder.declare_function();
        self.functions.insert(wanted.clone(), id);
        self.queue.push_back((wanted, id));
        id
    }

    pub(super) fn record(&mut self, gap: Gap) {
        self.gaps.insert(gap);
    }

    pub(super) fn natives(&mut self) -> (&mut Natives, &mut ProgramBuilder, Kinds) {
        (&mut self.natives, &mut self.builder, self.kinds)
    }

    /// Returns the constant of a text.
    pub(super) fn text(&mut self, text: &str) -> ConstId {
        if let Some(id) = self.texts.get(text) {
            return *id;
        }
        let id = self.builder.constant(Literal::Str(text.to_owned()));
        self.texts.insert(text.to_owned(), id);
        id
    }

    /// Returns the place of a span in a unit.
    pub(super) fn site(&mut self, unit: UnitId, span: Span) -> SiteId {
        let Some(placed) = self.units.get(usize::from(unit.0)) else { return SiteId(0) };
        let line = placed.line_starts.partition_point(|start| *start <= span.start).max(1);
        let from = placed.line_starts[line - 1] as usize;
        let before = placed.unit.text.get(from..span.start as usize).unwrap_or("");
        let column = u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX);
        self.builder.site(placed.file, u32::try_from(line).unwrap_or(u32::MAX), column)
    }
}
