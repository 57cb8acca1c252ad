//! Operators, types at run time, and the built-in methods that take no functions: B1 to B6.

use super::fired::rule;
use super::program::Mutant;
use super::run::{Res, Run};
use super::value::Value;
use anyorder_lang::ast::*;

/// X8.
pub const CHANGING: [&str; 10] =
    ["push", "pop", "insert", "remove", "reverse", "sort", "take_first", "clear", "add", "set"];

impl Run {
    /// V3: what is compared.
    pub fn same(&mut self, a: &Value, b: &Value) -> Res<bool> {
        let mut handles = false;
        a.each_reference(&mut |r| handles |= matches!(r, Value::Handle(_)));
        b.each_reference(&mut |r| handles |= matches!(r, Value::Handle(_)));
        rule("V3");
        if !handles || self.wrongly(Mutant::EndedHandlesDiffer) {
            return Ok(a == b);
        }
        let answer = self.ask(|run| {
            let ended = |h| h <= run.fresh_before && !run.alive_before.contains(&h);
            let norm = |v: &Value| v.map_handles(&|h| if ended(h) { 0 } else { h });
            Ok(Value::Bool(norm(a) == norm(b)))
        })?;
        Ok(answer == Value::Bool(true))
    }

    pub fn contains(&mut self, items: &[Value], value: &Value) -> Res<Option<usize>> {
        for (i, item) in items.iter().enumerate() {
            if self.same(item, value)? {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    pub fn binary(&mut self, op: BinaryOp, a: &Value, b: &Value) -> Res<Value> {
        use Value::{Int, List, Map, Set, Str};
        let number = |run: &Run, n: Option<i64>| match n {
            Some(n) => Ok(Int(n)),
            None => run.fail("overflow"),
        };
        rule(match op {
            BinaryOp::Eq | BinaryOp::Ne => "V3",
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => "V6",
            BinaryOp::In | BinaryOp::Range => "X13",
            _ => "X12",
        });
        match (op, a, b) {
            (BinaryOp::In, _, Map(entries)) if self.wrongly(Mutant::InLooksAtValues) => {
                Ok(Value::Bool(entries.iter().any(|(_, v)| v == a)))
            }
            (BinaryOp::Lt, Str(a), Str(b)) if self.wrongly(Mutant::StringsByLength) => {
                Ok(Value::Bool(a.len() < b.len()))
            }
            (BinaryOp::Eq, ..) => Ok(Value::Bool(self.same(a, b)?)),
            (BinaryOp::Ne, ..) => Ok(Value::Bool(!self.same(a, b)?)),
            (BinaryOp::Add, Int(a), Int(b)) => number(self, a.checked_add(*b)),
            (BinaryOp::Sub, Int(a), Int(b)) => number(self, a.checked_sub(*b)),
            (BinaryOp::Mul, Int(a), Int(b)) => number(self, a.checked_mul(*b)),
            (BinaryOp::Div | BinaryOp::Rem, Int(_), Int(0)) => self.fail("division"),
            (BinaryOp::Div, Int(a), Int(b)) if self.p.mutant == Mutant::DivisionFloors => {
                number(self, a.checked_div_euclid(*b))
            }
            (BinaryOp::Div, Int(a), Int(b)) => number(self, a.checked_div(*b)),
            (BinaryOp::Rem, Int(a), Int(b)) => Ok(Int(a.wrapping_rem(*b))),
            (BinaryOp::Add, Str(a), Str(b)) => Ok(Str(format!("{a}{b}"))),
            (BinaryOp::Add, List(a), List(b)) => Ok(List([&a[..], &b[..]].concat())),
            (BinaryOp::Lt, Int(a), Int(b)) => Ok(Value::Bool(a < b)),
            (BinaryOp::Le, Int(a), Int(b)) => Ok(Value::Bool(a <= b)),
            (BinaryOp::Gt, Int(a), Int(b)) => Ok(Value::Bool(a > b)),
            (BinaryOp::Ge, Int(a), Int(b)) => Ok(Value::Bool(a >= b)),
            (BinaryOp::Lt, Str(a), Str(b)) => Ok(Value::Bool(a < b)),
            (BinaryOp::Le, Str(a), Str(b)) => Ok(Value::Bool(a <= b)),
            (BinaryOp::Gt, Str(a), Str(b)) => Ok(Value::Bool(a > b)),
            (BinaryOp::Ge, Str(a), Str(b)) => Ok(Value::Bool(a >= b)),
            (BinaryOp::Range, Int(a), Int(b)) => Ok(List((*a..*b).map(Int).collect())),
            (BinaryOp::In, _, List(items)) => Ok(Value::Bool(self.contains(items, a)?.is_some())),
            (BinaryOp::In, _, Set(items)) => Ok(Value::Bool(items.contains(a))),
            (BinaryOp::In, _, Map(entries)) => Ok(Value::Bool(entries.iter().any(|(k, _)| k == a))),
            (BinaryOp::In, Str(a), Str(b)) => Ok(Value::Bool(b.contains(a.as_str()))),
            (BinaryOp::In, a, Str(_)) => self.wrong(a),
            (BinaryOp::In, _, b) => self.wrong(b),
            (BinaryOp::Add, Int(_) | Str(_) | List(_), b) => self.wrong(b),
            (BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, Int(_) | Str(_), b) => {
                self.wrong(b)
            }
            (_, Int(_), b) => self.wrong(b),
            (_, a, _) => self.wrong(a),
        }
    }

    /// X17.
    pub fn check_type(&self, ty: &TypeExpr, value: &Value) -> Res<()> {
        rule("X17");
        if self.has_type(ty, value) || self.wrongly(Mutant::TypesUnchecked) {
            Ok(())
        } else {
            self.wrong(value)
        }
    }

    fn has_type(&self, ty: &TypeExpr, value: &Value) -> bool {
        match (&ty.kind, value) {
            (TypeKind::Nullable(inner), _) => *value == Value::Null || self.has_type(inner, value),
            (TypeKind::List(_) | TypeKind::Array(..), Value::List(_)) => true,
            (TypeKind::Set(_), Value::Set(_)) | (TypeKind::Map(..), Value::Map(_)) => true,
            (TypeKind::Fn(..), Value::Func(..)) => true,
            (TypeKind::Named(name), _) => match (name.name.as_str(), value) {
                ("any", _) => true,
                ("int", Value::Int(_)) | ("bool", Value::Bool(_)) | ("str", Value::Str(_)) => true,
                ("task" | "thread", Value::Handle(_)) => true,
                (name, Value::Int(_)) => self.p.indices.iter().any(|one| one.name.name == name),
                (name, Value::Enum(ty, ..)) => self.p.enums[*ty].name.name == name,
                (name, Value::Record(ty, _)) => self.p.records[*ty].name.name == name,
                (name, Value::Obj(object)) => {
                    self.p.classes[self.state.objects[object].0].name.name == name
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// V7.
    pub fn default_value(&mut self, ty: &'static TypeExpr) -> Res<Value> {
        rule("V7");
        Ok(match &ty.kind {
            TypeKind::Named(name) => match name.name.as_str() {
                "int" if self.wrongly(Mutant::DefaultIntIsOne) => Value::Int(1),
                "int" => Value::Int(0),
                "bool" => Value::Bool(false),
                "str" => Value::Str(String::new()),
                name => return self.named_default(name),
            },
            TypeKind::List(_) => Value::List(vec![]),
            TypeKind::Set(_) => Value::Set(vec![]),
            TypeKind::Map(..) => Value::Map(vec![]),
            TypeKind::Array(item, count) => {
                let item = self.default_value(item)?;
                match self.eval(count)? {
                    Value::Int(n) if n >= 0 => Value::List(vec![item; n as usize]),
                    Value::Set(all) => Value::List(vec![item; all.len()]),
                    _ => return self.fail("type"),
                }
            }
            _ => Value::Null,
        })
    }

    fn named_default(&mut self, name: &str) -> Res<Value> {
        if let Some(ty) = self.p.enums.iter().position(|e| e.name.name == name) {
            let empty = self.p.enums[ty].variants.first().is_some_and(|v| v.payload.is_empty());
            return Ok(if empty { Value::Enum(ty, 0, vec![]) } else { Value::Null });
        }
        let Some(ty) = self.p.records.iter().position(|r| r.name.name == name) else {
            return Ok(Value::Null);
        };
        let fields = self.p.records[ty].fields.iter().map(|f| self.default_value(&f.ty));
        Ok(Value::Record(ty, fields.collect::<Res<_>>()?))
    }

    /// V5.
    pub fn set_of(&self, mut items: Vec<Value>) -> Res<Value> {
        if !items.iter().all(Value::is_data) {
            return self.fail("type");
        }
        items.sort();
        items.dedup();
        Ok(Value::Set(items))
    }

    pub fn insert_entry(
        &self,
        entries: &mut Vec<(Value, Value)>,
        key: Value,
        value: Value,
    ) -> Res<()> {
        if !key.is_data() {
            return self.fail("type");
        }
        match entries.binary_search_by(|(k, _)| k.cmp(&key)) {
            Ok(at) => entries[at].1 = value,
            Err(at) => entries.insert(at, (key, value)),
        }
        Ok(())
    }

    /// A built-in method: the result, and what becomes of the receiver.
    pub fn builtin(
        &mut self,
        mut receiver: Value,
        name: &str,
        args: &[Value],
    ) -> Res<(Value, Value)> {
        rule(match &receiver {
            Value::List(_) => "B1",
            Value::Set(_) => "B2",
            Value::Map(_) => "B3",
            Value::Str(_) | Value::Int(_) | Value::Bool(_) => "B4",
            _ => "B6",
        });
        let result = match &mut receiver {
            Value::Null if self.wrongly(Mutant::MethodOfNullIsNull) => Value::Null,
            Value::List(items) => self.list_method(items, name, args)?,
            Value::Set(items) => self.set_method(items, name, args)?,
            Value::Map(entries) => self.map_method(entries, name, args)?,
            Value::Str(text) => self.str_method(&text.clone(), name, args)?,
            Value::Int(n) if name == "to_str" && args.is_empty() => Value::Str(n.to_string()),
            Value::Bool(b) if name == "to_str" && args.is_empty() => Value::Str(b.to_string()),
            other => return self.wrong(other),
        };
        Ok((result, receiver))
    }

    fn some(&self, value: Option<Value>) -> Res<Value> {
        value.map_or_else(|| self.fail("index"), Ok)
    }

    /// V5: whether these can be put in order.
    fn ordered(&self, items: &[Value]) -> Res<()> {
        if items.len() > 1 && !items.iter().all(Value::is_data) {
            self.fail("type")
        } else {
            Ok(())
        }
    }

    fn list_method(&mut self, items: &mut Vec<Value>, name: &str, args: &[Value]) -> Res<Value> {
        use Value::{Bool, Int, Null};
        match (name, args) {
            ("len", []) => Ok(Int(items.len() as i64)),
            ("is_empty", []) => Ok(Bool(items.is_empty())),
            ("push", [v]) => {
                items.push(v.clone());
                Ok(Null)
            }
            ("pop", []) => {
                let last = items.pop();
                self.some(last)
            }
            ("first", []) => self.some(items.first().cloned()),
            ("last", []) => self.some(items.last().cloned()),
            ("insert", [Int(i), v]) => {
                if *i < 0 || *i > items.len() as i64 {
                    return self.fail("index");
                }
                items.insert(*i as usize, v.clone());
                Ok(Null)
            }
            ("remove", [i]) => {
                let at = self.position(items, i)?;
                let removed = items.remove(at);
                Ok(if self.wrongly(Mutant::RemoveGivesNothing) { Null } else { removed })
            }
            ("contains", [v]) => Ok(Bool(self.contains(items, v)?.is_some())),
            ("index_of", [v]) => Ok(Int(self.contains(items, v)?.map_or(-1, |i| i as i64))),
            ("insert", [i, _]) => self.wrong(i),
            ("slice", [a, b]) if !matches!((a, b), (Int(_), Int(_))) => {
                self.first_wrong(&[a, b], |v| matches!(v, Int(_)))
            }
            ("slice", [Int(a), Int(b)]) => {
                if *a < 0 || a > b || *b > items.len() as i64 {
                    return self.fail("index");
                }
                Ok(Value::List(items[*a as usize..*b as usize].to_vec()))
            }
            ("reverse", []) => {
                items.reverse();
                Ok(Null)
            }
            ("to_set", []) => self.set_of(items.clone()),
            ("sort", []) => {
                rule("V4");
                self.ordered(items)?;
                items.sort();
                if self.wrongly(Mutant::SortDescends) {
                    items.reverse();
                }
                Ok(Null)
            }
            ("sum", []) => {
                let mut sum = Int(0);
                for item in items.iter() {
                    if !matches!(item, Int(_)) {
                        return self.wrong(item);
                    }
                    sum = self.binary(BinaryOp::Add, &sum, item)?;
                }
                Ok(sum)
            }
            ("min", []) => {
                self.ordered(items)?;
                self.some(items.iter().min().cloned())
            }
            ("max", []) => {
                self.ordered(items)?;
                self.some(items.iter().max().cloned())
            }
            ("take_first", []) => {
                if items.is_empty() {
                    return self.fail("index");
                }
                Ok(items.remove(0))
            }
            ("clear", []) => {
                items.clear();
                Ok(Null)
            }
            _ => self.fail("type"),
        }
    }

    fn set_method(&mut self, items: &mut Vec<Value>, name: &str, args: &[Value]) -> Res<Value> {
        use Value::{Bool, Int, Null, Set};
        if let ("add", [v]) = (name, args)
            && !v.is_data()
        {
            return self.fail("type");
        }
        match (name, args) {
            ("len", []) => Ok(Int(items.len() as i64)),
            ("is_empty", []) => Ok(Bool(items.is_empty())),
            ("add", [v]) => {
                let new = !items.contains(v) || self.wrongly(Mutant::AddIsAlwaysNew);
                items.push(v.clone());
                items.sort();
                items.dedup();
                Ok(Bool(new))
            }
            ("remove", [v]) => {
                let had = items.contains(v);
                items.retain(|item| item != v);
                Ok(Bool(had))
            }
            ("contains", [v]) => Ok(Bool(items.contains(v))),
            ("union", [Set(other)]) => self.set_of([&items[..], &other[..]].concat()),
            ("intersect", [Set(other)]) => {
                Ok(Set(items.iter().filter(|i| other.contains(i)).cloned().collect()))
            }
            ("minus", [Set(other)]) => {
                Ok(Set(items.iter().filter(|i| !other.contains(i)).cloned().collect()))
            }
            ("union" | "intersect" | "minus", [other]) => self.wrong(other),
            ("to_list", []) => Ok(Value::List(items.clone())),
            ("to_set", []) => Ok(Set(items.clone())),
            ("min", []) => self.some(items.first().cloned()),
            ("max", []) => self.some(items.last().cloned()),
            ("clear", []) => {
                items.clear();
                Ok(Null)
            }
            _ => self.fail("type"),
        }
    }

    fn map_method(
        &mut self,
        entries: &mut Vec<(Value, Value)>,
        name: &str,
        args: &[Value],
    ) -> Res<Value> {
        use Value::{Bool, Int, List, Null};
        if let ("set", [k, ..]) = (name, args)
            && !k.is_data()
        {
            return self.fail("type");
        }
        let find = |k: &Value| entries.iter().find(|(key, _)| key == k).map(|(_, v)| v.clone());
        match (name, args) {
            ("len", []) => Ok(Int(entries.len() as i64)),
            ("is_empty", []) => Ok(Bool(entries.is_empty())),
            ("get", [k]) => Ok(find(k).unwrap_or(Null)),
            ("get_or", _) if self.wrongly(Mutant::GetOrGivesNull) => Ok(Null),
            ("get_or", [k, d]) => Ok(find(k).unwrap_or(d.clone())),
            ("has", [k]) => Ok(Bool(find(k).is_some())),
            ("set", [k, v]) => {
                self.insert_entry(entries, k.clone(), v.clone())?;
                Ok(Null)
            }
            ("remove", [k]) => {
                let old = find(k).unwrap_or(Null);
                entries.retain(|(key, _)| key != k);
                Ok(old)
            }
            ("keys", []) => Ok(List(entries.iter().map(|(k, _)| k.clone()).collect())),
            ("values", []) => Ok(List(entries.iter().map(|(_, v)| v.clone()).collect())),
            ("clear", []) => {
                entries.clear();
                Ok(Null)
            }
            _ => self.fail("type"),
        }
    }

    fn str_method(&mut self, text: &str, name: &str, args: &[Value]) -> Res<Value> {
        use Value::{Bool, Int, Str};
        let bytes = self.wrongly(Mutant::LenCountsBytes);
        let count = if bytes { text.len() } else { text.chars().count() } as i64;
        match (name, args) {
            ("len", []) => Ok(Int(count)),
            ("is_empty", []) => Ok(Bool(text.is_empty())),
            ("contains", [Str(s)]) => Ok(Bool(text.contains(s.as_str()))),
            ("starts_with", [Str(s)]) => Ok(Bool(text.starts_with(s.as_str()))),
            ("contains" | "starts_with", [other]) => self.wrong(other),
            ("slice", [a, b]) if !matches!((a, b), (Int(_), Int(_))) => {
                self.first_wrong(&[a, b], |v| matches!(v, Int(_)))
            }
            ("slice", [Int(a), Int(b)]) => {
                if *a < 0 || a > b || *b > count {
                    return self.fail("index");
                }
                Ok(Str(text.chars().skip(*a as usize).take((b - a) as usize).collect()))
            }
            ("to_int", []) => match text.parse() {
                Ok(n) => Ok(Int(n)),
                Err(_) => self.fail("type"),
            },
            ("to_str", []) => Ok(Str(text.to_string())),
            _ => self.fail("type"),
        }
    }
}
