//! Values in chunks. States share a chunk until one of them writes to it.

use crate::value::Value;
use std::sync::Arc;

/// How many globals a chunk holds.
const CHUNK: usize = 8;

type Chunk = [Value; CHUNK];

/// The values of globals.
#[derive(Clone, Debug)]
pub(crate) enum Chunks {
    /// Up to one chunk: one indirection less, and no unused slots.
    One(Arc<[Value]>),
    /// Any number of chunks.
    Many(Arc<[Arc<Chunk>]>),
}

impl Chunks {
    pub(crate) fn new(values: Vec<Value>) -> Chunks {
        if values.len() <= CHUNK {
            return Chunks::One(values.into());
        }
        let mut chunks: Vec<Arc<Chunk>> = Vec::with_capacity(values.len().div_ceil(CHUNK));
        let mut values = values.into_iter().peekable();
        while values.peek().is_some() {
            chunks.push(Arc::new(std::array::from_fn(|_| values.next().unwrap_or_default())));
        }
        Chunks::Many(chunks.into())
    }

    /// Returns the number of slots, including the unused ones of the last chunk.
    pub(crate) fn len(&self) -> usize {
        match self {
            Chunks::One(chunk) => chunk.len(),
            Chunks::Many(chunks) => CHUNK * chunks.len(),
        }
    }

    /// Returns a value. The index must be in range.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &Value {
        match self {
            Chunks::One(chunk) => &chunk[index],
            Chunks::Many(chunks) => &chunks[index / CHUNK][index % CHUNK],
        }
    }

    /// Returns a value for a change; copies a shared chunk first. The index must be in range.
    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> &mut Value {
        match self {
            Chunks::One(chunk) => &mut Arc::make_mut(chunk)[index],
            Chunks::Many(chunks) => {
                &mut Arc::make_mut(&mut Arc::make_mut(chunks)[index / CHUNK])[index % CHUNK]
            }
        }
    }

    /// Returns whether both share all their memory.
    pub(crate) fn shares_memory(&self, other: &Chunks) -> bool {
        match (self, other) {
            (Chunks::One(a), Chunks::One(b)) => Arc::ptr_eq(a, b),
            (Chunks::Many(a), Chunks::Many(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}
