//! A small map that keeps the insertion order of its keys.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A map from names to values in insertion order, so that a result lists the general before the
/// particular. Look-ups are linear: the map holds tens of entries.
///
/// Only a `K` can be set: a declared name, or any text. A map that was read may have other names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ordered<V, K = String>(Vec<(String, V)>, PhantomData<K>);

impl<V, K> Default for Ordered<V, K> {
    fn default() -> Ordered<V, K> {
        Ordered(Vec::new(), PhantomData)
    }
}

impl<V, K: Into<String>> Ordered<V, K> {
    /// Makes an empty map.
    #[must_use]
    pub fn new() -> Ordered<V, K> {
        Ordered::default()
    }

    /// Sets a value; an existing key keeps its place. Returns the map, for chained calls.
    pub fn set(&mut self, name: impl Into<K>, value: impl Into<V>) -> &mut Ordered<V, K> {
        self.put(name.into().into(), value.into());
        self
    }

    fn put(&mut self, name: String, value: V) {
        match self.0.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Sets the value of a name that another result has, declared or not.
    pub fn keep(&mut self, name: &str, value: V) {
        self.put(name.to_owned(), value);
    }

    /// Sets a value, if there is one. Returns the map, for chained calls.
    pub fn set_some(
        &mut self,
        name: impl Into<K>,
        value: Option<impl Into<V>>,
    ) -> &mut Ordered<V, K> {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// Returns a value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&V> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns all entries in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Into<String>, V> FromIterator<(T, V)> for Ordered<V> {
    fn from_iter<I: IntoIterator<Item = (T, V)>>(entries: I) -> Ordered<V> {
        let mut map = Ordered::new();
        for (key, value) in entries {
            map.set(key, value);
        }
        map
    }
}

impl<V: Serialize, K: Into<String>> Serialize for Ordered<V, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Deserialize<'de>, K: Into<String>> Deserialize<'de> for Ordered<V, K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ordered<V, K>, D::Error> {
        struct Entries<V, K>(PhantomData<(V, K)>);
        impl<'de, V: Deserialize<'de>, K: Into<String>> Visitor<'de> for Entries<V, K> {
            type Value = Ordered<V, K>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut map = Ordered::new();
                while let Some((key, value)) = access.next_entry::<String, V>()? {
                    map.put(key, value);
                }
                Ok(map)
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_through_json() {
        let mut map: Ordered<u64> = Ordered::new();
        map.set("z", 1_u64).set("a", 2_u64).set("z", 3_u64);
        let json = serde_json::to_string(&map).unwrap();
        assert_eq!(json, r#"{"z":3,"a":2}"#);
        assert_eq!(serde_json::from_str::<Ordered<u64>>(&json).unwrap(), map);
        assert_eq!(map.get("a"), Some(&2));
        assert_eq!(map.get("b"), None);
    }
}
