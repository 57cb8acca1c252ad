//! Profiles: what reports know of a run besides its events, its location and its handler.
//!
//! **Idea.** A report shows races of one location as one group if they are alike: in what lets them
//! come in either order, and where it matters in their source positions. Two runs with one profile
//! are alike in their races with any run of a third handler. So those need not be listed one by one
//! (`crowd.rs`). Traces with inputs have no profiles: there, more than this matters.

use crate::races::category::Origins;
use crate::races::detector::Run;
use crate::relation::conflicts::AccessClass;
use anyorder_trace::{SiteId, TaskId, Trace};
use rustc_hash::FxHashMap;
use std::num::NonZeroU32;

/// A profile: its position in [`Profiles`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ProfileId(NonZeroU32);

impl ProfileId {
    /// Returns a profile that says nothing but the class.
    pub(crate) fn of_class(class: AccessClass) -> ProfileId {
        let number = u32::from(class.writes) + 2 * u32::from(class.atomic);
        ProfileId(NonZeroU32::MIN.saturating_add(number))
    }
}

/// A cause of a task, as another task has it, too, or not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Cause {
    /// There is none.
    None,
    /// No other task has it.
    Own,
    /// Several tasks have it.
    Of(TaskId),
}

/// What reports know of a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Profile {
    class: AccessClass,
    site: SiteId,
    cross_post: Cause,
    delayed_post: Cause,
}

/// The profiles of a trace.
pub(crate) struct Profiles<'t> {
    origins: &'t Origins,
    /// For each task, how many tasks have it as the last cross-handler post on their chains, and as
    /// the last delayed one: none, one or several.
    shared: Vec<[u8; 2]>,
    ids: FxHashMap<Profile, ProfileId>,
    list: Vec<Profile>,
}

impl<'t> Profiles<'t> {
    /// Prepares the profiles of a trace; `None` if it has inputs.
    pub(crate) fn new(trace: &Trace, origins: &'t Origins) -> Option<Profiles<'t>> {
        if !trace.tables().inputs.is_empty() {
            return None;
        }
        let mut shared = vec![[0u8; 2]; trace.tasks_count()];
        for task in trace.task_ids() {
            for (at, post) in origins.of(task).posts().into_iter().enumerate() {
                if let Some(count) = post.some().and_then(|post| shared.get_mut(post.index())) {
                    count[at] = (count[at] + 1).min(2);
                }
            }
        }
        Some(Profiles { origins, shared, ids: FxHashMap::default(), list: Vec::new() })
    }

    /// Returns the profile of a run. `site` is its source position where reports tell those apart.
    pub(crate) fn of(&mut self, run: &Run, site: SiteId) -> ProfileId {
        let posts = self.origins.of(run.task).posts();
        let cause = |at: usize| match posts[at].some() {
            None => Cause::None,
            Some(post) if self.shared[post.index()][at] < 2 => Cause::Own,
            Some(post) => Cause::Of(post),
        };
        let (cross_post, delayed_post) = (cause(0), cause(1));
        let profile = Profile { class: run.class, site, cross_post, delayed_post };
        *self.ids.entry(profile).or_insert_with(|| {
            self.list.push(profile);
            ProfileId(NonZeroU32::MIN.saturating_add(self.list.len() as u32 - 1))
        })
    }

    /// Returns whether all races of runs of one profile with a run of another one, both by tasks of
    /// one handler, are alike, whatever the other races are.
    pub(crate) fn are_alike_on_one_handler(&self, one: ProfileId, other: ProfileId) -> bool {
        let [one, other] = [one, other].map(|id| self.list[id.0.get() as usize - 1]);
        // The first race of a location whose tasks differ in both ways is special; so is a read
        // that only guards.
        one.delayed_post == other.delayed_post
            && one.delayed_post != Cause::Own
            && one.class.writes
            && other.class.writes
    }
}
