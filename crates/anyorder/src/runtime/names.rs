//! Numbers of threads, objects and positions: the same in all executions of one program.

use super::arena;
use super::slot::About;
use anyorder_threads::{Object, ObjectId, SiteId, ThreadId};
use rustc_hash::FxHashMap;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What names an object, but for what it is at first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    /// The `k`-th object that a thread makes.
    Made(ThreadId, u32),
    /// A position in the memory that a thread allocated.
    Heap(ThreadId, u64),
    /// A distance from the base of the stack of a thread.
    Stack(ThreadId, u64),
    /// An address outside of executions.
    Fixed(usize),
    /// The `k`-th object of unknown place that a thread is the first to use.
    First(ThreadId, u32),
    /// Where a thread is joined.
    End(ThreadId),
    /// The token of a thread.
    Token(ThreadId),
    /// What a thread gets when it is spawned.
    Given(ThreadId),
    /// Whether the memory at a position was freed.
    Watched(ThreadId, u64),
}

/// Which of the objects at a place one is: how many had ended there, and how many got names since.
type Turn = (u32, u32);

/// The objects that were at one place.
#[derive(Debug, Default)]
struct Objects {
    /// The last execution with an object there, and how many had ended there when the last one got
    /// its name.
    execution: u64,
    ends: u32,
    /// How many got a name since.
    used: u32,
    /// With the state at first.
    known: Vec<(Turn, Object, ObjectId)>,
}

/// How many positions are found without a look into a table.
const RECENT_SITES: usize = 64;

/// All names that were given, over all executions of a program.
#[derive(Debug)]
pub(crate) struct Names {
    threads: FxHashMap<(ThreadId, u32), ThreadId>,
    threads_count: u32,
    /// What was known of a place, by what the one that knew it had seen; and how much of each
    /// place.
    contents: FxHashMap<(u32, u64), u32>,
    contents_counts: FxHashMap<u32, u32>,
    places: FxHashMap<Place, Objects>,
    initial: Vec<Object>,
    abouts: Vec<Option<About>>,
    /// Where each object was.
    placed: Vec<Option<Place>>,
    sites: Vec<&'static Location<'static>>,
    /// Some of those in the next table, by what is left of their addresses.
    recent_sites: [(usize, SiteId); RECENT_SITES],
    /// By address: one position may have several.
    sites_by_address: FxHashMap<usize, SiteId>,
    sites_by_place: FxHashMap<(&'static str, u32, u32), SiteId>,
    /// The numbers that other programs have, too. What is above are those that this one knows.
    shared: Option<Arc<SharedNames>>,
}

/// Numbers of threads and objects that several programs share, which are the same one on several
/// cores. Each keeps those that it knows, and asks for the others alone.
#[derive(Debug, Default)]
pub(crate) struct SharedNames(Mutex<Numbers>);

#[derive(Debug, Default)]
struct Numbers {
    threads: FxHashMap<(ThreadId, u32), ThreadId>,
    contents: FxHashMap<(u32, u64), u32>,
    contents_counts: FxHashMap<u32, u32>,
    objects: FxHashMap<(Place, Turn), Vec<(Object, ObjectId)>>,
    objects_count: u32,
}

impl SharedNames {
    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn thread(&self, creator: ThreadId, ordinal: u32) -> ThreadId {
        let threads = &mut self.numbers().threads;
        let new = ThreadId(threads.len() as u32 + 1);
        *threads.entry((creator, ordinal)).or_insert(new)
    }

    fn object(&self, place: Place, turn: Turn, at_first: &Object) -> ObjectId {
        let numbers = &mut *self.numbers();
        let known = numbers.objects.entry((place, turn)).or_default();
        if let Some((_, id)) = known.iter().find(|known| known.0 == *at_first) {
            return *id;
        }
        let id = ObjectId(numbers.objects_count);
        numbers.objects_count += 1;
        known.push((at_first.clone(), id));
        id
    }

    fn content(&self, place: u32, version: u64) -> u32 {
        let Numbers { contents, contents_counts, .. } = &mut *self.numbers();
        number_of_content(contents, contents_counts, (place, version))
    }
}

fn number_of_content(
    contents: &mut FxHashMap<(u32, u64), u32>,
    counts: &mut FxHashMap<u32, u32>,
    key: (u32, u64),
) -> u32 {
    *contents.entry(key).or_insert_with(|| {
        let count = counts.entry(key.0).or_default();
        *count = (*count + 1) & 0xff_ffff;
        *count
    })
}

impl Names {
    pub(crate) fn new(shared: Option<Arc<SharedNames>>) -> Names {
        Names {
            threads: FxHashMap::default(),
            threads_count: 1,
            contents: FxHashMap::default(),
            contents_counts: FxHashMap::default(),
            places: FxHashMap::default(),
            initial: Vec::new(),
            abouts: Vec::new(),
            placed: Vec::new(),
            sites: Vec::new(),
            recent_sites: [(0, SiteId::NONE); RECENT_SITES],
            sites_by_address: FxHashMap::default(),
            sites_by_place: FxHashMap::default(),
            shared,
        }
    }

    /// Returns the `ordinal`-th thread that `creator` spawns.
    pub(crate) fn thread(&mut self, creator: ThreadId, ordinal: u32) -> ThreadId {
        debug_assert!(!arena::is_active());
        let (count, shared) = (&mut self.threads_count, &self.shared);
        *self.threads.entry((creator, ordinal)).or_insert_with(|| {
            *count += 1;
            match shared {
                Some(shared) => shared.thread(creator, ordinal),
                None => ThreadId(*count - 1),
            }
        })
    }

    /// Returns the object that begins to exist at a place in this execution, where so many have
    /// ended. What ends there is what the thread does whose place it is; how many of them were
    /// used before and got names is not: others may have used them.
    pub(crate) fn object(
        &mut self,
        execution: u64,
        (place, ends): (Place, u32),
        at_first: Object,
        about: Option<About>,
    ) -> ObjectId {
        debug_assert!(!arena::is_active());
        let objects = self.places.entry(place).or_default();
        if (objects.execution, objects.ends) != (execution, ends) {
            (objects.execution, objects.ends, objects.used) = (execution, ends, 0);
        }
        // What is fixed stays: whoever asks again has forgotten. Elsewhere a new object took the
        // place of an old one.
        let is_fixed = matches!(place, Place::Fixed(_));
        let turn = if is_fixed { (0, 0) } else { (ends, objects.used) };
        objects.used += 1;
        let is_it = |known: &&(Turn, Object, ObjectId)| (known.0, &known.1) == (turn, &at_first);
        if let Some((.., id)) = objects.known.iter().find(is_it) {
            return *id;
        }
        let id = match &self.shared {
            Some(shared) => shared.object(place, turn, &at_first),
            None => ObjectId(self.initial.len() as u32),
        };
        if self.initial.len() <= id.index() {
            // Those between are other programs'.
            self.initial.resize(id.index() + 1, Object::Data(0));
            self.abouts.resize(id.index() + 1, None);
            self.placed.resize(id.index() + 1, None);
        }
        self.initial[id.index()] = at_first.clone();
        self.abouts[id.index()] = about;
        self.placed[id.index()] = Some(place);
        objects.known.push((turn, at_first, id));
        id
    }

    /// Returns the one object of a place that has no other in an execution.
    pub(crate) fn only_object(&mut self, place: Place, at_first: Object) -> ObjectId {
        if let Some((.., id)) = self.places.get(&place).and_then(|objects| objects.known.first()) {
            return *id;
        }
        self.object(0, (place, 0), at_first, None)
    }

    /// Returns the number of what is known of a place, from 1 to 24 bits.
    pub(crate) fn content(&mut self, place: u32, version: u64) -> u32 {
        let Names { contents, contents_counts, shared, .. } = self;
        match shared {
            Some(shared) => {
                let shared = || shared.content(place, version);
                *contents.entry((place, version)).or_insert_with(shared)
            }
            None => number_of_content(contents, contents_counts, (place, version)),
        }
    }

    pub(crate) fn initial(&self, object: ObjectId) -> Object {
        self.initial.get(object.index()).cloned().unwrap_or(Object::Data(0))
    }

    /// Returns how far two objects are from each other, if they are in one memory.
    pub(crate) fn distance(&self, a: ObjectId, b: ObjectId) -> Option<u64> {
        let place = |object: ObjectId| self.placed.get(object.index())?.as_ref();
        match (place(a)?, place(b)?) {
            (Place::Heap(of_a, at_a), Place::Heap(of_b, at_b))
            | (Place::Stack(of_a, at_a), Place::Stack(of_b, at_b))
                if of_a == of_b =>
            {
                Some(at_a.abs_diff(*at_b))
            }
            (Place::Fixed(at_a), Place::Fixed(at_b)) => Some(at_a.abs_diff(*at_b) as u64),
            _ => None,
        }
    }

    /// Returns what reports say of an object, if it has a slot.
    pub(crate) fn about(&self, object: ObjectId) -> Option<About> {
        self.abouts.get(object.index()).copied().flatten()
    }

    pub(crate) fn site(&mut self, location: &'static Location<'static>) -> SiteId {
        debug_assert!(!arena::is_active());
        let address = std::ptr::from_ref(location) as usize;
        // They lie one behind the other, and each has the size of three words.
        let slot = address / size_of::<Location<'static>>() % RECENT_SITES;
        let (known, id) = self.recent_sites[slot];
        if known == address {
            return id;
        }
        let id = self.site_at(address, location);
        self.recent_sites[slot] = (address, id);
        id
    }

    fn site_at(&mut self, address: usize, location: &'static Location<'static>) -> SiteId {
        if let Some(id) = self.sites_by_address.get(&address) {
            return *id;
        }
        let place = (location.file(), location.line(), location.column());
        let new = SiteId(self.sites.len() as u32);
        let id = *self.sites_by_place.entry(place).or_insert(new);
        if id == new {
            self.sites.push(location);
        }
        self.sites_by_address.insert(address, id);
        id
    }

    pub(crate) fn location(&self, site: SiteId) -> Option<&'static Location<'static>> {
        self.sites.get(site.0 as usize).copied()
    }

    /// Returns how many objects have names.
    pub(crate) fn objects_count(&self) -> usize {
        self.initial.len()
    }
}
