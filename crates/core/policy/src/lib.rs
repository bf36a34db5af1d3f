#![doc = include_str!("../README.md")]

mod argument_kind;
mod call_pattern;
mod certainty;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod glob;
mod judged_call;
mod path;
mod shell;

pub use argument_kind::ArgumentKind;
pub use call_pattern::CallPattern;
pub use certainty::Certainty;
pub use judged_call::JudgedCall;
