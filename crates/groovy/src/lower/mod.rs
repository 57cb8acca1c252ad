//! From an app to functions of the machine.
//!
//! [`Lowering`] compiles methods and closures of apps into functions of one
//! [`Program`](anyorder_program::Program). An app is a [`Unit`]: its tree and its text. Everything
//! outside of the script is resolved by a [`Platform`]: names that the script does not define, and
//! what its own values (devices, events) have. A platform emits code by a [`Code`].
//!
//! **Values.** Groovy's values are these values of the machine ([`Kinds`]):
//!
//! | Groovy | machine |
//! |---|---|
//! | `null`, booleans, strings | the same |
//! | `int` | an int, which wraps at 32 bits |
//! | `long`, `BigInteger`, `BigDecimal`, `double`, `float` | variants of `Kinds::number` |
//! | lists, maps | objects: they are shared by all who hold them |
//! | ranges, entries, closures, exceptions, classes | records |
//! | anything of the platform | what the platform likes: its own records, enums, indices |
//!
//! Lists and maps are objects only while code runs. [`Lowering::freeze`] gives the function that
//! turns a value into one without objects (for globals and messages), [`Lowering::thaw`] the way
//! back.
//!
//! **Exceptions.** Each function returns its result or a value of `Kinds::outcome`: `Thrown` with
//! an exception, or `Gap` with a text: a place that is not understood was reached. Code that calls
//! a function by [`Code::call`] passes both on. A `Gap` is never caught: it reaches the platform,
//! which must not call the run complete.
//!
//! **Not understood.** What cannot be compiled is a [`Gap`], recorded in [`Lowering::gaps`]. The
//! code in its place returns `Gap`, or goes on with any of the values that [`Platform::unknown`]
//! gives.

mod assign;
mod body;
mod call;
mod cast;
mod closure;
mod code;
mod dispatch;
mod expr;
mod kinds;
mod lowering;
mod methods;
mod names;
mod native;
mod platform;
mod prelude;
mod stmt;
mod unit;

pub use code::Code;
pub use kinds::Kinds;
pub use lowering::Lowering;
use lowering::Wanted;
pub use platform::{Argument, Call, NoPlatform, Platform};
pub use unit::{Gap, Unit, UnitId};
