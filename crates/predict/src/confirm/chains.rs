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

/// The chains of each handler, with its forks and joins, during a pass over the trace.
#[derive(Clone, Debug, Default)]
pub(super) struct HandlerChains {
    /// By handler.
    chains: Vec<Vec<u32>>,
    forks: Vec<Vec<u32>>,
    /// For each chain: its last event, and the number of forks before it.
    last: Vec<u32>,
    behind: Vec<u32>,
}

impl HandlerChains {
    pub(super) fn new(handlers: usize) -> HandlerChains {
        let none = vec![Vec::new(); handlers];
        HandlerChains { chains: none.clone(), forks: none, ..HandlerChains::default() }
    }

    /// Takes the next event, of a chain of a handler; calls `before` with the forks and ends of
    /// chains that come before it in every run. Returns the event before it in its chain.
    pub(super) fn take(
        &mut self,
        event: Event,
        (chain, handler): (u32, usize),
        before: &mut dyn FnMut(u32),
    ) -> u32 {
        if self.last.len() <= chain as usize {
            self.last.resize(chain as usize + 1, NONE);
            self.behind.resize(chain as usize + 1, 0);
        }
        let previous = std::mem::replace(&mut self.last[chain as usize], event.id.0);
        if previous == NONE
            && let Some(chains) = self.chains.get_mut(handler)
        {
            chains.push(chain);
        }
        if let Some(forks) = self.forks.get(handler) {
            let known = &mut self.behind[chain as usize];
            forks[*known as usize..].iter().for_each(|fork| before(*fork));
            *known = forks.len() as u32;
        }
        let other = event.operand as usize;
        match event.kind() {
            EventKind::Fork => {
                if let Some(forks) = self.forks.get_mut(other) {
                    forks.push(event.id.0);
                }
            }
            EventKind::Join => {
                self.forks.get(other).into_iter().flatten().for_each(|fork| before(*fork));
                let chains = self.chains.get(other).into_iter().flatten();
                let others = chains.filter(|other| **other != chain);
                others.for_each(|other| before(self.last[*other as usize]));
            }
            _ => {}
        }
        previous
    }
}

/// Chains of events during a pass over the trace: a handler with its tasks, or one burst of an
/// untracked handler.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    of_task: Vec<u32>,
    /// For each handler: its chain other than bursts.
    main: Vec<u32>,
    len: usize,
    handlers: HandlerChains,
}

impl Chains {
    pub(super) fn new(trace: &Trace) -> Chains {
        let handlers = trace.tables().handlers.len();
        Chains {
            of_task: vec![NONE; trace.tables().tasks.len()],
            main: vec![NONE; handlers],
            len: 0,
            handlers: HandlerChains::new(handlers),
        }
    }

    /// Returns the number of chains.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Processes the next event. Calls `before` with events that come before it in every run.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        event: Event,
        before: &mut dyn FnMut(u32),
    ) -> Link {
        let def = trace.tables().tasks[event.task.index()];
        let handler = def.handler.index();
        let chain = self.chain(event, handler, def.kind == TaskKind::Burst);
        let previous = self.handlers.take(event, (chain, handler), before);
        if event.kind() == EventKind::Get {
            let post = trace.span(event.task).post;
            if !post.is_none() && post < event.id {
                before(post.0);
            }
        }
        Link { chain, previous, owner: chain }
    }

    fn chain(&mut self, event: Event, handler: usize, is_burst: bool) -> u32 {
        let known = &mut self.of_task[event.task.index()];
        if *known == NONE {
            let new = self.len as u32;
            *known = match self.main.get_mut(handler).filter(|_| !is_burst) {
                Some(main) if *main != NONE => *main,
                Some(main) => {
                    *main = new;
                    new
                }
                None => new,
            };
            self.len += usize::from(*known == new);
        }
        *known
    }
}
