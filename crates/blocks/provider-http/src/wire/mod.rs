//! What all wires have in common.

pub(crate) mod calls;
pub(crate) mod ends;
pub(crate) mod ids;
pub(crate) mod once;
pub(crate) mod overflow;
pub(crate) mod shape;
pub(crate) mod speaks;
pub(crate) mod tools;
