//! The stable codes of all messages, each declared once.

use super::Severity;

/// The code of a message: `E` for errors, `W` for warnings, and three digits. A code never changes
/// its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Code(&'static str);

impl Code {
    /// Returns the code as printed, e.g. `E001`.
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// Returns whether the code is an error or a warning.
    pub fn severity(self) -> Severity {
        if self.0.starts_with('W') { Severity::Warning } else { Severity::Error }
    }
}

macro_rules! codes {
    ($($name:ident $text:literal $title:literal;)*) => {
        impl Code {
            $(#[doc = concat!("`", $text, "`: ", $title, ".")] pub const $name: Code = Code($text);)*
        }

        /// Every code, in order.
        pub const CODES: &[Code] = &[$(Code::$name),*];
    };
}

codes! {
    CHARACTER "E001" "a character that has no meaning here";
    UNTERMINATED "E002" "a string or comment that does not end";
    ESCAPE "E003" "an unknown escape in a string";
    NUMBER "E004" "a number that does not fit into 64 bits or is not well-formed";
    TOO_LARGE "E005" "a file or a nesting beyond the limits";
    EXPECTED "E006" "another word or sign was expected";
    HEADER "E007" "the file does not begin with `model NAME`";
    MISSING_SEMICOLON "E008" "a `;` is missing";
    UNCLOSED "E009" "a bracket or brace that is not closed";
    RESERVED "E010" "a reserved word used as a name";
    CHAIN "E011" "comparisons in a row";
    MODIFIER "E012" "a modifier that does not belong to this declaration";
    PLACE "E013" "an assignment to something that is not a place";
    NOT_A_STATEMENT "E014" "an expression without effect as a statement";
    ACTION_PLACE "E015" "`post`, `fork` or `choose` inside an expression";
    BRANCH_VALUE "E016" "an `if` or `match` expression with a branch that has no value";
    UNKNOWN_NAME "E020" "an unknown name";
    DUPLICATE "E021" "a name declared twice";
    UNKNOWN_TYPE "E022" "an unknown type";
    UNKNOWN_MEMBER "E023" "an unknown field, method or variant";
    WRONG_KIND "E024" "a name of the wrong kind";
    RECURSIVE_RECORD "E025" "a record that contains itself, or constants that need each other";
    TYPE_MISMATCH "E030" "a value of the wrong type";
    ARGUMENT_COUNT "E031" "the wrong number of arguments or values";
    OPERAND "E032" "an operator that the type of its operand does not have";
    NOT_CALLABLE "E033" "a call of something that is not a function";
    NEED_TYPE "E034" "a declaration whose type cannot be told";
    MISSING_FIELD "E035" "a record without one of its fields, or with one twice";
    NO_RETURN_VALUE "E036" "a function that ends without the value it promises";
    ASSIGN_CONSTANT "E037" "an assignment to something that does not change";
    RECEIVER "E038" "a changing method on something that is not a place";
    CONSTANT "E039" "a constant expression is needed, or fails";
    INDEX_NEEDED "E040" "an array without index, or an index on a single thing";
    OUT_OF_RANGE "E041" "a constant index outside the array";
    CONTEXT "E042" "a statement that is not allowed here";
    NULLABLE "E043" "a value that may be null where it must not be";
    PURE "E044" "a change of state in a guard or property";
    SETTING "E045" "an unknown setting or value";
    SPEC "E046" "a wrong commutativity specification";
    DRIVER "E047" "a wrong driver or order of events";
    NO_HANDLER "E048" "a post without a handler";
    COMPONENT "E049" "a wrong component";
    SYMMETRY "E060" "a use that tells the values of an index type apart";
    UNUSED "W001" "something declared and never used";
    UNREACHABLE "W002" "code that is never reached";
    NOT_EXHAUSTIVE "W003" "a `match` that does not cover all values";
    DEAD_ARM "W004" "an arm of a `match` that is never reached";
    NOTHING_TO_DO "W005" "a model in which nothing can happen";
    NEVER_NULL "W006" "a comparison with `null` of something that is never null";
}
