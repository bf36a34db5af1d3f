//! The tags of a run in its memo, outside of its history: lists contain it without a query to a worker.

use neuron_types::RunTags;
use temporalio_common::{MemoValues, protos::temporal::api::common::v1::Memo};

/// The name of the tags in the memo.
const NAME: &str = "neuron";

/// Returns the memo that a run is started with.
pub(super) fn of(tags: &RunTags) -> Option<MemoValues> {
    if tags.is_empty() {
        return None;
    }
    let mut memo = MemoValues::new();
    memo.insert(NAME, tags.clone());
    Some(memo)
}

/// Returns the tags in a run's memo. A run that another kind of client started has no tags there.
pub(super) fn read(memo: Option<&Memo>) -> Option<RunTags> {
    let payload = memo?.fields.get(NAME)?;
    serde_json::from_slice(&payload.data).ok()
}
