//! A checker for the part of JSON Schema that our schema uses. An unknown keyword is an error, so
//! the schema cannot state more than is checked.

use serde_json::Value;

/// Returns all mismatches, each with its place.
///
/// # Panics
///
/// Panics if the schema is not one, or uses a keyword that is not checked here.
#[must_use]
pub fn check(schema: &Value, value: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    Checker { root: schema, problems: &mut problems }.check(schema, value, "");
    problems
}

struct Checker<'a> {
    root: &'a Value,
    problems: &'a mut Vec<String>,
}

impl Checker<'_> {
    fn check(&mut self, schema: &Value, value: &Value, at: &str) {
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            if !self.fits(keyword, rule, value, at) {
                self.problems.push(format!("{at}: {keyword} {rule}"));
            }
        }
    }

    /// Applies one keyword. Records problems of parts with the place of the part.
    fn fits(&mut self, keyword: &str, rule: &Value, value: &Value, at: &str) -> bool {
        match keyword {
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                let target = self.root.pointer(pointer).expect("references lead somewhere").clone();
                self.check(&target, value, at);
                true
            }
            "type" => match rule {
                Value::Array(types) => types.iter().any(|one| is_type(one, value)),
                one => is_type(one, value),
            },
            "const" => rule == value,
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_i64().is_none_or(|n| n >= rule.as_i64().unwrap()),
            "minItems" => value.as_array().is_none_or(|a| a.len() as u64 >= rule.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|a| a.len() as u64 <= rule.as_u64().unwrap()),
            "pattern" => {
                assert_eq!(rule, "^[0-9a-f]{16}$", "the only pattern known here");
                let text = value.as_str().unwrap_or_default();
                text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            }
            "required" => value.as_object().is_none_or(|object| {
                rule.as_array()
                    .unwrap()
                    .iter()
                    .all(|key| object.contains_key(key.as_str().unwrap()))
            }),
            "properties" => {
                for (key, part) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = rule.get(key) {
                        self.check(schema, part, &format!("{at}/{key}"));
                    }
                }
                true
            }
            "additionalProperties" => {
                for (key, part) in value.as_object().into_iter().flatten() {
                    self.check(rule, part, &format!("{at}/{key}"));
                }
                true
            }
            "items" => {
                for (index, part) in value.as_array().into_iter().flatten().enumerate() {
                    self.check(rule, part, &format!("{at}/{index}"));
                }
                true
            }
            "anyOf" => self.count(rule, value) >= 1,
            "oneOf" => self.count(rule, value) == 1,
            _ => panic!("the schema uses `{keyword}`, which is not checked"),
        }
    }

    /// Returns the number of alternatives that match.
    fn count(&self, alternatives: &Value, value: &Value) -> usize {
        let fits = |schema: &&Value| {
            let mut problems = Vec::new();
            Checker { root: self.root, problems: &mut problems }.check(schema, value, "");
            problems.is_empty()
        };
        alternatives.as_array().unwrap().iter().filter(fits).count()
    }
}

fn is_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("unknown type {other}"),
    }
}
