//! What model calls cost.

pub(crate) mod list;
pub(crate) mod model_price;
pub(crate) mod table;
