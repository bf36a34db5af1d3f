use crate::{KeepAlive, Think};

/// What is set for every request of a client.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) num_ctx: Option<u64>,
    pub(crate) keep_alive: Option<KeepAlive>,
    pub(crate) think: Option<Think>,
    pub(crate) check_models: bool,
}
