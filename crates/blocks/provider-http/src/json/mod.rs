//! The JSON of requests and answers.

pub(crate) mod body;
pub(crate) mod count;
pub(crate) mod extra;
pub(crate) mod lenient;
pub(crate) mod schema;
pub(crate) mod text;
