//! Decides the satisfiability of clauses together with a theory.
//!
//! **Problem.** Input: clauses over Boolean variables, assumptions (literals that must hold in this
//! call), and a theory that accepts or rejects assignments. Output: an assignment that satisfies
//! all of them, or a set of assumptions that cannot hold together.
//!
//! **Source.** Conflict-driven clause learning as in J. P. Marques-Silva, K. A. Sakallah, *GRASP*,
//! IEEE Trans. Computers 48(5), 1999; watched literals and activities as in M. Moskewicz et al.,
//! *Chaff*, DAC 2001; assumptions and minimisation of clauses as in N. Eén, N. Sörensson, *An
//! Extensible SAT-solver*, SAT 2003, and N. Sörensson, A. Biere, *Minimizing Learned Clauses*, SAT
//! 2009; the count of levels of a clause ("glue") as in G. Audemard, L. Simon, *Predicting Learnt
//! Clauses Quality in Modern SAT Solvers*, IJCAI 2009; the theory hook as in R. Nieuwenhuis, A.
//! Oliveras, C. Tinelli, *Solving SAT and SAT Modulo Theories*, J. ACM 53(6), 2006.
//!
//! **Guarantee.** [`Answer::Sat`] and [`Answer::Unsat`] are never wrong as long as the theory keeps
//! its contract ([`Theory`]); a limit ends in [`Answer::Unknown`]. The same calls give the same
//! answers, models, cores and proofs. With [`Core::log_proof`], every answer "unsatisfiable" comes
//! with a [`ProofLog`] that a checker of a few lines can follow.
//!
//! **Worked example.** Two clauses refuted under an assumption:
//!
//! ```
//! use anyorder_order::sat::{Answer, Limits, Core, Lit, NoTheory};
//! let mut core = Core::new();
//! let a = Lit::new(core.new_var(false), true);
//! let b = Lit::new(core.new_var(false), true);
//! core.add_clause(&[a, b]);
//! core.add_clause(&[!a, b]);
//! assert_eq!(core.solve(&[], &mut NoTheory, &mut Limits::default()), Answer::Sat);
//! assert!(core.model(b));
//! let refuted = core.solve(&[!b], &mut NoTheory, &mut Limits::default());
//! assert_eq!(refuted, Answer::Unsat { core: vec![!b] });
//! ```
//!
//! **Cost.** Exponential in the worst case. In practice unit propagation dominates, and cache
//! misses dominate unit propagation.

pub use core::Core;
pub use limits::{Answer, Cause, Limits, SatStats};
pub use lit::{Lit, Var};
pub use proof::{ClauseStep, ProofLog};
pub use theory::{NoTheory, Output, Theory};
pub use values::{Value, Values};

mod analysis;
mod arena;
mod core;
mod lemmas;
mod limits;
mod lit;
mod minimise;
mod proof;
mod reduce;
mod restarts;
mod search;
mod theory;
mod values;
mod vsids;
mod walk;
mod watches;
