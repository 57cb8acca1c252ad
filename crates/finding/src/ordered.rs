//! A small map that keeps the insertion order of its keys.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A map from names to values in insertion order, so that a result lists the general before the
/// particular. Look-ups are linear: the map holds tens of entries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ordered<V>(Vec<(String, V)>);

impl<V> Default for Ordered<V> {
    fn default() -> Ordered<V> {
        Ordered(Vec::new())
    }
}

impl<V> Ordered<V> {
    /// Makes an empty map.
    #[must_use]
    pub fn new() -> Ordered<V> {
        Ordered::default()
    }

    /// Sets a value; an existing key keeps its place. Returns the map, for chained calls.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<V>) -> &mut Ordered<V> {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
        self
    }

    /// Sets a value, if there is one. Returns the map, for chained calls.
    pub fn set_some(
        &mut self,
        name: impl Into<String>,
        value: Option<impl Into<V>>,
    ) -> &mut Ordered<V> {
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

impl<K: Into<String>, V> FromIterator<(K, V)> for Ordered<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Ordered<V> {
        let mut map = Ordered::new();
        for (key, value) in entries {
            map.set(key, value);
        }
        map
    }
}

impl<V: Serialize> Serialize for Ordered<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ordered<V>, D::Error> {
        struct Entries<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = Ordered<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Ordered<V>, A::Error> {
                let mut map = Ordered::new();
                while let Some((key, value)) = access.next_entry::<String, V>()? {
                    map.set(key, value);
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
