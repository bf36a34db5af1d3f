//! What both doors keep of what was started.

pub(crate) mod ends;
pub(crate) mod in_flight;
pub(crate) mod stop;
