//! Lists and ranges.

use super::interp::{Evaluator, Host, Res, throw, unsupported};
use super::value::{Value, compare, equal, show};
use crate::ast::BinaryOp;
use std::cmp::Ordering;

/// Adds what a closure of `collectEntries` returned: an entry, a map, or a pair.
pub(super) fn add_entry(entries: &mut Vec<(Value, Value)>, entry: &Value) -> Res<()> {
    match entry {
        Value::Entry(one) => super::map::put(entries, one.0.clone(), one.1.clone()),
        Value::Map(more) => {
            let more = more.borrow().clone();
            more.into_iter().for_each(|(k, v)| super::map::put(entries, k, v));
        }
        Value::List(items) if items.borrow().len() == 2 => {
            let items = items.borrow();
            super::map::put(entries, items[0].clone(), items[1].clone());
        }
        _ => return unsupported("an entry of another form"),
    }
    Ok(())
}

/// Returns where an index points; negative ones count from the end.
pub(super) fn position(index: i32, len: usize) -> Option<usize> {
    let index = i64::from(index);
    let index = if index < 0 { index + len as i64 } else { index };
    usize::try_from(index).ok()
}

/// Sets an element; a list grows with nulls.
pub(super) fn put(items: &mut Vec<Value>, key: &Value, value: Value) -> Res<()> {
    let Value::Int(index) = key else { return unsupported("this index of a list") };
    let Some(at) = position(*index, items.len()) else {
        return throw("ArrayIndexOutOfBoundsException", "Negative array index");
    };
    if at > items.len() + (1 << 16) {
        return unsupported("a list that grows so far");
    }
    while items.len() <= at {
        items.push(Value::Null);
    }
    items[at] = value;
    Ok(())
}

/// Returns the positions of a range in something of length `len`, as `[from..to]` takes them.
pub(super) fn slice(from: i32, to: i32, len: usize) -> Res<Vec<usize>> {
    let (Some(a), Some(b)) = (position(from, len), position(to, len)) else {
        return throw("IndexOutOfBoundsException", "range");
    };
    if a.max(b) >= len {
        return throw("IndexOutOfBoundsException", format!("{} of {len}", a.max(b)));
    }
    Ok(if a <= b { (a..=b).collect() } else { (b..=a).rev().collect() })
}

impl<H: Host> Evaluator<'_, H> {
    pub(super) fn list_index(&mut self, object: &Value, key: &Value) -> Res {
        let items = object.items().unwrap_or_default();
        match key {
            Value::Int(index) => match position(*index, items.len()) {
                Some(at) => match items.get(at) {
                    Some(item) => Ok(item.clone()),
                    None => Ok(Value::Null),
                },
                None => throw("ArrayIndexOutOfBoundsException", "Negative array index"),
            },
            Value::Range(from, to) => {
                if items.is_empty() || matches!(object, Value::Range(from, to) if from > to) {
                    return unsupported("a range of an empty list or a falling range");
                }
                let at = slice(*from, *to, items.len())?;
                Ok(Value::list(at.into_iter().map(|at| items[at].clone()).collect()))
            }
            Value::List(keys) => {
                let keys = keys.borrow().clone();
                let mut found = vec![];
                for key in keys {
                    found.push(self.list_index(object, &key)?);
                }
                Ok(Value::list(found))
            }
            Value::Text(name) => self.property(object, name),
            Value::Null => throw("GroovyRuntimeException", "Ambiguous method overloading"),
            _ => unsupported("this index of a list"),
        }
    }

    pub(super) fn list_method(
        &mut self,
        object: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Res<Option<Value>> {
        let items = object.items().unwrap_or_default();
        let is_range = matches!(object, Value::Range(..));
        Ok(Some(match (name, arguments) {
            ("size", []) => Value::Int(items.len() as i32),
            ("isEmpty", []) => Value::Bool(items.is_empty()),
            ("first" | "head", []) | ("last", []) if items.is_empty() => {
                return throw("NoSuchElementException", "empty");
            }
            ("first" | "head", []) => items[0].clone(),
            ("last", []) => items[items.len() - 1].clone(),
            ("tail", []) | ("init", []) if items.is_empty() => {
                return throw("NoSuchElementException", "empty");
            }
            ("tail", []) => Value::list(items[1..].to_vec()),
            ("init", []) => Value::list(items[..items.len() - 1].to_vec()),
            ("get", [Value::Int(index)]) => {
                match usize::try_from(*index).ok().and_then(|at| items.get(at)) {
                    Some(item) => item.clone(),
                    None => return throw("IndexOutOfBoundsException", "get"),
                }
            }
            ("getAt", [key]) => self.list_index(object, key)?,
            ("contains", [one]) => {
                Value::Bool(items.iter().any(|item| super::value::same_key(item, one)))
            }
            ("indexOf", [one]) => {
                let at = items.iter().position(|item| super::value::same_key(item, one));
                Value::Int(at.map_or(-1, |at| at as i32))
            }
            ("join", []) => Value::text(join(&items, "")),
            ("join", [Value::Text(between)]) => Value::text(join(&items, between)),
            ("reverse", []) => Value::list(items.into_iter().rev().collect()),
            ("toList" | "asList", []) => Value::list(items),
            ("take", [Value::Int(count)]) => {
                Value::list(items.into_iter().take((*count).max(0) as usize).collect())
            }
            ("drop", [Value::Int(count)]) => {
                Value::list(items.into_iter().skip((*count).max(0) as usize).collect())
            }
            ("flatten", []) => Value::list(flat(&items, 0)),
            ("plus", [one]) => self.binary(BinaryOp::Add, object, one)?,
            ("minus", [one]) => self.binary(BinaryOp::Subtract, object, one)?,
            ("multiply", [one]) => self.binary(BinaryOp::Multiply, object, one)?,
            ("count", [one]) if !matches!(one, Value::Closure(_)) => {
                Value::Int(items.iter().filter(|item| equal(item, one)).count() as i32)
            }
            ("sum", []) => self.sum(&items)?,
            ("min" | "max", []) => self.extreme(&items, name == "max", None)?,
            ("unique", []) => {
                let mut kept: Vec<Value> = Vec::new();
                for item in items {
                    if !kept.iter().any(|own| compare(own, &item) == Some(Ordering::Equal)) {
                        kept.push(item);
                    }
                }
                return self.replace(object, kept).map(Some);
            }
            ("sort", []) => {
                let sorted = self.sorted(items, None)?;
                return self.replace(object, sorted).map(Some);
            }
            ("sort", [Value::Bool(false)]) => Value::list(self.sorted(items, None)?),
            ("inject", [first, closure @ Value::Closure(_)]) => {
                let mut value = first.clone();
                for item in items {
                    value = self.call_value(closure, vec![value, item])?;
                }
                value
            }
            (_, [closure @ Value::Closure(_)]) => {
                return self.list_closure_method(object, items, name, closure);
            }
            ("intersect", [other]) if other.items().is_some() => {
                let other = other.items().unwrap_or_default();
                Value::list(
                    items.into_iter().filter(|i| other.iter().any(|o| equal(o, i))).collect(),
                )
            }
            ("containsAll", [other]) if other.items().is_some() => {
                let other = other.items().unwrap_or_default();
                let has = |one: &Value| items.iter().any(|item| super::value::same_key(item, one));
                Value::Bool(other.iter().all(has))
            }
            (
                "add" | "leftShift" | "push" | "addAll" | "remove" | "removeAll" | "clear" | "pop"
                | "putAt" | "set",
                _,
            ) if is_range => {
                return throw("UnsupportedOperationException", "null");
            }
            _ => return self.list_change(object, name, arguments),
        }))
    }

    /// Methods that change a list.
    fn list_change(
        &mut self,
        object: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Res<Option<Value>> {
        let Value::List(list) = object else { return Ok(None) };
        Ok(Some(match (name, arguments) {
            ("add" | "push", [one]) => {
                list.borrow_mut().push(one.clone());
                Value::Bool(true)
            }
            ("add", [Value::Int(at), one]) => {
                let mut items = list.borrow_mut();
                match usize::try_from(*at).ok().filter(|at| *at <= items.len()) {
                    Some(at) => items.insert(at, one.clone()),
                    None => return throw("IndexOutOfBoundsException", "add"),
                }
                Value::Null
            }
            ("leftShift", [one]) => {
                list.borrow_mut().push(one.clone());
                object.clone()
            }
            ("addAll", [more]) if more.items().is_some() => {
                let more = more.items().unwrap_or_default();
                let changed = !more.is_empty();
                list.borrow_mut().extend(more);
                Value::Bool(changed)
            }
            ("removeAll", [more]) if more.items().is_some() => {
                let more = more.items().unwrap_or_default();
                let before = list.borrow().len();
                list.borrow_mut()
                    .retain(|item| !more.iter().any(|one| super::value::same_key(one, item)));
                Value::Bool(list.borrow().len() != before)
            }
            ("remove", [Value::Int(at)]) => {
                let mut items = list.borrow_mut();
                match usize::try_from(*at).ok().filter(|at| *at < items.len()) {
                    Some(at) => items.remove(at),
                    None => return throw("IndexOutOfBoundsException", "remove"),
                }
            }
            ("remove", [one]) => {
                let at = list.borrow().iter().position(|item| super::value::same_key(item, one));
                at.map(|at| list.borrow_mut().remove(at));
                Value::Bool(at.is_some())
            }
            ("pop", []) => match list.borrow_mut().pop() {
                Some(item) => item,
                None => return throw("NoSuchElementException", "Cannot pop() an empty List"),
            },
            ("clear", []) => {
                list.borrow_mut().clear();
                Value::Null
            }
            ("putAt" | "set", [key, value]) => {
                put(&mut list.borrow_mut(), key, value.clone())?;
                Value::Null
            }
            (
                "sort" | "unique" | "toSet" | "asImmutable" | "iterator" | "toArray" | "collate"
                | "withIndex" | "transpose" | "combinations" | "permutations" | "subList"
                | "indexed",
                _,
            ) => {
                return unsupported(format!("the method `{name}` of lists"));
            }
            _ => return Ok(None),
        }))
    }

    /// Gives a list new items, as methods do that change it.
    fn replace(&mut self, object: &Value, items: Vec<Value>) -> Res {
        match object {
            Value::List(list) => {
                *list.borrow_mut() = items;
                Ok(object.clone())
            }
            _ => throw("UnsupportedOperationException", "a range does not change"),
        }
    }

    fn sum(&mut self, items: &[Value]) -> Res {
        let mut items = items.iter();
        let Some(first) = items.next() else { return Ok(Value::Null) };
        let mut sum = first.clone();
        for item in items {
            sum = self.binary(BinaryOp::Add, &sum, item)?;
        }
        Ok(sum)
    }

    /// Returns the item with the greatest or least key; the first of several. Nulls do not count.
    fn extreme(&mut self, items: &[Value], greatest: bool, by: Option<&Value>) -> Res {
        let mut best: Option<(Value, Value)> = None;
        for item in items {
            let key = match by {
                Some(by) => self.call_value(by, vec![item.clone()])?,
                None if matches!(item, Value::Null) => continue,
                None => item.clone(),
            };
            let better = match &best {
                None => true,
                Some((_, own)) => {
                    let order = self.order(&key, own)?;
                    if greatest { order.is_gt() } else { order.is_lt() }
                }
            };
            if better {
                best = Some((item.clone(), key));
            }
        }
        Ok(best.map_or(Value::Null, |(item, _)| item))
    }

    /// Sorts stably, by a key or a comparison if there is a closure.
    fn sorted(&mut self, items: Vec<Value>, by: Option<&Value>) -> Res<Vec<Value>> {
        // Nothing is compared, so no closure is called.
        if items.len() < 2 {
            return Ok(items);
        }
        let two = matches!(by, Some(Value::Closure(one)) if one.parameters() == 2);
        let mut keyed: Vec<(Value, Value)> = Vec::new();
        for item in items {
            let key = match by {
                Some(by) if !two => self.call_value(by, vec![item.clone()])?,
                _ => item.clone(),
            };
            // A binary search for the place behind all that are not greater.
            let (mut low, mut high) = (0, keyed.len());
            while low < high {
                let middle = (low + high) / 2;
                let order = match by {
                    Some(by) if two => {
                        let value =
                            self.call_value(by, vec![key.clone(), keyed[middle].1.clone()])?;
                        super::number::truncate(&value).cmp(&0)
                    }
                    _ => self.order(&key, &keyed[middle].1)?,
                };
                if order.is_lt() { high = middle } else { low = middle + 1 }
            }
            keyed.insert(low, (item, key));
        }
        Ok(keyed.into_iter().map(|(item, _)| item).collect())
    }

    fn list_closure_method(
        &mut self,
        object: &Value,
        items: Vec<Value>,
        name: &str,
        closure: &Value,
    ) -> Res<Option<Value>> {
        let mut kept = Vec::new();
        match name {
            "each" => {
                for item in items {
                    self.call_value(closure, vec![item])?;
                }
                return Ok(Some(object.clone()));
            }
            "reverseEach" => {
                for item in items.into_iter().rev() {
                    self.call_value(closure, vec![item])?;
                }
                return Ok(Some(object.clone()));
            }
            "eachWithIndex" => {
                for (index, item) in items.into_iter().enumerate() {
                    self.call_value(closure, vec![item, Value::Int(index as i32)])?;
                }
                return Ok(Some(object.clone()));
            }
            "collect" | "collectMany" => {
                for item in items {
                    let value = self.call_value(closure, vec![item])?;
                    match value.items() {
                        Some(more) if name == "collectMany" => kept.extend(more),
                        _ => kept.push(value),
                    }
                }
                return Ok(Some(Value::list(kept)));
            }
            "collectEntries" => {
                let mut entries = Vec::new();
                for item in items {
                    let entry = self.call_value(closure, vec![item])?;
                    add_entry(&mut entries, &entry)?;
                }
                return Ok(Some(Value::map(entries)));
            }
            "groupBy" => {
                let mut groups: Vec<(Value, Value)> = Vec::new();
                for item in items {
                    let key = self.call_value(closure, vec![item.clone()])?;
                    match super::map::get(&groups, &key) {
                        Value::List(group) => group.borrow_mut().push(item),
                        _ => super::map::put(&mut groups, key, Value::list(vec![item])),
                    }
                }
                return Ok(Some(Value::map(groups)));
            }
            "sum" => {
                for item in items {
                    kept.push(self.call_value(closure, vec![item])?);
                }
                return self.sum(&kept).map(Some);
            }
            "min" | "max" => {
                if matches!(closure, Value::Closure(one) if one.parameters() == 2) {
                    return unsupported("`min` with a comparison");
                }
                return self.extreme(&items, name == "max", Some(closure)).map(Some);
            }
            "sort" => {
                let sorted = self.sorted(items, Some(closure))?;
                return self.replace(object, sorted).map(Some);
            }
            "inject" => {
                let mut items = items.into_iter();
                let Some(mut value) = items.next() else {
                    return throw("NoSuchElementException", "inject");
                };
                for item in items {
                    value = self.call_value(closure, vec![value, item])?;
                }
                return Ok(Some(value));
            }
            "find" | "findAll" | "any" | "every" | "count" | "findIndexOf" => {}
            "unique" | "removeAll" | "retainAll" | "findResult" | "split" | "takeWhile"
            | "dropWhile" | "toSorted" | "toUnique" | "findResults" | "countBy" => {
                return unsupported(format!("the method `{name}` of lists"));
            }
            _ => return self.list_change(object, name, std::slice::from_ref(closure)),
        }
        let (mut all, mut at) = (true, -1);
        for (index, item) in items.into_iter().enumerate() {
            let takes = self.call_value(closure, vec![item.clone()])?;
            if self.truth(&takes)? {
                kept.push(item);
                if matches!(name, "find" | "any" | "findIndexOf") {
                    at = index as i32;
                    break;
                }
            } else {
                all = false;
                if name == "every" {
                    break;
                }
            }
        }
        Ok(Some(match name {
            "find" => kept.pop().unwrap_or(Value::Null),
            "findAll" => Value::list(kept),
            "any" => Value::Bool(!kept.is_empty()),
            "count" => Value::Int(kept.len() as i32),
            "findIndexOf" => Value::Int(at),
            _ => Value::Bool(all),
        }))
    }
}

fn join(items: &[Value], between: &str) -> String {
    let texts: Vec<String> = items.iter().map(show).collect();
    texts.join(between)
}

fn flat(items: &[Value], depth: u32) -> Vec<Value> {
    let one = |item: &Value| match item.items() {
        Some(inner) if depth < 64 => flat(&inner, depth + 1),
        _ => vec![item.clone()],
    };
    items.iter().flat_map(one).collect()
}
