use std::collections::HashSet;

use neuron_types::ContentBlock;

use crate::{ApiFailure, MAX_CALLS, wire::calls::too_many_calls};

/// The calls that an answer holds so far.
///
/// Servers send a call twice: with the same id, name and arguments it is one. With an id of its own it is another.
#[derive(Debug, Default)]
pub struct Once(HashSet<(String, String, String)>);

impl Once {
    /// Returns whether a block has its place in the answer: it is no call that is there already.
    ///
    /// # Errors
    ///
    /// There are more calls than [`MAX_CALLS`].
    pub fn admits(&mut self, block: &ContentBlock) -> Result<bool, ApiFailure> {
        let ContentBlock::ToolUse {
            id, name, input, ..
        } = block
        else {
            return Ok(true);
        };
        let is_new = self.0.insert((id.clone(), name.clone(), input.to_string()));
        match self.0.len() > MAX_CALLS {
            true => Err(too_many_calls()),
            false => Ok(is_new),
        }
    }
}

/// Leaves calls out that are there already.
///
/// # Errors
///
/// There are more calls than [`MAX_CALLS`].
pub fn calls_once(content: Vec<ContentBlock>) -> Result<Vec<ContentBlock>, ApiFailure> {
    let mut once = Once::default();
    let mut admitted = Vec::with_capacity(content.len());
    for block in content {
        if once.admits(&block)? {
            admitted.push(block);
        }
    }
    Ok(admitted)
}
