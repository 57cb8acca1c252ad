//! Ids of findings: the same problem has the same id in every run.
//!
//! **Problem.** A baseline lists findings by id; the id must not change when the schedule, the
//! event numbers, the identities of objects or the order of the two accesses do. **Method.** FNV-1a
//! (64 bits; <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>) over the words of kind and
//! category and the sorted keys of the sites. A key holds the source position, the access and the
//! location without the identity of its object or its address; task and handler take part only
//! where a site has neither position nor location. **Deviation.** Groups with equal keys (one field
//! of two objects) get an ordinal, in the order of the list. So two such groups may swap ids when
//! an engine lists them in another order.

use crate::finding::{Finding, Site};
use std::collections::BTreeMap;

/// Sets the ids of all findings. Each id is then unique in the list. O(n log n).
///
/// The list should be in the engine's deterministic order, because that order distinguishes
/// findings with equal keys.
pub fn assign_ids(findings: &mut [Finding]) {
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    for finding in findings {
        let base = hash_of(finding);
        let ordinal = seen.entry(base).or_insert(0);
        let id = if *ordinal == 0 { base } else { Fnv(base).number(*ordinal).0 };
        *ordinal += 1;
        finding.id = format!("{id:016x}");
    }
}

/// Hashes kind, category and sites.
fn hash_of(finding: &Finding) -> u64 {
    let mut keys: Vec<Vec<String>> = finding.sites.iter().map(site_key).collect();
    keys.sort();
    let mut hash = Fnv::START.text(finding.kind.word());
    hash = hash.text(finding.category.as_deref().unwrap_or(""));
    for key in keys {
        for part in &key {
            hash = hash.text(part);
        }
    }
    hash.0
}

/// Returns the parts of a site that are equal in every run.
fn site_key(site: &Site) -> Vec<String> {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let number = |part: Option<u32>| part.map(|n| n.to_string()).unwrap_or_default();
    // A label equal to the position adds nothing.
    let at = |part: String| {
        if site.label.is_some() && site.label == site.position() { String::new() } else { part }
    };
    let mut key = vec![
        at(text(&site.file)),
        at(number(site.line)),
        at(number(site.column)),
        text(&site.label),
        site.location.as_deref().map(stable_location).unwrap_or_default(),
        text(&site.access),
    ];
    if site.file.is_none() && site.label.is_none() && site.location.is_none() {
        key.push(text(&site.task));
        key.push(text(&site.handler));
    }
    key
}

/// Removes the identity of an object (`Foo.bar@0x41`) or an address (`0x10+8`) from a location.
fn stable_location(location: &str) -> String {
    let is_identity = |text: &str| {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    match location.rsplit_once('@') {
        Some((rest, object)) if is_identity(object) => return rest.to_owned(),
        _ => {}
    }
    match location.split_once('+') {
        Some((address, size)) if address.starts_with("0x") && is_identity(address) => {
            format!("+{size}")
        }
        _ => location.to_owned(),
    }
}

/// The running state of an FNV-1a hash.
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    const START: Fnv = Fnv(0xcbf2_9ce4_8422_2325);

    fn bytes(self, bytes: &[u8]) -> Fnv {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Fnv(bytes.iter().fold(self.0, step))
    }

    fn number(self, number: u64) -> Fnv {
        self.bytes(&number.to_le_bytes())
    }

    /// Hashes the length too, so that the boundary between parts matters.
    fn text(self, text: &str) -> Fnv {
        self.number(text.len() as u64).bytes(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Kind;

    fn race(sites: [Site; 2]) -> Finding {
        Finding { sites: sites.into(), ..Finding::new(Kind::Race) }
    }

    fn site(line: u32, location: &str, event: &str, access: &str) -> Site {
        Site {
            file: Some("a.js".into()),
            line: Some(line),
            location: Some(location.into()),
            event: Some(event.into()),
            access: Some(access.into()),
            ..Site::default()
        }
    }

    fn id(finding: Finding) -> String {
        let mut list = [finding];
        assign_ids(&mut list);
        list[0].id.clone()
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(Fnv::START.bytes(b"foobar").0, 0x8594_4171_f739_67e8);
    }

    #[test]
    fn ids_forget_events_objects_and_order() {
        let one =
            id(race([site(1, "Foo.bar@0x41", "7", "read"), site(2, "Foo.bar@0x41", "9", "write")]));
        let two =
            id(race([site(2, "Foo.bar@0x99", "1", "write"), site(1, "Foo.bar@0x99", "4", "read")]));
        assert_eq!(one, two);
        assert_eq!(one.len(), 16);
        let range = |address: &str| {
            id(race([site(1, address, "1", "read"), site(2, address, "2", "write")]))
        };
        assert_eq!(range("0x7f00+8"), range("0x1234+8"));
        assert_ne!(range("0x7f00+8"), range("0x7f00+4"));
    }

    #[test]
    fn ids_keep_kind_category_position_access_and_field() {
        let base = || race([site(1, "Foo.bar", "1", "read"), site(2, "Foo.bar", "2", "write")]);
        let mut others = vec![base()];
        others.push(Finding { kind: Kind::OrderViolation, ..base() });
        others.push(Finding { category: Some("delayed".into()), ..base() });
        others.push(race([site(1, "Foo.bar", "1", "read"), site(3, "Foo.bar", "2", "write")]));
        others.push(race([site(1, "Foo.bar", "1", "write"), site(2, "Foo.bar", "2", "write")]));
        others.push(race([site(1, "Foo.baz", "1", "read"), site(2, "Foo.baz", "2", "write")]));
        let mut ids: Vec<String> = others.into_iter().map(id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 6);
    }

    #[test]
    fn equal_findings_get_distinct_ids() {
        let one = race([site(1, "Foo.bar@0x1", "1", "read"), site(2, "Foo.bar@0x1", "2", "write")]);
        let two = race([site(1, "Foo.bar@0x2", "1", "read"), site(2, "Foo.bar@0x2", "2", "write")]);
        let mut list = [one.clone(), two];
        assign_ids(&mut list);
        assert_ne!(list[0].id, list[1].id);
        assert_eq!(list[0].id, id(one));
    }
}
