//! Values in chunks, each shared until it is written.

use crate::value::Value;
use std::sync::Arc;

/// How many globals a chunk holds.
const CHUNK: usize = 8;

type Chunk = [Value; CHUNK];

/// The values of globals.
#[derive(Clone, Debug)]
pub(crate) enum Chunks {
    /// Up to one chunk of them: one indirection less, and no room for what is not there.
    One(Arc<[Value]>),
    /// Any number of them.
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

    /// Returns the number of values, what is left of the last chunk included.
    pub(crate) fn len(&self) -> usize {
        match self {
            Chunks::One(chunk) => chunk.len(),
            Chunks::Many(chunks) => CHUNK * chunks.len(),
        }
    }

    /// Returns a value. The index must be there.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &Value {
        match self {
            Chunks::One(chunk) => &chunk[index],
            Chunks::Many(chunks) => &chunks[index / CHUNK][index % CHUNK],
        }
    }

    /// Returns a value to change, and copies its chunk if that is shared. The index must be there.
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
    pub(crate) fn same(&self, other: &Chunks) -> bool {
        match (self, other) {
            (Chunks::One(a), Chunks::One(b)) => Arc::ptr_eq(a, b),
            (Chunks::Many(a), Chunks::Many(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}
