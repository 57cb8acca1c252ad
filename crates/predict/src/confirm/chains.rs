//! Chains of consecutive events, and their orders by forks and joins.

use anyorder_trace::{Event, EventKind, TaskKind, Trace};

/// No event, no chain, no section.
pub(super) const NONE: u32 = u32::MAX;

/// The position of an event in its chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) chain: u32,
    /// The event before it in its chain.
    pub(super) previous: u32,
    /// The owner of the locks that it takes.
    pub(super) owner: u32,
}

/// Chains of events during a pass over the trace: a handler with its tasks, or one burst of an
/// untracked handler.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    of_task: Vec<u32>,
    /// For each handler: its chain other than bursts, its chains, and its forks.
    main: Vec<u32>,
    of_handler: Vec<Vec<u32>>,
    forks: Vec<Vec<u32>>,
    /// For each chain: its handler, its last event, and the number of forks before it.
    handler: Vec<u32>,
    last: Vec<u32>,
    behind: Vec<u32>,
}

impl Chains {
    pub(super) fn new(trace: &Trace) -> Chains {
        let handlers = trace.tables().handlers.len();
        Chains {
            of_task: vec![NONE; trace.tables().tasks.len()],
            main: vec![NONE; handlers],
            of_handler: vec![Vec::new(); handlers],
            forks: vec![Vec::new(); handlers],
            ..Chains::default()
        }
    }

    /// Returns the number of chains.
    pub(super) fn len(&self) -> usize {
        self.handler.len()
    }

    /// Processes the next event. Calls `before` with events that come before it in every run.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        event: Event,
        before: &mut dyn FnMut(u32),
    ) -> Link {
        let chain = self.chain(trace, event);
        let previous = self.last[chain as usize];
        if let Some(forks) = self.forks.get(self.handler[chain as usize] as usize) {
            let known = &mut self.behind[chain as usize];
            forks[*known as usize..].iter().for_each(|fork| before(*fork));
            *known = forks.len() as u32;
        }
        match event.kind() {
            EventKind::Fork => {
                if let Some(forks) = self.forks.get_mut(event.operand as usize) {
                    forks.push(event.id.0);
                }
            }
            EventKind::Join => {
                let forks = self.forks.get(event.operand as usize);
                forks.into_iter().flatten().for_each(|fork| before(*fork));
                if let Some(chains) = self.of_handler.get(event.operand as usize) {
                    for other in chains.iter().filter(|other| **other != chain) {
                        before(self.last[*other as usize]);
                    }
                }
            }
            EventKind::Get => {
                let post = trace.span(event.task).post;
                if !post.is_none() && post < event.id {
                    before(post.0);
                }
            }
            _ => {}
        }
        self.last[chain as usize] = event.id.0;
        Link { chain, previous, owner: chain }
    }

    fn chain(&mut self, trace: &Trace, event: Event) -> u32 {
        let known = self.of_task[event.task.index()];
        if known != NONE {
            return known;
        }
        let def = trace.tables().tasks[event.task.index()];
        let (handler, at) = (def.handler, def.handler.0 as usize);
        let is_burst = def.kind == TaskKind::Burst;
        let main = self.main.get(at).copied().filter(|main| !is_burst && *main != NONE);
        let chain = main.unwrap_or_else(|| {
            self.handler.push(if handler.is_none() { NONE } else { handler.0 });
            self.last.push(NONE);
            self.behind.push(0);
            self.handler.len() as u32 - 1
        });
        if main.is_none()
            && let Some(chains) = self.of_handler.get_mut(at)
        {
            chains.push(chain);
            if !is_burst {
                self.main[at] = chain;
            }
        }
        self.of_task[event.task.index()] = chain;
        chain
    }
}
