//! What both doors keep of what was started.

pub(crate) mod clock;
pub(crate) mod running;
pub(crate) mod stop;
