//! Titles that can be told apart in a list.

use crate::finding::{Finding, Site};

/// The most places in a title.
const PLACES_MAX: usize = 2;

impl Finding {
    /// Returns the title with the places of its first sites: `... (Store.kt:22 and List.kt:46)`. A
    /// place that the title names already is left out. Ids do not depend on titles.
    #[must_use]
    pub fn title_with_places(&self) -> String {
        let mut places: Vec<String> = Vec::new();
        for place in self.sites.iter().filter_map(place) {
            if !places.contains(&place) && !self.title.contains(&place) {
                places.push(place);
            }
        }
        let more = places.len().saturating_sub(PLACES_MAX);
        places.truncate(PLACES_MAX);
        let places = match (places.as_slice(), more) {
            ([], _) => return self.title.clone(),
            (places, 0) => places.join(" and "),
            (places, more) => format!("{}, and {more} more", places.join(", ")),
        };
        format!("{} ({places})", self.title)
    }
}

/// Returns the shortest words for the place of a site: file and line, or else the name of the
/// position, the function, the task, or the event.
fn place(site: &Site) -> Option<String> {
    if let Some(file) = &site.file {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        return Some(match site.line {
            Some(line) => format!("{name}:{line}"),
            None => name.to_owned(),
        });
    }
    let quoted = |name: &String| format!("`{name}`");
    let in_code = site.label.clone().or_else(|| site.function.as_ref().map(quoted));
    in_code
        .or_else(|| site.task.as_ref().or(site.thread.as_ref()).map(quoted))
        .or_else(|| site.event.as_ref().map(|event| format!("event {event}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn at(file: &str, line: u32) -> Site {
        Site { file: Some(file.into()), line: Some(line), ..Site::default() }
    }

    #[test]
    fn titles_name_their_places_and_ids_do_not_depend_on_them() {
        let finding = |sites: Vec<Site>| Finding {
            title: "write and read of `x` can happen in either order".into(),
            sites,
            ..Finding::new(Kind::Race)
        };
        let two = finding(vec![at("a/b/c.rs", 3), at("d.rs", 4)]).title_with_places();
        assert!(two.ends_with("either order (c.rs:3 and d.rs:4)"), "{two}");
        let one = finding(vec![at("a/b/c.rs", 3), at("c.rs", 3)]).title_with_places();
        assert!(one.ends_with("(c.rs:3)"), "{one}");
        let task = Site { task: Some("t1".into()), event: Some("7".into()), ..Site::default() };
        let thread = Site { event: Some("9".into()), ..Site::default() };
        let named = finding(vec![task, thread]).title_with_places();
        assert!(named.ends_with("(`t1` and event 9)"), "{named}");
        let many = finding((1..=4).map(|line| at("m.any", line)).collect()).title_with_places();
        assert!(many.ends_with("(m.any:1, m.any:2, and 2 more)"), "{many}");
        assert_eq!(finding(vec![]).title_with_places(), finding(vec![]).title);
        let mut ids = [finding(vec![at("c.rs", 3)]), finding(vec![at("c.rs", 3)])];
        ids[1].title = ids[1].title_with_places();
        let [one, other] = ids.map(|finding| {
            let mut list = [finding];
            crate::assign_ids(&mut list);
            list[0].id.clone()
        });
        assert_eq!(one, other);
    }
}
