//! The write orders of `co` lines, and their problems.

use super::gather::EventsByName;
use anyorder_trace::{Coherence, LocationId, NameId, Place, Problem, Problems, Tables};
use rustc_hash::FxHashSet;

/// A `co` line: names of writes with their offsets.
#[derive(Debug)]
struct CoherenceLine {
    location: LocationId,
    writes: Vec<(NameId, u32)>,
    line: u64,
}

/// The state of one variable.
#[derive(Clone, Copy, Debug, Default)]
struct Variable {
    writes: u32,
    /// The line of the second write. An order is needed from there on.
    second_write_line: u64,
    /// The line of its `co` line; 0 for none.
    coherence_line: u64,
}

/// All `co` lines, and the counts of writes they must account for.
#[derive(Debug, Default)]
pub(super) struct CoherenceLines {
    lines: Vec<CoherenceLine>,
    /// By location.
    variables: Vec<Variable>,
}

impl CoherenceLines {
    /// Counts a write.
    pub(super) fn write(&mut self, location: LocationId, line: u64) {
        let variable = self.variable(location);
        variable.writes += 1;
        if variable.writes == 2 {
            variable.second_write_line = line;
        }
    }

    /// Adds a `co` line.
    ///
    /// # Errors
    ///
    /// Fails when the variable already has one; the message continues after its name.
    pub(super) fn add(
        &mut self,
        location: LocationId,
        writes: Vec<(NameId, u32)>,
        line: u64,
    ) -> Result<(), String> {
        let before = &mut self.variable(location).coherence_line;
        if *before != 0 {
            return Err(format!("has a `co` line already, line {before}"));
        }
        *before = line;
        self.lines.push(CoherenceLine { location, writes, line });
        Ok(())
    }

    fn variable(&mut self, location: LocationId) -> &mut Variable {
        if self.variables.len() <= location.index() {
            self.variables.resize(location.index() + 1, Variable::default());
        }
        &mut self.variables[location.index()]
    }

    /// Fills the table of coherence orders, and lists problems.
    pub(super) fn finish(
        &self,
        tables: &mut Tables,
        events: &EventsByName<'_>,
        infer: bool,
        problems: &mut Problems,
    ) {
        for line in &self.lines {
            if let Some(order) = self.order(line, tables, events, problems) {
                tables.coherence.push(order);
            }
        }
        if infer {
            return;
        }
        for (index, variable) in self.variables.iter().enumerate() {
            if variable.writes >= 2 && variable.coherence_line == 0 {
                let name = tables.location_text(LocationId::from_index(index));
                let message = format!(
                    "variable `{name}` has {} writes and no `co` line that orders them",
                    variable.writes
                );
                let place = Place::line(variable.second_write_line);
                problems.push(Problem::error(place, message).with_text(name.as_bytes()));
            }
        }
    }

    /// Returns the order that a line gives, or lists its problems.
    fn order(
        &self,
        line: &CoherenceLine,
        tables: &Tables,
        events: &EventsByName<'_>,
        problems: &mut Problems,
    ) -> Option<Coherence> {
        let variable = tables.location_text(line.location);
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut writes = Vec::with_capacity(line.writes.len());
        let mut good = true;
        for (name, offset) in &line.writes {
            let text = tables.name(*name);
            let message = match events.write_of(*name, line.location) {
                None => format!("`{text}` is no write of variable `{variable}`"),
                Some(row) if !seen.insert(row) => format!("write `{text}` is named twice"),
                Some(row) => {
                    writes.push(u64::from(row));
                    continue;
                }
            };
            let place = Place::line_column(line.line, offset + 1);
            problems.push(Problem::error(place, message).with_text(text.as_bytes()));
            good = false;
        }
        let expected = self.variables[line.location.index()].writes;
        if good && writes.len() < expected as usize {
            // The search is linear, so it is skipped for problems that are only counted.
            let listed = problems.errors_total < Problems::LISTED_MAX;
            let missing =
                listed.then(|| events.find_write(line.location, |row| !seen.contains(&row)));
            let missing = missing.flatten().map_or("", |name| tables.name(name));
            let message = format!(
                "expected all {expected} writes of variable `{variable}`, found {} of them; \
                 `{missing}` is missing",
                writes.len()
            );
            let problem = Problem::error(Place::line(line.line), message);
            problems.push(problem.with_text(variable.as_bytes()));
            good = false;
        }
        good.then_some(Coherence { location: line.location, writes })
    }
}
