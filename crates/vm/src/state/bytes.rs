//! Numbers and values as bytes.

use crate::program::Program;
use crate::value::{Map, Seq, Set, Value, live_handle};
use std::sync::Arc;

/// Appends a number: seven bits a byte, the lowest first.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, ((number << 1) ^ (number >> 63)) as u64);
}

// First bytes of values. Small ints start at SMALL_INT, small variants at SMALL_VARIANT.
const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
const VARIANT: u8 = 4;
const VARIANT_INT: u8 = 5;
const OBJ: u8 = 6;
const HANDLE: u8 = 7;
const STR: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const RECORD: u8 = 12;
const VARIANT_OF: u8 = 13;
const FUNC: u8 = 14;
const ARRAY: u8 = 15;
const INDEX: u8 = 16;
const SMALL_INT: u8 = 17;
const SMALL_INTS: u8 = 111;
const SMALL_VARIANT: u8 = 128;
/// Limits of small variants: enums below 8, variants below 16.
const SMALL_TYPES: u16 = 8;
const SMALL_VARIANTS: u16 = 16;

/// Appends a value.
pub(crate) fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(value) => out.push(if *value { TRUE } else { FALSE }),
        Value::Int(value) if (0..i64::from(SMALL_INTS)).contains(value) => {
            out.push(SMALL_INT + *value as u8);
        }
        Value::Int(value) => {
            out.push(INT);
            put_signed(out, *value);
        }
        Value::Index { of, member } => {
            out.push(INDEX);
            put(out, u64::from(*of));
            put(out, u64::from(*member));
        }
        Value::Variant { ty, variant } if *ty < SMALL_TYPES && *variant < SMALL_VARIANTS => {
            out.push(SMALL_VARIANT + (ty * SMALL_VARIANTS + variant) as u8);
        }
        Value::Variant { ty, variant } => {
            out.push(VARIANT);
            put(out, u64::from(*ty));
            put(out, u64::from(*variant));
        }
        Value::VariantInt { ty, variant, value } => {
            out.push(VARIANT_INT);
            put(out, u64::from(*ty));
            put(out, u64::from(*variant));
            put_signed(out, *value);
        }
        Value::Obj(number) => {
            out.push(OBJ);
            put(out, u64::from(*number));
        }
        Value::Handle(number) => {
            out.push(HANDLE);
            put(out, u64::from(live_handle(*number)));
        }
        Value::Str(text) => {
            out.push(STR);
            put(out, text.as_str().len() as u64);
            out.extend_from_slice(text.as_str().as_bytes());
        }
        Value::List(seq) => put_seq(out, if seq.ty == 0 { LIST } else { ARRAY }, seq),
        Value::Record(seq) => put_seq(out, RECORD, seq),
        Value::VariantOf(seq) => put_seq(out, VARIANT_OF, seq),
        Value::Func(seq) => put_seq(out, FUNC, seq),
        Value::Set(set) => {
            out.push(SET);
            put(out, set.items().len() as u64);
            set.items().iter().for_each(|item| put_value(out, item));
        }
        Value::Map(map) => {
            out.push(MAP);
            put(out, map.entries().len() as u64);
            for (key, value) in map.entries() {
                put_value(out, key);
                put_value(out, value);
            }
        }
    }
}

/// Writes the items of a sequence behind its tag, its type and its variant.
fn put_seq(out: &mut Vec<u8>, tag: u8, seq: &Seq) {
    out.push(tag);
    if tag != LIST {
        put(out, u64::from(seq.ty));
    }
    if tag == VARIANT_OF {
        put(out, u64::from(seq.variant));
    }
    put(out, seq.items().len() as u64);
    seq.items().iter().for_each(|item| put_value(out, item));
}

/// Reads numbers and values. Every method returns `None` if the bytes do not have the expected
/// form.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    program: &'a Program,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(program: &'a Program, bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, program }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn number16(&mut self) -> Option<u16> {
        u16::try_from(self.number()?).ok()
    }

    pub(crate) fn number32(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// Reads a list: the number of its items, then the items.
    pub(crate) fn list<T>(&mut self, item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count()?;
        self.items(count, item)
    }

    /// Reads a number of items.
    pub(crate) fn items<T>(
        &mut self,
        count: usize,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        (0..count).map(|_| item(self)).collect()
    }

    /// Reads the number of things that follow. Each of them takes at least one byte.
    pub(crate) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        if count <= self.bytes.len() { Some(count) } else { None }
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn payload(&self, ty: u16, variant: u16) -> Option<usize> {
        let enumeration = self.program.enums.get(usize::from(ty))?;
        Some(usize::from(enumeration.variants.get(usize::from(variant))?.payload))
    }

    fn variant(&self, ty: u16, variant: u16) -> Option<Value> {
        (self.payload(ty, variant)? == 0).then_some(Value::Variant { ty, variant })
    }

    /// Reads a value that nests at most `depth` containers.
    pub(crate) fn value(&mut self, depth: u16) -> Option<Value> {
        let first = self.byte()?;
        Some(match first {
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            INT => Value::Int(self.signed()?),
            INDEX => {
                let (of, member) = (self.number16()?, self.number16()?);
                let index = self.program.symmetries.get(usize::from(of))?;
                (member < index.size).then_some(Value::Index { of, member })?
            }
            SMALL_INT..SMALL_VARIANT => Value::Int(i64::from(first - SMALL_INT)),
            SMALL_VARIANT.. => {
                let number = u16::from(first - SMALL_VARIANT);
                self.variant(number / SMALL_VARIANTS, number % SMALL_VARIANTS)?
            }
            VARIANT => {
                let (ty, variant) = (self.number16()?, self.number16()?);
                self.variant(ty, variant)?
            }
            VARIANT_INT => {
                let (ty, variant) = (self.number16()?, self.number16()?);
                if self.payload(ty, variant)? != 1 {
                    return None;
                }
                Value::VariantInt { ty, variant, value: self.signed()? }
            }
            OBJ => Value::Obj(self.number32()?),
            HANDLE => Value::Handle(self.number32()?),
            STR => {
                let length = self.count()?;
                let (text, rest) = self.bytes.split_at_checked(length)?;
                self.bytes = rest;
                Value::str(std::str::from_utf8(text).ok()?)
            }
            _ => self.container(first, depth.checked_sub(1)?)?,
        })
    }

    fn values(&mut self, depth: u16) -> Option<Vec<Value>> {
        self.list(|reader| reader.value(depth))
    }

    fn container(&mut self, first: u8, depth: u16) -> Option<Value> {
        Some(match first {
            LIST => Value::list(self.values(depth)?),
            ARRAY => {
                let of = self.number16()?.checked_sub(1)?;
                self.program.symmetries.get(usize::from(of))?;
                Value::List(Arc::new(Seq::array(of, self.values(depth)?)))
            }
            SET => Value::Set(Arc::new(Set::new(self.values(depth)?))),
            MAP => {
                let entries =
                    self.list(|reader| Some((reader.value(depth)?, reader.value(depth)?)));
                Value::Map(Arc::new(Map::new(entries?)))
            }
            RECORD => {
                let ty = self.number16()?;
                let items = self.values(depth)?;
                let record = self.program.records.get(usize::from(ty))?;
                if record.fields.len() != items.len() {
                    return None;
                }
                Value::Record(Arc::new(Seq::new(ty, 0, items)))
            }
            VARIANT_OF => {
                let (ty, variant) = (self.number16()?, self.number16()?);
                let items = self.values(depth)?;
                if self.payload(ty, variant)? != items.len() {
                    return None;
                }
                Value::variant(ty, variant, &items)
            }
            FUNC => {
                let ty = self.number16()?;
                let items = self.values(depth)?;
                let function = self.program.functions.get(usize::from(ty))?;
                if usize::from(function.captures) != items.len() {
                    return None;
                }
                Value::Func(Arc::new(Seq::new(ty, 0, items)))
            }
            _ => return None,
        })
    }
}
