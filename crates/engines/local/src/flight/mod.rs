//! What both doors keep of the steps and timers that were started.

pub(crate) mod clock;
pub(crate) mod running;
pub(crate) mod stop;
