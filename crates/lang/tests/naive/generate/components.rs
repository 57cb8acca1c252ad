//! Components: whose messages and threads are whose is then part of a state.

use super::Gen;

impl Gen {
    /// Declares components of some of what there is, in some models. What else a seed gives does
    /// not depend on it.
    pub fn components(&mut self) {
        let chosen = self.apart(|random| {
            let mut of: [Vec<String>; 3] = Default::default();
            if !random.percent(25) {
                return of;
            }
            let events: Vec<String> = random.events.iter().map(|event| event.0.clone()).collect();
            let threads = ["th0", "th1", "wa", "no"].into_iter().filter(|name| {
                let declared = format!("thread {name}");
                random.out.lines().any(|line| {
                    let rest = line.split_once(declared.as_str()).map(|(_, rest)| rest);
                    rest.is_some_and(|rest| rest.starts_with([' ', '[']))
                })
            });
            let starts = events.into_iter().chain(threads.map(str::to_owned)).collect::<Vec<_>>();
            for name in starts {
                of[random.below(3)].push(name);
            }
            for name in ["t0", "t1", "t2", "t3", "calc", "work", "proc", "inc"] {
                if random.percent(30) {
                    of[random.below(3)].push(name.to_owned());
                }
            }
            of
        });
        // The last belong to no component.
        for (name, members) in ["ca", "cb"].iter().zip(chosen) {
            if members.is_empty() {
                continue;
            }
            self.hit("component");
            if members.iter().any(|member| member.starts_with('t') && member.len() == 2) {
                self.hit("component with a task");
            }
            self.line(&format!("component {name}: {};", members.join(", ")));
        }
    }
}
