//! Mutations of JSON values.

use super::grow::HOSTILE;
use anyorder_common::random::{Random as _, Rng};
use serde_json::{Value, json};

/// Changes one value of a JSON text, or of one line of it. Returns `false` if none of it is JSON.
pub(super) fn change(rng: &mut Rng, bytes: &mut Vec<u8>) -> bool {
    if let Ok(mut value) = serde_json::from_slice::<Value>(bytes) {
        change_value(rng, &mut value);
        *bytes = value.to_string().into_bytes();
        return true;
    }
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = rng.index(lines.len());
    let Some(mut value) = serde_json::from_slice::<Value>(&lines[at]).ok() else { return false };
    change_value(rng, &mut value);
    lines[at] = value.to_string().into_bytes();
    *bytes = lines.join(&b'\n');
    true
}

fn change_value(rng: &mut Rng, root: &mut Value) {
    let count = size(root);
    let other = at(root, &mut rng.index(count)).cloned().unwrap_or(Value::Null);
    let mut number = rng.index(count);
    let Some(place) = at(root, &mut number) else { return };
    match rng.below(6) {
        0 => *place = other,
        1 => *place = leaf(rng),
        2 => match place {
            Value::Array(items) if !items.is_empty() => {
                let item = items[rng.index(items.len())].clone();
                let times = 1usize << rng.below(12);
                items.extend(std::iter::repeat_n(item, times));
            }
            place => *place = Value::Array(vec![place.clone(); rng.index(50)]),
        },
        3 => match place {
            Value::Array(items) if !items.is_empty() => drop(items.remove(rng.index(items.len()))),
            Value::Object(map) if !map.is_empty() => {
                let key = map.keys().nth(rng.index(map.len())).cloned().unwrap_or_default();
                map.remove(&key);
            }
            place => *place = Value::Null,
        },
        4 => {
            for _ in 0..1 << rng.below(7) {
                *place = json!([place.take()]);
            }
        }
        _ => match place {
            Value::String(text) => text.push_str(rng.pick(&HOSTILE)),
            Value::Array(items) => rng.shuffle(items),
            Value::Object(map) => drop(map.insert(rng.pick(&HOSTILE).to_owned(), other)),
            place => *place = leaf(rng),
        },
    }
}

fn leaf(rng: &mut Rng) -> Value {
    match rng.below(10) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(0),
        3 => json!(-1),
        4 => json!(u64::MAX),
        5 => json!(i64::MIN),
        6 => json!(u32::MAX),
        7 => json!(0.5),
        8 => json!(rng.pick(&HOSTILE)),
        _ => json!({}),
    }
}

/// Returns the number of values in a value, itself included.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(map) => map.values().map(size).sum(),
        _ => 0,
    }
}

/// Returns the value of that number, in the order of a walk.
fn at<'a>(value: &'a mut Value, number: &mut usize) -> Option<&'a mut Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| at(item, number)),
        Value::Object(map) => map.values_mut().find_map(|item| at(item, number)),
        _ => None,
    }
}
