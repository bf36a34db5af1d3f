//! Access to files below one directory.

pub(crate) mod blocking;
pub(crate) mod error;
pub(crate) mod excerpt;
pub(crate) mod line_ends;
pub(crate) mod open;
pub(crate) mod replace;
pub(crate) mod root;
pub(crate) mod seen;
pub(crate) mod walk;
