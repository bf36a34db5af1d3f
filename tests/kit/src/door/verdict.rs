//! The verdict of a case about a door.

/// `Err` with what the door did instead of what it must do.
pub type Verdict = Result<(), String>;

/// Ends a case with what it found, unless the condition is true.
macro_rules! check {
    ($condition:expr, $($seen:tt)+) => {
        if !$condition {
            return Err(format!("{}: {}", stringify!($condition), format!($($seen)+)));
        }
    };
}

pub(super) use check;
