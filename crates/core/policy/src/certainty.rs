//! How certain it is that a rule is for a call.

/// How certain it is, before a call is made, that a [pattern](crate::CallPattern) is for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// The pattern is not for it.
    No,
    /// It cannot be known before the call is made, such as what a variable of the shell holds.
    Maybe,
    /// The pattern is for it.
    Yes,
}
