//! Builds a program piece by piece.

use crate::declare::{
    Choice, Class, Component, Cond, Enum, Event, Family, Global, Handler, Invariant, Lock,
    MailboxKind, Post, PostTarget, Record, Response, Symmetry, Task, Thread, Variant,
};
use crate::function::{Function, SourceSite};
use crate::function_build::FunctionBuilder;
use crate::ids::{
    ChoiceId, ClassId, CondId, ConstId, EnumId, EventId, FuncId, GlobalId, HandlerId, LockId,
    NameId, NativeId, PostId, RecordId, Reg, SiteId, TaskId, ThreadId, TypeId,
};
use crate::literal::Literal;
use crate::native::{Native, NativeCode};
use crate::types::Type;
use crate::validate::ProgramError;
use crate::whole::{Program, Settings};
use anyorder_system::Level;
use std::sync::Arc;

/// Builds a [`Program`]. Declarations may come in any order. A function may be declared before its
/// body is known ([`declare_function`](Self::declare_function), then [`define`](Self::define)).
/// [`finish`](Self::finish) refuses tables that are too long.
///
/// ```
/// use anyorder_program::{Literal, Op, ProgramBuilder};
///
/// let mut b = ProgramBuilder::new("counter");
/// let x = b.global("x", Literal::Int(0));
/// let mut f = b.function("click", 0);
/// let old = f.value(|dst| Op::GetGlobal { dst, global: x });
/// let new = f.value(|dst| Op::AddInt { dst, a: old, value: 1 });
/// f.emit(Op::SetGlobal { global: x, src: new });
/// let body = b.add(f);
/// b.event("click", body);
/// let program = b.finish()?;
/// assert_eq!(program.events.len(), 1);
/// # Ok::<(), anyorder_program::ProgramError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProgramBuilder {
    program: Program,
}

/// Adds an entry to a table and returns its number. The validator refuses a table that is too long.
fn push<T>(table: &mut Vec<T>, entry: T) -> u16 {
    table.push(entry);
    u16::try_from(table.len() - 1).unwrap_or(u16::MAX)
}

impl ProgramBuilder {
    /// Starts a program.
    #[must_use]
    pub fn new(name: &str) -> ProgramBuilder {
        let sites = vec![SourceSite::default()];
        ProgramBuilder { program: Program { name: name.to_owned(), sites, ..Program::default() } }
    }

    /// Returns the program as built so far.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the program as built so far, for changes that have no method here.
    pub fn program_mut(&mut self) -> &mut Program {
        &mut self.program
    }

    /// Sets how the program is run.
    pub fn settings(&mut self, settings: Settings) {
        self.program.settings = settings;
    }

    /// Adds a source file and returns its number for [`site`](Self::site).
    pub fn file(&mut self, name: &str) -> u16 {
        push(&mut self.program.files, name.to_owned())
    }

    /// Returns the number of a source position. A repeated call with the last position returns the
    /// same number.
    pub fn site(&mut self, file: u16, line: u32, column: u32) -> SiteId {
        let site = SourceSite { file, line, column };
        if self.program.sites.last() != Some(&site) {
            self.program.sites.push(site);
        }
        SiteId(u32::try_from(self.program.sites.len() - 1).unwrap_or(u32::MAX))
    }

    /// Returns the number of a name; equal names have equal numbers. Linear in the number of names.
    pub fn name(&mut self, name: &str) -> NameId {
        let known = self.program.names.iter().position(|n| n == name);
        let index = known.unwrap_or_else(|| {
            self.program.names.push(name.to_owned());
            self.program.names.len() - 1
        });
        NameId(u16::try_from(index).unwrap_or(u16::MAX))
    }

    /// Adds a constant.
    pub fn constant(&mut self, value: Literal) -> ConstId {
        self.program.constants.push(value);
        ConstId(u32::try_from(self.program.constants.len() - 1).unwrap_or(u32::MAX))
    }

    /// Adds a type to check for, or that type or null.
    pub fn ty(&mut self, ty: Type, or_null: bool) -> TypeId {
        TypeId(push(&mut self.program.types, (ty, or_null)))
    }

    /// Adds a function of the front end.
    pub fn native(&mut self, name: &str, params: u16, code: Arc<NativeCode>) -> NativeId {
        let native = Native { name: name.to_owned(), params, code };
        NativeId(push(&mut self.program.natives, native))
    }

    /// Adds an enum: names of its variants, and how many payload values each has.
    pub fn enumeration(&mut self, name: &str, variants: &[(&str, u16)]) -> EnumId {
        let variant =
            |(name, payload): &(&str, u16)| Variant { name: (*name).to_owned(), payload: *payload };
        let variants = variants.iter().map(variant).collect();
        EnumId(push(&mut self.program.enums, Enum { name: name.to_owned(), variants }))
    }

    /// Adds a record type.
    pub fn record(&mut self, name: &str, fields: &[&str]) -> RecordId {
        let fields = fields.iter().map(|f| self.name(f)).collect();
        RecordId(push(&mut self.program.records, Record { name: name.to_owned(), fields }))
    }

    /// Adds a class.
    pub fn class(&mut self, name: &str, fields: &[&str]) -> ClassId {
        let fields = fields.iter().map(|f| self.name(f)).collect();
        ClassId(push(
            &mut self.program.classes,
            Class { name: name.to_owned(), fields, methods: Vec::new() },
        ))
    }

    /// Adds a method to a class, for calls on receivers of unknown type.
    pub fn method(&mut self, class: ClassId, name: &str, func: FuncId) {
        let name = self.name(name);
        if let Some(class) = self.program.classes.get_mut(class.index()) {
            class.methods.push((name, func));
        }
    }

    /// Adds a global.
    pub fn global(&mut self, name: &str, initial: Literal) -> GlobalId {
        let level = Level::Persistent;
        GlobalId(push(&mut self.program.globals, Global { name: name.to_owned(), initial, level }))
    }

    /// Adds a lock, or an array of locks.
    pub fn lock(&mut self, name: &str, array: Option<u16>) -> LockId {
        LockId(push(&mut self.program.locks, Lock { name: name.to_owned(), array }))
    }

    /// Adds a condition, or an array of conditions.
    pub fn cond(&mut self, name: &str, array: Option<u16>) -> CondId {
        CondId(push(&mut self.program.conds, Cond { name: name.to_owned(), array }))
    }

    /// Adds a handler, or an array of handlers.
    pub fn handler(&mut self, name: &str, mailbox: MailboxKind, array: Option<u16>) -> HandlerId {
        HandlerId(push(
            &mut self.program.handlers,
            Handler { name: name.to_owned(), mailbox, array, fair: true },
        ))
    }

    /// Adds a task; `handler` is where posts that name no handler go.
    pub fn task(&mut self, name: &str, body: FuncId, handler: Option<HandlerId>) -> TaskId {
        let handler = handler.map(|h| (h, 0));
        TaskId(push(&mut self.program.tasks, Task { name: name.to_owned(), body, handler }))
    }

    /// Adds an event that is always enabled. [`event_mut`](Self::event_mut) gives access to its
    /// other properties.
    pub fn event(&mut self, name: &str, body: FuncId) -> EventId {
        EventId(push(
            &mut self.program.events,
            Event {
                name: name.to_owned(),
                family: None,
                handler: None,
                guard: None,
                body,
                once: false,
                after: Vec::new(),
                started: Vec::new(),
                disabled: false,
                fair: true,
            },
        ))
    }

    /// Adds an event that happens at most once.
    pub fn once_event(&mut self, name: &str, body: FuncId) -> EventId {
        let event = self.event(name, body);
        if let Some(event) = self.event_mut(event) {
            event.once = true;
        }
        event
    }

    /// Returns an added event for changes; `None` for an unknown number.
    pub fn event_mut(&mut self, event: EventId) -> Option<&mut Event> {
        self.program.events.get_mut(event.index())
    }

    /// Adds a thread, or a family of threads.
    pub fn thread(&mut self, name: &str, family: Option<Family>, body: FuncId) -> ThreadId {
        ThreadId(push(
            &mut self.program.threads,
            Thread { name: name.to_owned(), family, body, fair: true },
        ))
    }

    /// Adds a way to post to the given target, without delay, behind the other messages.
    pub fn post(&mut self, task: TaskId, target: PostTarget) -> PostId {
        self.post_with(Post { task, target, delay: Reg::NONE, front: false })
    }

    /// Adds a way to post.
    pub fn post_with(&mut self, post: Post) -> PostId {
        PostId(push(&mut self.program.posts, post))
    }

    /// Adds a choice between labelled alternatives.
    pub fn choice(&mut self, labels: &[&str]) -> ChoiceId {
        let labels = labels.iter().map(|&l| l.to_owned()).collect();
        ChoiceId(push(&mut self.program.choices, Choice { labels }))
    }

    /// Adds an invariant.
    pub fn invariant(&mut self, name: &str, holds: FuncId) {
        self.program.invariants.push(Invariant { name: name.to_owned(), holds });
    }

    /// Sets the condition under which the program may end where nothing can happen and nothing
    /// waits: a function without parameters, under the rules of guards.
    pub fn final_condition(&mut self, holds: FuncId) {
        self.program.final_ = Some(holds);
    }

    /// Adds a response property.
    pub fn response(&mut self, name: &str, trigger: FuncId, response: FuncId) {
        self.program.responses.push(Response { name: name.to_owned(), trigger, response });
    }

    /// Adds a symmetry.
    pub fn symmetry(&mut self, symmetry: Symmetry) {
        self.program.symmetries.push(symmetry);
    }

    /// Adds a component.
    pub fn component(&mut self, component: Component) {
        self.program.components.push(component);
    }

    /// Starts a function whose parameters are in the first registers. [`add`](Self::add) or
    /// [`define`](Self::define) takes it when it is complete.
    #[must_use]
    pub fn function(&self, name: &str, params: u16) -> FunctionBuilder {
        FunctionBuilder::new(name, params, 0)
    }

    /// Starts the function of a closure: parameters, then captures, in the first registers.
    #[must_use]
    pub fn closure(&self, name: &str, params: u16, captures: u16) -> FunctionBuilder {
        FunctionBuilder::new(name, params, captures)
    }

    /// Adds a function.
    pub fn add(&mut self, function: FunctionBuilder) -> FuncId {
        FuncId(push(&mut self.program.functions, function.finish()))
    }

    /// Reserves the number of a function, so that other functions can call it before it is defined.
    pub fn declare_function(&mut self) -> FuncId {
        FuncId(push(&mut self.program.functions, Function::default()))
    }

    /// Gives a declared function its body. Does nothing for an unknown number.
    pub fn define(&mut self, id: FuncId, function: FunctionBuilder) {
        if let Some(slot) = self.program.functions.get_mut(id.index()) {
            *slot = function.finish();
        }
    }

    /// Finishes the program and checks it.
    ///
    /// # Errors
    ///
    /// Fails with the first mistake that [`Program::validate`] finds.
    pub fn finish(self) -> Result<Program, ProgramError> {
        self.program.validate()?;
        Ok(self.program)
    }
}
