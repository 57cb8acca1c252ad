//! The decision heuristic VSIDS: the open variable of greatest activity comes next.
//!
//! **Source.** M. Moskewicz et al., *Chaff*, DAC 2001, in the form of MiniSat: each conflict bumps
//! the activities of the variables that its analysis meets, and all activities decay with every
//! conflict, here because the increment grows. An order heap has the open variables.

use super::lit::Var;

/// Above this, all activities are scaled down, so that they stay in the range of `f64`.
const ACTIVITY_MAX: f64 = 1e100;

const ABSENT: u32 = u32::MAX;

/// The activities of the variables, and the order heap: a binary heap of those that may be open,
/// greatest activity first. Increments grow exponentially.
pub(super) struct Vsids {
    activity: Vec<f64>,
    increment: f64,
    heap: Vec<u32>,
    /// By variable: its place in `heap`, or `ABSENT`.
    places: Vec<u32>,
}

impl Vsids {
    pub(super) fn new() -> Vsids {
        Vsids { activity: Vec::new(), increment: 1.0, heap: Vec::new(), places: Vec::new() }
    }

    pub(super) fn add_var(&mut self) {
        self.activity.push(0.0);
        self.places.push(ABSENT);
        self.insert(Var(self.places.len() as u32 - 1));
    }

    pub(super) fn insert(&mut self, var: Var) {
        if self.places[var.index()] == ABSENT {
            self.heap.push(var.0);
            self.up(self.heap.len() - 1);
        }
    }

    /// Removes and returns the variable of greatest activity.
    pub(super) fn pop(&mut self) -> Option<Var> {
        let top = *self.heap.first()?;
        self.places[top as usize] = ABSENT;
        let last = self.heap.pop()?;
        if last != top {
            self.heap[0] = last;
            self.down(0);
        }
        Some(Var(top))
    }

    #[inline]
    pub(super) fn bump(&mut self, var: Var) {
        let activity = &mut self.activity[var.index()];
        *activity += self.increment;
        if *activity > ACTIVITY_MAX {
            self.activity.iter_mut().for_each(|activity| *activity /= ACTIVITY_MAX);
            self.increment /= ACTIVITY_MAX;
        }
        let place = self.places[var.index()];
        if place != ABSENT {
            self.up(place as usize);
        }
    }

    /// Multiplies the weight of all activities so far by `factor` (below 1), relative to new ones.
    pub(super) fn decay(&mut self, factor: f64) {
        self.increment /= factor;
    }

    fn up(&mut self, mut place: usize) {
        let var = self.heap[place];
        let activity = self.activity[var as usize];
        while place > 0 {
            let parent = (place - 1) / 2;
            let above = self.heap[parent];
            if self.activity[above as usize] >= activity {
                break;
            }
            self.put(above, place);
            place = parent;
        }
        self.put(var, place);
    }

    fn down(&mut self, mut place: usize) {
        let var = self.heap[place];
        let activity = self.activity[var as usize];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len()
                && self.activity[self.heap[child + 1] as usize]
                    > self.activity[self.heap[child] as usize]
            {
                child += 1;
            }
            let below = self.heap[child];
            if self.activity[below as usize] <= activity {
                break;
            }
            self.put(below, place);
            place = child;
        }
        self.put(var, place);
    }

    #[inline]
    fn put(&mut self, var: u32, place: usize) {
        self.heap[place] = var;
        self.places[var as usize] = place as u32;
    }

    pub(super) fn memory_bytes(&self) -> usize {
        8 * self.activity.capacity() + 4 * (self.heap.capacity() + self.places.capacity())
    }
}
