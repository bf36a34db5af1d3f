//! What a case says of a door.

/// `Err` with what the door did instead of what it has to do.
pub type Verdict = Result<(), String>;

/// Ends a case with what it came upon, unless the condition holds.
macro_rules! check {
    ($condition:expr, $($seen:tt)+) => {
        if !$condition {
            return Err(format!("{}: {}", stringify!($condition), format!($($seen)+)));
        }
    };
}

pub(super) use check;
