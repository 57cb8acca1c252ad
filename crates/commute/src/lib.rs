//! Which operations on shared data may change places without a difference.
//!
//! This crate knows kinds of operations and when two of them commute; it knows no traces and no engines. Its first part are
//! [`Update`]s of a single location, such as adding to a counter, and [`Declarations`] by which a user says that accesses to some
//! locations are such updates.
//!
//! ```
//! use anyorder_commute::{Declarations, Update};
//! let declared: Declarations = "hits:add, seen*:insert".parse()?;
//! assert_eq!(declared.update_of("hits"), Some(Update::Add));
//! assert_eq!(declared.update_of("seen.users"), Some(Update::Insert));
//! assert_eq!(declared.update_of("title"), None);
//! assert!(Update::Add.commutes_with(Update::Add));
//! assert!(!Update::Add.commutes_with(Update::Max));
//! # Ok::<(), anyorder_commute::DeclarationError>(())
//! ```

pub use declarations::{Declaration, DeclarationError, Declarations};
pub use update::Update;

mod update;

mod declarations;
