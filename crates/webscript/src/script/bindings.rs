//! Which variables are logged, and which object stands for each activation of their scope.
//!
//! A variable is logged if other events can see it change: global ones, and those that an inner
//! function captures and something writes after their declaration. The others belong to one
//! activation, whose events are ordered.
//!
//! Each activation of a scope with such variables makes one *scope object*, in a variable of its
//! own at the beginning of the block, so that two activations have two locations. A scope without a
//! block (the head of a loop, a `switch`) uses that of the scope around it.

use super::Kind;
use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, BlockStatement, Class, DoWhileStatement,
    ForInStatement, ForOfStatement, ForStatement, Function, IdentifierReference, Program,
    StaticBlock, VariableDeclaration, VariableDeclarator, WhileStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span};
use oxc_syntax::reference::Reference;
use oxc_syntax::scope::{ScopeFlags, ScopeId};
use oxc_syntax::symbol::{SymbolFlags, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    /// Nothing that is logged.
    Quiet,
    /// A global variable.
    Global,
    /// A local one: the scope that has the scope object, and the place in its list.
    Local(ScopeId, u32),
}

/// Where the variable with the scope object is declared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Door {
    /// A statement goes to this offset; it follows a directive if the flag is set.
    Statement(u32, bool),
    /// The body of an arrow function that is an expression.
    Expression(Span),
}

/// All variables of a script.
pub(super) struct Bindings {
    /// By symbol.
    variables: Vec<Variable>,
    /// By scope: the names in the list of its scope object.
    pub(super) owners: FxHashMap<ScopeId, Vec<String>>,
    pub(super) doors: FxHashMap<ScopeId, Door>,
    /// By scope of a function: its parameters.
    parameters: FxHashMap<ScopeId, Span>,
    /// By scope: the innermost `with` around it.
    withs: Vec<Option<ScopeId>>,
}

impl Bindings {
    /// Finds the variables of a script. It takes time linear in the script and its references.
    pub(super) fn new(program: &Program<'_>, scoping: &Scoping, kind: Kind) -> Self {
        let mut shape = Shape::default();
        shape.visit_program(program);
        let count = scoping.scopes_len();
        let (mut functions, mut withs) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for scope in scoping.scope_descendants_from_root() {
            let flags = scoping.scope_flags(scope);
            let parent = scoping.scope_parent_id(scope).map(|parent| parent.index());
            let begins = flags.is_function()
                || flags.is_class_static_block()
                || shape.classes.contains(&scope);
            let of =
                |list: &[Option<ScopeId>]| parent.and_then(|at| list.get(at).copied()).flatten();
            let function = if begins { Some(scope) } else { of(&functions) };
            let with = if flags.contains(ScopeFlags::With) { Some(scope) } else { of(&withs) };
            set(&mut functions, scope.index(), function);
            set(&mut withs, scope.index(), with);
        }
        let mut bindings = Self {
            variables: Vec::with_capacity(scoping.symbols_len()),
            owners: FxHashMap::default(),
            doors: FxHashMap::default(),
            parameters: FxHashMap::default(),
            withs,
        };
        for symbol in scoping.symbol_ids() {
            let variable = bindings.classify(symbol, scoping, kind, &shape, &functions);
            bindings.variables.push(variable);
        }
        bindings.doors = shape.doors;
        bindings.parameters = shape.parameters;
        bindings
    }

    fn classify(
        &mut self,
        symbol: SymbolId,
        scoping: &Scoping,
        kind: Kind,
        shape: &Shape,
        functions: &[Option<ScopeId>],
    ) -> Variable {
        let flags = scoping.symbol_flags(symbol);
        let scope = scoping.symbol_scope_id(symbol);
        if flags.intersects(SymbolFlags::Import | SymbolFlags::TypeImport) {
            return Variable::Quiet;
        }
        if scope == scoping.root_scope_id() {
            match kind {
                Kind::Classic => return Variable::Global,
                Kind::Eval => {
                    let is_var = SymbolFlags::FunctionScopedVariable | SymbolFlags::Function;
                    let is_global = flags.intersects(is_var);
                    return if is_global { Variable::Global } else { Variable::Quiet };
                }
                Kind::Module | Kind::Handler => {}
            }
        }
        let home = functions.get(scope.index()).copied().flatten();
        let captured = scoping.get_resolved_references(symbol).any(|reference| {
            functions.get(reference.scope_id().index()).copied().flatten() != home
        });
        let changes = !flags.is_const_variable()
            && (scoping.symbol_is_mutated(symbol) || shape.again.contains(&symbol));
        if !captured || !changes {
            return Variable::Quiet;
        }
        let Some(owner) =
            scoping.scope_ancestors(scope).find(|scope| shape.doors.contains_key(scope))
        else {
            return Variable::Quiet;
        };
        let names = self.owners.entry(owner).or_default();
        names.push(scoping.symbol_name(symbol).to_owned());
        Variable::Local(owner, u32::try_from(names.len() - 1).unwrap_or(u32::MAX))
    }

    /// Returns what a declared name stands for.
    pub(super) fn symbol(&self, symbol: SymbolId) -> Variable {
        self.variables.get(symbol.index()).copied().unwrap_or(Variable::Quiet)
    }

    /// Returns whether a local variable is used inside of a `with` that it is declared outside of.
    pub(super) fn is_under_with(&self, scoping: &Scoping, it: &IdentifierReference<'_>) -> bool {
        let Some(id) = it.reference_id.get() else { return true };
        let reference = scoping.get_reference(id);
        let home = reference.symbol_id().map(|symbol| scoping.symbol_scope_id(symbol));
        home.is_none_or(|home| self.with(home) != self.with(reference.scope_id()))
    }

    fn with(&self, scope: ScopeId) -> Option<ScopeId> {
        self.withs.get(scope.index()).copied().flatten()
    }

    /// Returns what a reference at an offset stands for. Inside a `with` only variables that are
    /// declared inside too are known. In parameters the scope object of the body does not exist
    /// yet.
    pub(super) fn reference(
        &self,
        reference: &Reference,
        scoping: &Scoping,
        offset: u32,
    ) -> Variable {
        let Some(symbol) = reference.symbol_id() else {
            let is_known = self.with(reference.scope_id()).is_none();
            return if is_known { Variable::Global } else { Variable::Quiet };
        };
        if self.with(scoping.symbol_scope_id(symbol)) != self.with(reference.scope_id()) {
            return Variable::Quiet;
        }
        let variable = self.symbol(symbol);
        if let Variable::Local(owner, _) = variable {
            let parameters = self.parameters.get(&owner);
            if parameters.is_some_and(|span| span.start <= offset && offset < span.end) {
                return Variable::Quiet;
            }
        }
        variable
    }
}

fn set(list: &mut Vec<Option<ScopeId>>, at: usize, value: Option<ScopeId>) {
    if list.len() <= at {
        list.resize(at + 1, None);
    }
    if let Some(place) = list.get_mut(at) {
        *place = value;
    }
}

/// What the tree has that the table of scopes has not.
#[derive(Default)]
struct Shape {
    doors: FxHashMap<ScopeId, Door>,
    parameters: FxHashMap<ScopeId, Span>,
    classes: FxHashSet<ScopeId>,
    /// Variables whose declaration can give them a second value: a `var` in a loop, or one that
    /// gets its first value in a function that can be suspended before.
    again: FxHashSet<SymbolId>,
    repeats: bool,
}

impl Shape {
    fn statement(&mut self, scope: &Cell<Option<ScopeId>>, offset: u32, after_directive: bool) {
        if let Some(scope) = scope.get() {
            self.doors.insert(scope, Door::Statement(offset, after_directive));
        }
    }

    fn repeating(&mut self, repeats: bool, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.repeats, repeats);
        visit(self);
        self.repeats = before;
    }
}

/// Returns where the first statement of a body goes, and whether it follows a directive.
pub(super) fn after_directives(
    start: u32,
    directives: &[oxc_ast::ast::Directive<'_>],
) -> (u32, bool) {
    directives.last().map_or((start, false), |last| (last.span.end, true))
}

impl<'a> Visit<'a> for Shape {
    fn visit_program(&mut self, it: &Program<'a>) {
        let start = it.hashbang.as_ref().map_or(0, |hashbang| hashbang.span.end);
        let (offset, after) = after_directives(start, &it.directives);
        self.statement(&it.scope_id, offset, after);
        self.repeats = it.source_type.is_module();
        walk::walk_program(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if let (Some(scope), Some(body)) = (it.scope_id.get(), &it.body) {
            let (offset, after) = after_directives(body.span.start + 1, &body.directives);
            self.doors.insert(scope, Door::Statement(offset, after));
            self.parameters.insert(scope, it.params.span);
        }
        self.repeating(it.r#async || it.generator, |this| walk::walk_function(this, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        if let Some(scope) = it.scope_id.get() {
            let door = match &it.body {
                ArrowFunctionBody::FunctionBody(body) => {
                    let (offset, after) = after_directives(body.span.start + 1, &body.directives);
                    Door::Statement(offset, after)
                }
                body => Door::Expression(body.span()),
            };
            self.doors.insert(scope, door);
            self.parameters.insert(scope, it.params.span);
        }
        self.repeating(it.r#async, |this| walk::walk_arrow_function_expression(this, it));
    }

    fn visit_block_statement(&mut self, it: &BlockStatement<'a>) {
        self.statement(&it.scope_id, it.span.start + 1, false);
        walk::walk_block_statement(self, it);
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        // `static` and comments may stand before the brace: the first statement gives the place.
        if let Some(first) = it.body.first() {
            self.statement(&it.scope_id, first.span().start, false);
        }
        walk::walk_static_block(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.classes.extend(it.scope_id.get());
        walk::walk_class(self, it);
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.repeating(true, |this| walk::walk_for_statement(this, it));
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.repeating(true, |this| walk::walk_for_in_statement(this, it));
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.repeating(true, |this| walk::walk_for_of_statement(this, it));
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.repeating(true, |this| walk::walk_while_statement(this, it));
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.repeating(true, |this| walk::walk_do_while_statement(this, it));
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if self.repeats && it.kind.is_var() {
            let declared =
                it.declarations.iter().map(|declarator: &VariableDeclarator<'a>| &declarator.id);
            for pattern in declared {
                let names = pattern.get_binding_identifiers();
                self.again.extend(names.iter().filter_map(|name| name.symbol_id.get()));
            }
        }
        walk::walk_variable_declaration(self, it);
    }
}
