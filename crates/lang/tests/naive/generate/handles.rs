//! Handles: kept in variables, lists and records, sent along, compared, cancelled, joined,
//! overwritten.

use super::{Gen, Place, Ty};

impl Gen {
    /// A comparison of values with handles in them; also for guards.
    pub fn handle_bool(&mut self) -> String {
        let Some(p) = self.variable(Ty::Task) else { return self.leaf(Ty::Bool) };
        let (q, list) = (self.leaf(Ty::Task), self.variable(Ty::Tasks));
        let op = self.pick(&["==", "!="]);
        match (self.below(8), list, self.variable(Ty::Hold)) {
            (0 | 1, ..) if p != q => {
                self.hit("task handles compared");
                format!("({p} {op} {q})")
            }
            (2, ..) => {
                self.hit("lists of handles compared");
                format!("([{p}] {op} [{q}])")
            }
            (3, Some(list), _) => {
                self.hit("handle in list");
                let how = self.pick(&["L.contains(P)", "(P in L)", "(L.index_of(P) >= 0)"]);
                how.replace('L', &list).replace('P', &p)
            }
            (4, Some(list), _) => {
                self.hit("lists of handles compared");
                format!("({list} {op} [{p}, null])")
            }
            (5, _, Some(hold)) => {
                self.hit("records with handles compared");
                format!("({hold} {op} (Hold {{ p: {p}, n: 1 }}))")
            }
            (6, _, Some(hold)) => {
                self.hit("task handles compared");
                format!("({hold}.p {op} {p})")
            }
            (7, ..) => {
                self.hit("maps with handles compared");
                format!("(map[1: {p}] {op} map[1: {q}])")
            }
            _ => {
                self.hit("handle is null");
                format!("({p} {op} null)")
            }
        }
    }

    /// Something done with handles.
    pub fn handle_stmt(&mut self) {
        let own = |names: Vec<String>| names.into_iter().find(|name| name.starts_with('g'));
        let (Some(p), false) = (own(self.variables(Ty::Task)), self.place == Place::Pure) else {
            return self.assign();
        };
        let q = self.leaf(Ty::Task);
        let (list, hold) = (own(self.variables(Ty::Tasks)), own(self.variables(Ty::Hold)));
        match (self.below(12), list, hold) {
            (0 | 1, ..) if p != q => {
                self.hit("handle overwritten");
                self.line(&format!("{p} = {q};"));
            }
            (2, Some(list), _) => {
                self.hit("handle put into list");
                let how =
                    self.pick(&["L.push(P);", "L = [P, null];", "if L.len() < 3 { L.push(P); }"]);
                self.line(&how.replace('L', &list).replace('P', &p));
            }
            (3, Some(list), _) => {
                self.hit("handle taken from list");
                self.line(&format!("if {list}.len() > 0 {{ {p} = {list}[0]; {list}.pop(); }}"));
            }
            (4, _, Some(hold)) => {
                self.hit("handle put into record");
                let how = self.pick(&["@ = Hold { p: P, n: gi };", "@.p = P;", "@.p = null;"]);
                self.line(&how.replace('@', &hold).replace('P', &p));
            }
            (5, _, Some(hold)) => {
                self.hit("handle taken from record");
                self.line(&format!("{p} = {hold}.p;"));
            }
            (6, Some(list), _) if self.concurrent() => {
                self.hit("handles sent along");
                let to = self.pick(&["", "", " to bag", " to ws[1]"]);
                self.line(&format!("post t3({p}, {list}){to};"));
            }
            (7, ..) if self.may_block() => {
                self.hit("join of thread kept");
                match self.variable(Ty::Thread) {
                    Some(h) => self.line(&format!("if {h} != null {{ join {h}; }}")),
                    None => self.assign(),
                }
            }
            (8, _, Some(hold)) => {
                self.hit("cancel");
                self.line(&format!("cancel {hold}.p;"));
            }
            (9 | 10, ..) if self.concurrent() => {
                self.hit("assign handle");
                let to = self.pick(&["", " to bag", " to late after 1", " to ui"]);
                self.line(&format!("{p} = post t0(){to};"));
            }
            _ => {
                self.hit("cancel");
                self.line(&format!("cancel {p};"));
            }
        }
    }
}
