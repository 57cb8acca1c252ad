//! What an execution asks of the world, one deed at a time.
//!
//! An execution depends on nothing but the replies to its deeds. So it can be recorded, and carried
//! out again without the evaluator ([`Memo`](super::Memo)).

use super::tree::Action;
use super::world::{EventKey, NoteKind, Origin, Site, Subscription, UnitId, VarId, VarKind, World};
use crate::value::Stored;

/// A step of an execution that the world sees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    /// A remark about the app.
    Note(NoteKind, Site, String),
    /// Reads a variable.
    Read(VarKind),
    /// Takes any of so many alternatives.
    Choose(u16),
    /// Sets a variable; a change is no event.
    Set(VarKind, Stored, Site),
    /// Sets a variable; a change is an event of this name.
    Update(VarKind, (Origin, String), Stored, Site),
    /// An event that changes nothing by itself.
    Emit(EventKey, Site),
    /// Runs another handler now.
    Run(String, Site),
    /// Makes a timer of a handler known.
    Timer(String),
    /// Ends timers or subscriptions.
    End(Action),
    /// Makes a subscription known.
    Subscribe(Wanted),
    /// Makes a known subscription hold.
    Hold(Wanted, Site),
    /// Goes no further: what follows is not understood.
    Stop,
}

/// What an app wants to hear of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    pub(super) origin: Origin,
    pub(super) name: String,
    pub(super) value: Option<String>,
    pub(super) handler: String,
}

/// What an execution learns from a deed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Reply {
    Nothing,
    Branch(usize),
    /// The value that was read, or that was stored.
    Value(Stored),
}

/// The deeds of one execution of a handler, carried out.
pub(super) struct Deeds<'r, 'a> {
    pub(super) world: &'r mut World<'a>,
    pub(super) app: usize,
    unit: UnitId,
    /// The branches to take at the first reads and choices.
    given: Vec<usize>,
    taken: Vec<usize>,
    pub(super) path: Vec<(Action, usize)>,
    pub(super) alternatives: Vec<Vec<usize>>,
}

impl<'r, 'a> Deeds<'r, 'a> {
    pub(super) fn new(world: &'r mut World<'a>, unit: UnitId, given: Vec<usize>) -> Self {
        let app = world.units[unit].app;
        Deeds { world, app, unit, given, taken: vec![], path: vec![], alternatives: vec![] }
    }

    /// Takes a branch of so many, and plans the others.
    fn branch(&mut self, count: usize, var: Option<VarId>) -> usize {
        let at = self.taken.len();
        let branch = match self.given.get(at) {
            Some(given) => *given,
            None => {
                for other in 1..count {
                    let mut branches = self.taken.clone();
                    branches.push(other);
                    self.alternatives.push(branches);
                }
                if let Some(var) = var {
                    self.world.reads(var, self.unit, &self.taken);
                }
                0
            }
        };
        self.taken.push(branch);
        branch
    }

    /// Carries a deed out.
    pub(super) fn carry_out(&mut self, deed: &Deed) -> Reply {
        match deed {
            Deed::Note(kind, site, text) => self.world.note(*kind, *site, text.clone()),
            Deed::Read(kind) => {
                let var = self.world.var(kind.clone());
                let branch = self.branch(self.world.vars[var].domain.len(), Some(var));
                self.path.push((Action::Read(var), branch));
                return Reply::Value(self.world.vars[var].domain[branch].clone());
            }
            Deed::Choose(count) => {
                let branch = self.branch(usize::from(*count), None);
                self.path.push((Action::Choose(*count), branch));
                return Reply::Branch(branch);
            }
            Deed::Set(kind, value, site) => {
                let (var, value) = self.stored(kind, value, *site);
                let action = Action::Set { var, value: value.clone(), event: None, site: *site };
                self.path.push((action, 0));
                return Reply::Value(value);
            }
            Deed::Update(kind, (origin, name), value, site) => {
                let (var, value) = self.stored(kind, value, *site);
                let event = EventKey { origin: *origin, name: name.clone(), value: value.clone() };
                self.world.event(event.clone());
                let event = Some(event);
                let action = Action::Set { var, value: value.clone(), event, site: *site };
                self.path.push((action, 0));
                return Reply::Value(value);
            }
            Deed::Emit(event, site) => {
                self.world.event(event.clone());
                self.path.push((Action::Emit { event: event.clone(), site: *site }, 0));
            }
            Deed::Run(handler, site) => {
                let unit = super::Unit { app: self.app, handler: handler.clone(), event: None };
                let unit = self.world.unit(unit);
                self.path.push((Action::Run { unit, site: *site }, 0));
            }
            Deed::Timer(handler) => {
                let (app, handler) = (self.app, handler.clone());
                self.world.unit(super::Unit { app, handler: handler.clone(), event: None });
                self.world.var(VarKind::Timer(app, handler));
            }
            Deed::End(action) => self.path.push((action.clone(), 0)),
            Deed::Subscribe(wanted) => {
                let var = self.flag(wanted);
                let Wanted { origin, name, value, handler } = wanted.clone();
                self.happens(origin, &name);
                let app = self.app;
                self.world.subscribe(Subscription { app, origin, name, value, handler, var });
            }
            Deed::Hold(wanted, site) => {
                let (var, value) = (self.flag(wanted), Stored::Bool(true));
                self.path.push((Action::Set { var, value, event: None, site: *site }, 0));
            }
            Deed::Stop => self.path.push((Action::Unknown, 0)),
        }
        Reply::Nothing
    }

    /// Returns a variable, and the value that it takes: another one beyond the limit of values.
    fn stored(&mut self, kind: &VarKind, value: &Stored, site: Site) -> (VarId, Stored) {
        let var = self.world.var(kind.clone());
        let at = self.world.value(var, value, site);
        (var, self.world.vars[var].domain[at].clone())
    }

    /// Returns the variable of a subscription.
    pub(super) fn flag(&mut self, wanted: &Wanted) -> VarId {
        let event = (&*wanted.name, wanted.value.as_deref());
        self.world.flag(self.app, wanted.origin, event, &wanted.handler)
    }

    /// Plans the events that the outside sends: all values of an attribute.
    fn happens(&mut self, origin: Origin, name: &str) {
        let kind = match origin {
            Origin::Device(device) => VarKind::Attribute(device, name.to_owned()),
            Origin::Location if matches!(name, "mode" | "alarmSystemStatus") => {
                VarKind::Location(name.to_owned())
            }
            Origin::Location | Origin::App(_) => {
                let value = Stored::from("now");
                return self.world.event(EventKey { origin, name: name.to_owned(), value });
            }
        };
        let var = self.world.var(kind);
        for value in self.world.vars[var].domain.clone() {
            self.world.event(EventKey { origin, name: name.to_owned(), value });
        }
    }

    /// Foretells the reply to a deed after so many branches and settings, without carrying it out.
    /// `None`: the limit of values may change it.
    pub(super) fn foretold(
        &self,
        deed: &Deed,
        branches: &mut usize,
        sets: &mut usize,
    ) -> Option<Reply> {
        Some(match deed {
            Deed::Read(kind) => {
                let branch = self.given.get(*branches).copied().unwrap_or(0);
                *branches += 1;
                Reply::Value(self.world.value_at(kind, branch)?)
            }
            Deed::Choose(_) => {
                let branch = self.given.get(*branches).copied().unwrap_or(0);
                *branches += 1;
                Reply::Branch(branch)
            }
            Deed::Set(kind, value, _) | Deed::Update(kind, _, value, _) => {
                *sets += 1;
                Reply::Value(self.world.has_room(kind, value, *sets).then(|| value.clone())?)
            }
            _ => Reply::Nothing,
        })
    }
}
