//! Conversions and questions for classes.

use super::body::Body;
use super::native::Task;
use crate::ast::TypeName;
use anyorder_program::{Literal, Op, Reg};

impl Body<'_> {
    /// Converts a value to a type. `explicit`: by `as`; else by a cast or a declaration.
    pub(super) fn cast(&mut self, value: Reg, typed: &TypeName, explicit: bool) -> Reg {
        if typed.dimensions > 0 {
            return self.code.library("castArray", &[value]);
        }
        let name = typed.name.rsplit('.').next().unwrap_or(&typed.name).to_owned();
        let text = |own: &mut Self| own.literal(Literal::Str(name.clone()));
        match name.as_str() {
            "def" | "Object" | "Comparable" => value,
            "boolean" => self.code.truth(value),
            "Boolean" => {
                let dst = self.code.temp();
                let end = self.code.label();
                self.code.emit(Op::Null { dst });
                let is_null = self.code.is(value, self.code.kinds().types.null);
                self.code.jump_if(is_null, end);
                let truth = self.code.truth(value);
                self.code.set(dst, truth);
                self.code.bind(end);
                dst
            }
            "int" | "Integer" | "long" | "Long" | "double" | "Double" | "float" | "Float"
            | "BigDecimal" | "BigInteger" | "Number" | "short" | "byte" => {
                self.cast_number(value, &name, explicit)
            }
            "String" => self.cast_text(value, explicit),
            "List" | "Collection" | "ArrayList" => {
                let name = text(self);
                let how = if explicit { "asList" } else { "castList" };
                self.code.library(how, &[value, name])
            }
            "Map" | "LinkedHashMap" | "HashMap" => {
                let name = text(self);
                self.code.library("castMap", &[value, name])
            }
            "Closure" => {
                let name = text(self);
                self.code.library("castClosure", &[value, name])
            }
            "Set" | "LinkedHashSet" | "HashSet" => self.gap("a set"),
            // A class of the platform: what it gives out is of it.
            _ if !explicit => value,
            _ => self.gap(&format!("a cast to `{name}`")),
        }
    }

    fn cast_number(&mut self, value: Reg, name: &str, explicit: bool) -> Reg {
        let dst = self.code.temp();
        let end = self.code.label();
        let mark = self.code.mark();
        let types = self.code.kinds().types;
        self.code.set(dst, value);
        if matches!(name, "int" | "Integer" | "Number") {
            let is = self.code.is(value, types.int);
            self.code.jump_if(is, end);
        }
        let plain = self.code.library("plain", &[value]);
        let other = self.code.label();
        self.code.jump_if_not(plain, other);
        let number = self.native(Task::Cast(name.to_owned(), explicit), &[value]);
        self.code.set(dst, number);
        self.code.jump(end);
        self.code.bind(other);
        self.code.throw("GroovyCastException", name);
        self.code.bind(end);
        self.code.release(mark);
        dst
    }

    fn cast_text(&mut self, value: Reg, explicit: bool) -> Reg {
        let dst = self.code.temp();
        let (end, show) = (self.code.label(), self.code.label());
        let mark = self.code.mark();
        let types = self.code.kinds().types;
        self.code.set(dst, value);
        for ty in [types.null, types.text] {
            let is = self.code.is(value, ty);
            self.code.jump_if(is, end);
        }
        if !explicit {
            let is = self.code.is(value, types.map);
            self.code.jump_if_not(is, show);
            self.code.run_time_gap("a map as String");
        }
        self.code.bind(show);
        let text = self.code.show(value);
        self.code.set(dst, text);
        self.code.bind(end);
        self.code.release(mark);
        dst
    }

    /// Returns whether a value is of a class, as a boolean.
    pub(super) fn instance_of(&mut self, value: Reg, typed: &TypeName) -> Reg {
        if typed.dimensions > 0 {
            return self.gap("the question for an array");
        }
        let name = typed.name.rsplit('.').next().unwrap_or(&typed.name);
        let name = self.code.text(name);
        self.code.library("isInstance", &[value, name])
    }

    /// Returns whether a parameter of a type takes a value, as a boolean; `None` if it takes all.
    pub(super) fn takes(&mut self, value: Reg, typed: &TypeName) -> Option<Reg> {
        let name = typed.name.rsplit('.').next().unwrap_or(&typed.name);
        let scalar = matches!(
            name,
            "int"
                | "Integer"
                | "long"
                | "Long"
                | "double"
                | "float"
                | "Double"
                | "Float"
                | "boolean"
                | "Boolean"
                | "String"
                | "Number"
                | "BigDecimal"
                | "BigInteger"
        );
        let other = matches!(name, "List" | "Map" | "Closure" | "ArrayList" | "Collection");
        if typed.dimensions > 0 || !(scalar || other) {
            return None;
        }
        let dst = self.code.temp();
        let end = self.code.label();
        let mark = self.code.mark();
        if scalar {
            let plain = self.code.library("plain", &[value]);
            self.code.set(dst, plain);
            self.code.jump_if_not(dst, end);
            let takes = self.native(Task::Takes(name.to_owned()), &[value]);
            self.code.set(dst, takes);
        } else {
            let is_null = self.code.is(value, self.code.kinds().types.null);
            self.code.set(dst, is_null);
            self.code.jump_if(dst, end);
            let name = self.code.text(name);
            let is = self.code.library("isInstance", &[value, name]);
            self.code.set(dst, is);
        }
        self.code.bind(end);
        self.code.release(mark);
        Some(dst)
    }
}
