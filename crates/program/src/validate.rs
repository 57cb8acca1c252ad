//! Checks a program, so that the machine does not have to.

use crate::declare::{Commuting, Event, Family, PostTarget, Symmetry, Variant};
use crate::function::Function;
use crate::ids::{EnumId, FuncId, HandlerId, NameId, Reg, TableId};
use crate::literal::Literal;
use crate::types::Type;
use crate::whole::Program;

/// A mistake in a program: a bug in the compiler that made it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("bad program: {place}: {what}")]
pub struct ProgramError {
    /// Where: a function and the position of an instruction, or a declaration.
    pub place: String,
    /// What is wrong.
    pub what: String,
}

/// Most registers of a function.
const REGISTERS_MAX: u16 = 4_096;
/// Largest liveness table of a function, in words: one word holds 64 registers at one instruction.
const LIVENESS_MAX: usize = 1 << 21;
/// Most locks, conditions, slots, event members or thread members, each.
const MEMBERS_MAX: u64 = 1 << 20;
/// Longest table with 16-bit indices; the last index means "none".
const TABLE_MAX: usize = u16::MAX as usize;

pub(crate) type Check = Result<(), String>;

/// Fails unless the table has the index.
pub(crate) fn check_index(what: &str, index: usize, length: usize) -> Check {
    if index < length { Ok(()) } else { Err(format!("no {what} {index}")) }
}

fn within(what: &str, count: u64, limit: u64) -> Check {
    if count <= limit { Ok(()) } else { Err(format!("{count} {what}, more than {limit}")) }
}

impl Program {
    /// Returns an entry of a table. Fails past the end of the table.
    pub(crate) fn get<I: TableId + Copy>(&self, id: I) -> Result<&I::Entry, String> {
        id.entry(self).ok_or_else(|| format!("no {} {}", I::WHAT, id.number()))
    }

    /// Fails unless the table has the entry.
    pub(crate) fn check(&self, id: impl TableId + Copy) -> Check {
        self.get(id).map(drop)
    }

    /// Returns a variant of an enum.
    pub(crate) fn variant(&self, ty: EnumId, variant: u16) -> Result<&Variant, String> {
        let variants = &self.get(ty)?.variants;
        variants.get(usize::from(variant)).ok_or_else(|| format!("no variant {variant}"))
    }

    /// Checks every index, register, jump and size in the program. A program that passes cannot
    /// make the machine panic. Linear in the size of the program, except for families that list one
    /// another in `after`.
    ///
    /// # Errors
    ///
    /// Fails with the first mistake.
    pub fn validate(&self) -> Result<(), ProgramError> {
        let at = |place: &str, check: Check| {
            check.map_err(|what| ProgramError { place: place.to_owned(), what })
        };
        at("tables", self.check_tables())?;
        for (i, constant) in self.constants.iter().enumerate() {
            at(&format!("constant {i}"), self.check_literal(constant, Literal::DEPTH_MAX))?;
        }
        for global in &self.globals {
            at(&global.name, self.check_literal(&global.initial, Literal::DEPTH_MAX))?;
        }
        at("types", self.types.iter().try_for_each(|(ty, _)| self.check_type(*ty)))?;
        at("records and classes", self.check_shapes())?;
        at("tasks and posts", self.check_tasks())?;
        for event in &self.events {
            at(&event.name, self.check_event(event))?;
        }
        at("threads", self.check_threads())?;
        at("properties", self.check_properties())?;
        for component in &self.components {
            at(&component.name, component.functions.iter().try_for_each(|id| self.check(*id)))?;
        }
        for symmetry in &self.symmetries {
            at("symmetry", self.check_symmetry(symmetry))?;
        }
        for function in &self.functions {
            self.check_function(function)?;
        }
        Ok(())
    }

    fn check_tables(&self) -> Check {
        let tables = [
            ("names", self.names.len()),
            ("types", self.types.len()),
            ("enums", self.enums.len()),
            ("records", self.records.len()),
            ("classes", self.classes.len()),
            ("globals", self.globals.len()),
            ("locks", self.locks.len()),
            ("conditions", self.conds.len()),
            ("handlers", self.handlers.len()),
            ("tasks", self.tasks.len()),
            ("events", self.events.len()),
            ("threads", self.threads.len()),
            ("posts", self.posts.len()),
            ("choices", self.choices.len()),
            ("natives", self.natives.len()),
            ("functions", self.functions.len()),
        ];
        for (what, length) in tables {
            within(what, length as u64, TABLE_MAX as u64 - 1)?;
        }
        within("constants", self.constants.len() as u64, u64::from(u32::MAX))?;
        let one = |count: Option<u16>| u64::from(count.unwrap_or(1));
        within("locks", self.locks.iter().map(|l| one(l.array)).sum(), MEMBERS_MAX)?;
        within("conditions", self.conds.iter().map(|c| one(c.array)).sum(), MEMBERS_MAX)?;
        within("handlers", self.handlers.iter().map(|h| one(h.array)).sum(), MEMBERS_MAX)?;
        let events = self.events.iter().map(|e| one(e.family.map(|f| f.count))).sum();
        within("events", events, MEMBERS_MAX)?;
        let threads = self.threads.iter().map(|t| one(t.family.map(|f| f.count))).sum();
        within("threads", threads, MEMBERS_MAX)?;
        match self.choices.iter().find(|choice| choice.labels.is_empty()) {
            Some(_) => Err("a choice without alternatives".to_owned()),
            None => Ok(()),
        }
    }

    fn check_literal(&self, literal: &Literal, depth: usize) -> Check {
        let Some(depth) = depth.checked_sub(1) else {
            return Err("a constant nests too deep".to_owned());
        };
        let all = |items: &[Literal]| items.iter().try_for_each(|i| self.check_literal(i, depth));
        match literal {
            Literal::Null | Literal::Bool(_) | Literal::Int(_) | Literal::Str(_) => Ok(()),
            Literal::Index(of, member) => match self.symmetries.get(usize::from(*of)) {
                Some(index) if *member < index.size => Ok(()),
                _ => Err(format!("no value {member} of index type {of}")),
            },
            Literal::Array(of, items) => match self.symmetries.get(usize::from(*of)) {
                Some(index) if usize::from(index.size) == items.len() => all(items),
                _ => Err("an array with another number of elements".to_owned()),
            },
            Literal::Enum(ty, variant, payload) => match self.variant(*ty, *variant) {
                Ok(v) if usize::from(v.payload) == payload.len() => all(payload),
                Ok(_) => Err("a variant with another number of values".to_owned()),
                Err(_) => Err(format!("no variant {variant} of enum {}", ty.0)),
            },
            Literal::List(items) | Literal::Set(items) => all(items),
            Literal::Map(entries) => entries.iter().try_for_each(|(key, value)| {
                self.check_literal(key, depth)?;
                self.check_literal(value, depth)
            }),
            Literal::Record(ty, fields) if self.get(*ty)?.fields.len() == fields.len() => {
                all(fields)
            }
            Literal::Record(..) => Err("a record with another number of fields".to_owned()),
        }
    }

    fn check_type(&self, ty: Type) -> Check {
        match ty {
            Type::Enum(id) => self.check(id),
            Type::Record(id) => self.check(id),
            Type::Object(id) => self.check(id),
            _ => Ok(()),
        }
    }

    fn check_names(&self, names: &[NameId]) -> Check {
        within("fields", names.len() as u64, u64::from(REGISTERS_MAX))?;
        names.iter().try_for_each(|name| self.check(*name))
    }

    fn check_shapes(&self) -> Check {
        for record in &self.records {
            self.check_names(&record.fields)?;
        }
        for class in &self.classes {
            self.check_names(&class.fields)?;
            for (name, func) in &class.methods {
                self.check(*name)?;
                let function = self.get(*func)?;
                if function.params == 0 || function.captures > 0 {
                    return Err(
                        "a method needs its object as a parameter, and no captures".to_owned()
                    );
                }
            }
        }
        Ok(())
    }

    /// Checks a function that the machine itself starts.
    fn check_start(&self, func: FuncId, params: u16) -> Check {
        let function = self.get(func)?;
        if function.captures > 0 {
            return Err("a function with captures cannot be started".to_owned());
        }
        if function.params != params {
            return Err(format!("`{}` needs {params} parameters", function.name));
        }
        Ok(())
    }

    fn check_handler(&self, handler: HandlerId, instance: u16) -> Check {
        let count = self.get(handler)?.array.unwrap_or(1);
        check_index("handler instance", usize::from(instance), usize::from(count))
    }

    fn check_tasks(&self) -> Check {
        for task in &self.tasks {
            self.check_start(task.body, self.get(task.body)?.params)?;
            if let Some((handler, instance)) = task.handler {
                self.check_handler(handler, instance)?;
            }
        }
        for post in &self.posts {
            let task = self.get(post.task)?;
            match post.target {
                PostTarget::Own if task.handler.is_none() => {
                    return Err("a post to the own handler of a task that has none".to_owned());
                }
                PostTarget::Handler(handler, Reg::NONE) => self.check_handler(handler, 0)?,
                PostTarget::Handler(handler, _) => self.check(handler)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn check_event(&self, event: &Event) -> Check {
        let params = u16::from(event.family.is_some());
        self.check_start(event.body, params)?;
        if let Some(guard) = event.guard {
            self.check_start(guard, params)?;
        }
        if let Some((handler, instance)) = event.handler {
            self.check_handler(handler, instance)?;
        }
        let others = event.after.iter().chain(&event.started);
        others.clone().try_for_each(|other| self.check(*other))?;
        self.check_family(event.family)
    }

    fn check_family(&self, family: Option<Family>) -> Check {
        match family {
            Some(family) if family.index.is_some() => {
                let of = family.index.and_then(|of| self.symmetries.get(usize::from(of)));
                match of {
                    Some(index) if index.size == family.count && family.first == 0 => Ok(()),
                    _ => Err("a family of another size than its index type".to_owned()),
                }
            }
            Some(family) if family.first.checked_add(i64::from(family.count)).is_none() => {
                Err("a family whose indices do not fit into 64 bits".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn check_threads(&self) -> Check {
        for thread in &self.threads {
            self.check_start(thread.body, u16::from(thread.family.is_some()))?;
            self.check_family(thread.family)?;
        }
        Ok(())
    }

    fn check_properties(&self) -> Check {
        let invariants = self.invariants.iter().map(|i| i.holds);
        let responses = self.responses.iter().flat_map(|r| [r.trigger, r.response]);
        let others = self.final_.iter().chain(&self.init).copied();
        invariants.chain(responses).chain(others).try_for_each(|func| self.check_start(func, 0))?;
        self.commuting.iter().try_for_each(|clause| self.check_commuting(clause))
    }

    /// The methods have their object as the first parameter, which the condition has not.
    fn check_commuting(&self, clause: &Commuting) -> Check {
        let params = |method: FuncId| match self.functions.get(method.index()) {
            Some(method) if method.params > 0 => Ok(method.params - 1),
            _ => Err("a specification of what is no method".to_owned()),
        };
        let count = params(clause.left)?.saturating_add(params(clause.right)?);
        let results = clause.results.iter().filter(|wanted| **wanted).count() as u16;
        let when = clause.when;
        when.map_or(Ok(()), |when| self.check_start(when, count.saturating_add(results)))
    }

    fn check_symmetry(&self, symmetry: &Symmetry) -> Check {
        let size = |count: Option<u16>| match count {
            Some(count) if count == symmetry.size => Ok(()),
            _ => Err(format!("not all have {} members", symmetry.size)),
        };
        let missing = || "something that is not declared".to_owned();
        for id in &symmetry.handlers {
            size(self.handlers.get(id.index()).ok_or_else(missing)?.array)?;
        }
        for id in &symmetry.threads {
            size(self.threads.get(id.index()).ok_or_else(missing)?.family.map(|f| f.count))?;
        }
        for id in &symmetry.events {
            size(self.events.get(id.index()).ok_or_else(missing)?.family.map(|f| f.count))?;
        }
        for id in &symmetry.event_runs {
            let run = self.events.get(id.index()..).unwrap_or(&[]);
            let run = run.get(..usize::from(symmetry.size)).ok_or_else(missing)?;
            if run.iter().any(|event| event.family.is_some()) {
                return Err("an event that is a family of its own".to_owned());
            }
        }
        for id in &symmetry.locks {
            size(self.locks.get(id.index()).ok_or_else(missing)?.array)?;
        }
        for id in &symmetry.conds {
            size(self.conds.get(id.index()).ok_or_else(missing)?.array)?;
        }
        Ok(())
    }

    fn check_function(&self, function: &Function) -> Result<(), ProgramError> {
        let fault =
            |what: String| ProgramError { place: format!("function `{}`", function.name), what };
        self.check_frame(function).map_err(fault)?;
        for (pc, op) in function.code.iter().enumerate() {
            let fault = |what: String| ProgramError {
                place: format!("function `{}`, instruction {pc} ({op:?})", function.name),
                what,
            };
            op.check(self, function).map_err(fault)?;
        }
        Ok(())
    }

    fn check_frame(&self, function: &Function) -> Check {
        within("registers", u64::from(function.registers), u64::from(REGISTERS_MAX))?;
        let inputs = u64::from(function.params) + u64::from(function.captures);
        within("parameters and captures", inputs, u64::from(function.registers))?;
        let Some(last) = function.code.last() else { return Err("no code".to_owned()) };
        if last.falls_through() {
            return Err("the end of the code can be reached".to_owned());
        }
        let rows = usize::from(function.registers).div_ceil(64);
        let cells = rows.saturating_mul(function.code.len());
        within("cells of liveness", cells as u64, LIVENESS_MAX as u64)?;
        if function.sites.len() != function.code.len() {
            return Err("not one source position for each instruction".to_owned());
        }
        function.sites.iter().try_for_each(|site| self.check(*site))?;
        for (Reg(reg), name) in &function.locals {
            check_index("register", usize::from(*reg), usize::from(function.registers))?;
            self.check(*name)?;
        }
        Ok(())
    }
}
