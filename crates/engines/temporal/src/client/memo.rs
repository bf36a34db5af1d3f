//! Whose a run is, beside its history: lists bring it without a question to a worker.

use neuron_types::RunTags;
use temporalio_common::{MemoValues, protos::temporal::api::common::v1::Memo};

/// The name under which it stands among the values of the run.
const NAME: &str = "neuron";

/// Returns what a run is started with.
pub(super) fn of(tags: &RunTags) -> Option<MemoValues> {
    if tags.is_empty() {
        return None;
    }
    let mut memo = MemoValues::new();
    memo.insert(NAME, tags.clone());
    Some(memo)
}

/// Returns what a list says of a run, if it says anything: a run that somebody else started says nothing.
pub(super) fn read(memo: Option<&Memo>) -> Option<RunTags> {
    let payload = memo?.fields.get(NAME)?;
    serde_json::from_slice(&payload.data).ok()
}
