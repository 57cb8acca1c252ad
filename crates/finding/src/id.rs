//! Ids of findings: the same problem has the same id in every run.
//!
//! **Problem.** A baseline lists findings by id; the id must not change when the schedule, the
//! event numbers, the identities of objects or the order of the two accesses do, nor when a path is
//! written in another way. **Method.** FNV-1a (64 bits;
//! <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>) over the words of kind and category
//! and the sorted keys of the sites. A key holds the source position, the access and the location
//! without the identity of its object or its address; task and handler take part only where a site
//! has neither position nor location. Of the path of a source file, the last component counts; a
//! model is known by the last component of its real path, and by its own name ([`Origins`]).
//!
//! Findings that agree in all of this are distinguished, in this order:
//!
//! 1. Models with equal base names in one call: by as many further components of their paths as
//!    distinguish them.
//! 2. Findings of different inputs: by the paths of the inputs, in the same way.
//! 3. Findings with sites in different files: by as many further components as distinguish them.
//! 4. What is left (one field of two objects) gets an ordinal, in the order of the list. So two
//!    such findings may swap ids when an engine lists them in another order.
//!
//! None of a group keeps the plain id, except in the last step: else a baseline of one would hide
//! another one.

use crate::finding::{Finding, Site};
use crate::location;
use crate::origin::{Origins, tail};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Sets the ids of all findings of one input. Each id is then unique in the list. O(n log n).
///
/// The list should be in the engine's deterministic order, because that order distinguishes
/// findings with equal keys.
pub fn assign_ids(findings: &mut [Finding]) {
    assign_ids_of(findings, &Origins::default());
}

/// Like [`assign_ids`], for the findings of several inputs. Each finding names its input.
pub fn assign_ids_of(findings: &mut [Finding], origins: &Origins) {
    // What earlier versions hashed: whole paths, and addresses of locks. Most findings have the
    // same hash in all ways.
    let mut whole: Vec<u64> = Vec::with_capacity(findings.len());
    let mut addressed: Vec<u64> = Vec::with_capacity(findings.len());
    let mut plain: Vec<u64> = Vec::with_capacity(findings.len());
    for finding in findings.iter() {
        let is_shortened = Cell::new(false);
        let short = |file: &str| {
            let known_as = origins.of_file(finding.input.as_deref(), file);
            is_shortened.set(is_shortened.get() || known_as != file);
            known_as
        };
        let hash = hash_of(finding, &short, &location::of_all_objects);
        let is_at_address =
            |site: &Site| site.location.as_deref().is_some_and(location::is_address);
        let with_addresses = match finding.sites.iter().any(is_at_address) {
            true => hash_of(finding, &short, &location::of_fields_and_ranges),
            false => hash,
        };
        plain.push(hash);
        addressed.push(with_addresses);
        whole.push(if is_shortened.get() { former_hash_of(finding) } else { with_addresses });
    }
    let mut ids = plain.clone();
    distinguish(&mut ids, |group| by_input(findings, origins, group));
    let by_input_only = ids.clone();
    distinguish(&mut ids, |group| by_files(findings, origins, group));
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    let mut former: BTreeMap<u64, u64> = BTreeMap::new();
    let mut former_addressed: BTreeMap<u64, u64> = BTreeMap::new();
    for (at, finding) in findings.iter_mut().enumerate() {
        let id = with_ordinal(ids[at], &mut seen);
        // The id that the finding has when its input is checked alone.
        let alone =
            (by_input_only[at] != plain[at] && by_input_only[at] == ids[at]).then_some(plain[at]);
        let before = with_ordinal(whole[at], &mut former);
        let at_address = with_ordinal(addressed[at], &mut former_addressed);
        let at_address = (addressed[at] != plain[at] && at_address != before).then_some(at_address);
        let others = alone.into_iter().chain([before]).chain(at_address);
        finding.id = text(id);
        finding.known_as = others.filter(|other| *other != id).map(text).collect();
    }
}

fn text(id: u64) -> String {
    format!("{id:016x}")
}

/// Returns an id that was not seen before.
fn with_ordinal(base: u64, seen: &mut BTreeMap<u64, u64>) -> u64 {
    let ordinal = seen.entry(base).or_insert(0);
    let id = if *ordinal == 0 { base } else { Fnv(base).number(*ordinal).0 };
    *ordinal += 1;
    id
}

/// Adds to equal ids what `more` returns for the findings that have them: a text each, or nothing.
fn distinguish(ids: &mut [u64], more: impl Fn(&[usize]) -> Option<Vec<String>>) {
    let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, id) in ids.iter().enumerate() {
        groups.entry(*id).or_default().push(at);
    }
    for group in groups.into_values().filter(|group| group.len() > 1) {
        for (at, text) in group.iter().zip(more(&group).unwrap_or_default()) {
            ids[*at] = Fnv(ids[*at]).text(&text).0;
        }
    }
}

/// Tells findings of different inputs apart.
fn by_input(findings: &[Finding], origins: &Origins, group: &[usize]) -> Option<Vec<String>> {
    let inputs: Vec<String> =
        group.iter().map(|at| origins.path_of(findings[*at].input.as_deref())).collect();
    apart(&inputs, |path, components| tail(path, components))
}

/// Tells findings with sites in different files apart.
fn by_files(findings: &[Finding], origins: &Origins, group: &[usize]) -> Option<Vec<String>> {
    let key = |at: &usize, components: usize| {
        let finding = &findings[*at];
        let input = finding.input.as_deref();
        // The file of a model is the model, however its path is written.
        let file = |file: &str| match origins.is_input(input, file) {
            true => String::new(),
            false => tail(file, components),
        };
        format!("{:016x}", hash_of(finding, &file, &location::of_all_objects))
    };
    apart(group, key)
}

/// Returns the keys of the parts with as few components as tell as much as all do; `None` if even
/// all tell nothing.
fn apart<T>(parts: &[T], key: impl Fn(&T, usize) -> String) -> Option<Vec<String>> {
    let keys = |components: usize| -> Vec<String> {
        parts.iter().map(|one| key(one, components)).collect()
    };
    let count = |components: usize| keys(components).iter().collect::<BTreeSet<_>>().len();
    let most = count(usize::MAX);
    let components = (2..COMPONENTS_MAX).find(|components| count(*components) == most);
    (most > 1).then(|| keys(components.unwrap_or(usize::MAX)))
}

/// More components are compared all at once.
const COMPONENTS_MAX: usize = 64;

/// Returns how a file or a location is known in every run.
type Known<'a> = &'a dyn Fn(&str) -> String;

/// Hashes kind, category and sites. `file` and `location` say how files and locations are known.
fn hash_of(finding: &Finding, file: Known<'_>, location: Known<'_>) -> u64 {
    hash(finding, |site| site_key(site, file, &|label| placed(label, file), location))
}

/// The hash of earlier versions: whole paths, and addresses of locks.
fn former_hash_of(finding: &Finding) -> u64 {
    let location = &location::of_fields_and_ranges;
    hash(finding, |site| site_key(site, &str::to_owned, &str::to_owned, location))
}

fn hash(finding: &Finding, key: impl Fn(&Site) -> Vec<String>) -> u64 {
    let mut keys: Vec<Vec<String>> = finding.sites.iter().map(key).collect();
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
fn site_key(site: &Site, file: Known<'_>, label: Known<'_>, location: Known<'_>) -> Vec<String> {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let number = |part: Option<u32>| part.map(|n| n.to_string()).unwrap_or_default();
    // A label equal to the position adds nothing.
    let at = |part: String| {
        if site.label.is_some() && site.label == site.position() { String::new() } else { part }
    };
    let mut key = vec![
        at(site.file.as_deref().map(file).unwrap_or_default()),
        at(number(site.line)),
        at(number(site.column)),
        site.label.as_deref().map(label).unwrap_or_default(),
        site.location.as_deref().map(location).unwrap_or_default(),
        text(&site.access),
    ];
    if site.file.is_none() && site.label.is_none() && site.location.is_none() {
        key.push(text(&site.task));
        key.push(text(&site.handler));
    }
    key
}

/// A label that is a position, `FILE:LINE` or `FILE:LINE:COLUMN`, with its file as it is known.
fn placed(label: &str, file: &dyn Fn(&str) -> String) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let cut =
        |text: &str| text.rsplit_once(':').filter(|(_, n)| is_number(n)).map(|(t, _)| t.len());
    let Some(end) = cut(label) else { return label.to_owned() };
    let end = cut(&label[..end]).unwrap_or(end);
    format!("{}{}", file(&label[..end]), &label[end..])
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

    fn at(file: &str, input: &str) -> Finding {
        let place = Site { file: Some(file.into()), ..site(1, "x", "1", "write") };
        Finding { input: Some(input.into()), ..race([place.clone(), place]) }
    }

    fn ids_of(findings: &[Finding], origins: &Origins) -> Vec<String> {
        let mut list = findings.to_vec();
        assign_ids_of(&mut list, origins);
        list.into_iter().map(|one| one.id).collect()
    }

    #[test]
    fn of_a_source_file_the_last_component_counts() {
        let labelled = |label: &str, file: Option<&str>| {
            let mut finding = race([site(1, "x", "1", "read"), site(1, "x", "2", "write")]);
            for site in &mut finding.sites {
                site.file = file.map(str::to_owned);
                site.label = Some(label.to_owned());
                site.line = file.and(site.line);
            }
            id(finding)
        };
        let path = |path: &str| id(at(path, "t"));
        assert_eq!(path("/build/src/a.c"), path("a.c"));
        assert_eq!(path("C:\\src\\a.c"), path("./a.c"));
        assert_ne!(path("a.c"), path("b.c"));
        assert_eq!(labelled("/x/a.c:1", Some("/x/a.c")), labelled("a.c:1", Some("a.c")));
        assert_eq!(labelled("/x/a.c:1:7", None), labelled("y/a.c:1:7", None));
        assert_ne!(labelled("onClick/1", None), labelled("1", None), "no position, no path");
    }

    #[test]
    fn findings_in_files_of_one_name_keep_their_ids_in_every_order() {
        let (a, b) = (at("/p/a/util.c", "t"), at("/p/b/util.c", "t"));
        let origins = Origins::default();
        let one = ids_of(&[a.clone(), b.clone()], &origins);
        let two = ids_of(&[b.clone(), a.clone()], &origins);
        assert_eq!([&one[0], &one[1]], [&two[1], &two[0]]);
        assert!(one[0] != one[1] && !one.contains(&id(a.clone())));
        let elsewhere = ids_of(&[at("/q/r/a/util.c", "t"), at("/q/r/b/util.c", "t")], &origins);
        assert_eq!(one, elsewhere, "as few components as tell them apart");
    }

    #[test]
    fn models_of_one_name_are_told_apart_and_one_is_known_by_its_name() {
        let mut origins = Origins::default();
        origins.add("a/m.any", "/p/a/m.any", Some("m"));
        origins.add("b/m.any", "/p/b/m.any", Some("m"));
        let (a, b) = (at("a/m.any", "a/m.any"), at("b/m.any", "b/m.any"));
        let both = ids_of(&[a.clone(), b.clone()], &origins);
        assert_eq!(both, ids_of(&[b, a.clone()], &origins).into_iter().rev().collect::<Vec<_>>());
        let mut alone = Vec::new();
        for (path, real, name) in [
            ("m.any", "/p/a/m.any", "m"),
            ("./m.any", "/p/a/m.any", "m"),
            ("link.any", "/p/a/m.any", "m"),
            ("m.any", "/p/a/m.any", "another"),
        ] {
            let mut origins = Origins::default();
            origins.add(path, real, Some(name));
            alone.extend(ids_of(&[at(path, path)], &origins));
        }
        assert!(alone[0] == alone[1] && alone[1] == alone[2] && alone[2] != alone[3]);
        assert!(both[0] != both[1] && !both.contains(&alone[0]));
    }

    #[test]
    fn a_race_of_two_traces_is_known_by_its_id_in_one() {
        let mut origins = Origins::default();
        origins.add("one", "/p/one", None);
        origins.add("two", "/p/two", None);
        let mut list = [at("a.c", "one"), at("a.c", "two")];
        assign_ids_of(&mut list, &origins);
        let alone = id(at("/x/a.c", "one"));
        assert!(list[0].id != list[1].id && list.iter().all(|one| one.known_as.contains(&alone)));
    }

    #[test]
    fn the_address_of_a_lock_is_no_part_of_an_id() {
        let destroyed = |lock: &str, file: &str| {
            let mut finding = race([site(1, lock, "1", "acquire"), site(2, lock, "2", "destroy")]);
            finding.sites.iter_mut().for_each(|site| site.file = Some(file.into()));
            let mut list = [finding];
            assign_ids(&mut list);
            let [finding] = list;
            finding
        };
        for file in ["a.c", "src/a.c"] {
            let (one, other) = (destroyed("0x7f10", file), destroyed("0x7f20", file));
            assert_eq!(one.id, other.id, "{file}");
            assert!(!one.known_as.is_empty(), "what earlier versions wrote is known: {file}");
            assert_ne!(one.known_as, other.known_as, "{file}");
        }
        assert_ne!(destroyed("one", "a.c").id, destroyed("other", "a.c").id);
    }

    #[test]
    fn ids_of_earlier_versions_are_known() {
        let mut list = [at("src/a.c", "t")];
        assign_ids(&mut list);
        assert_eq!(list[0].known_as.len(), 1);
        let base = [at("a.c", "t")];
        let mut other = base;
        assign_ids(&mut other);
        assert!(other[0].known_as.is_empty(), "the id has not changed");
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
