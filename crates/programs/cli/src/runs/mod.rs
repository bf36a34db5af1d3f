//! Starting, executing, following and showing runs.

pub(crate) mod below;
pub(crate) mod by;
pub(crate) mod changes;
pub(crate) mod execution;
pub(crate) mod filter;
pub(crate) mod follow;
pub(crate) mod hold_ups;
pub(crate) mod input;
pub(crate) mod order;
pub(crate) mod outcome;
pub(crate) mod place;
pub(crate) mod served;
pub(crate) mod signals;
pub(crate) mod stored;
pub(crate) mod sum;
pub(crate) mod table;
pub(crate) mod target;
pub(crate) mod tickets;
pub(crate) mod tree;
pub(crate) mod tree_events;
pub(crate) mod tree_picture;
pub(crate) mod worker_source;
