//! Requests with numbers, and replies that come late and are dropped by them; and programs that are
//! like that but for one thing.

use anyorder_common::random::{Random, Rng};
use anyorder_trace::{EventKind, HandlerId, Mailbox, Op, TaskId, Trace, TraceBuilder};

const FITS: &str = "small traces fit into their tables";

struct Machine {
    build: TraceBuilder,
    ui: HandlerId,
    /// Replies under way, with their requests.
    replies: Vec<(TaskId, TaskId)>,
    /// The last task that wrote the number.
    last: Option<TaskId>,
    /// What the program does wrong in one place.
    flaw: u64,
    sites: bool,
}

/// Makes a random trace; the same seed always gives the same one.
#[must_use]
pub fn random_replies(seed: u64) -> Trace {
    let rng = &mut Rng::new(seed);
    let mut build = TraceBuilder::new();
    let ui = build.handler("ui", Mailbox::Bag).expect(FITS);
    let user = build.handler("user", Mailbox::None).expect(FITS);
    let (user, main) = (build.initial(user), build.initial(ui));
    build.push(main, Op::from(EventKind::Loop), ui.0);
    let (flaw, sites) = (rng.below(12), rng.percent(40));
    let mut machine = Machine { build, ui, replies: Vec::new(), last: None, flaw, sites };
    let requests = rng.within(2, 4);
    let (mut made, mut steps) = (0, 0);
    while made < requests || !machine.replies.is_empty() && steps < 20 {
        steps += 1;
        if made < requests && (machine.replies.is_empty() || rng.percent(60)) {
            machine.request(rng, user, made);
            made += 1;
        } else {
            let at = rng.index(machine.replies.len());
            let (reply, request) = machine.replies.remove(at);
            machine.reply(rng, reply, request);
        }
        if machine.flaw == 1 && rng.percent(30) {
            machine.build.write(user, "number").expect(FITS);
            machine.last = Some(user);
        }
    }
    machine.build.finish()
}

impl Machine {
    fn request(&mut self, rng: &mut Rng, user: TaskId, number: u64) {
        let request = self.build.task(&format!("click{number}"), self.ui).expect(FITS);
        let reply = self.build.task(&format!("reply{number}"), self.ui).expect(FITS);
        self.build.post(user, request).expect(FITS);
        self.build.get(request).expect(FITS);
        let writes = !(self.flaw == 2 && rng.percent(50));
        let behind = self.flaw == 3 && rng.percent(50);
        if writes && !behind {
            self.build.write(request, "number").expect(FITS);
        }
        if rng.percent(50) {
            self.build.post(request, reply).expect(FITS);
        } else {
            let name = format!("net{number}");
            let net = self.build.handler(&name, Mailbox::None).expect(FITS);
            self.build.push(request, Op::from(EventKind::Fork), net.0);
            let net = self.build.initial(net);
            self.build.post(net, reply).expect(FITS);
        }
        if writes && behind {
            self.build.write(request, "number").expect(FITS);
        }
        if writes {
            self.last = Some(request);
        }
        self.build.end(request).expect(FITS);
        self.replies.push((reply, request));
    }

    fn reply(&mut self, rng: &mut Rng, reply: TaskId, request: TaskId) {
        let (flaw, fresh) = (self.flaw, self.last == Some(request));
        self.build.get(reply).expect(FITS);
        if flaw == 4 && rng.percent(50) {
            self.build.write(reply, "shown").expect(FITS);
        }
        if self.sites {
            let line = if flaw == 5 && rng.percent(50) { 8 } else { 7 };
            self.build.at("app.rs", line).expect(FITS);
        }
        self.build.read(reply, "number").expect(FITS);
        if fresh && !(flaw == 6 && rng.percent(60)) || flaw == 7 && rng.percent(60) {
            self.build.write(reply, "shown").expect(FITS);
        } else if flaw == 8 && rng.percent(60) {
            self.build.read(reply, "shown").expect(FITS);
        }
        if flaw == 9 && rng.percent(50) {
            self.build.write(reply, "number").expect(FITS);
            self.last = Some(reply);
        }
        if fresh && flaw == 10 && rng.percent(60) {
            let name = format!("later{}", reply.0);
            let later = self.build.task(&name, self.ui).expect(FITS);
            self.build.post(reply, later).expect(FITS);
        }
        self.build.end(reply).expect(FITS);
    }
}
