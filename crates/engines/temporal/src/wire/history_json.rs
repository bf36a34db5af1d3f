//! Histories as JSON in the form that Temporal's own command and UI write, which the SDK does not read.

use prost::Message as _;
use prost_reflect::{
    DescriptorError, DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor,
};
use temporalio_common::protos::temporal::api::history::v1::History;

static DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// A history that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ExportError {
    #[error("this build does not know what a history is")]
    Descriptors(#[from] DescriptorError),
    #[error("it is no history as `temporal workflow show --output json` writes it")]
    Json(#[from] serde_json::Error),
    #[error("its events cannot be read")]
    Events(#[from] prost::DecodeError),
}

pub(crate) fn from_json(json: &[u8]) -> Result<History, ExportError> {
    // A newer server may have written fields that this build does not use.
    let options = DeserializeOptions::new().deny_unknown_fields(false);
    let mut text = serde_json::Deserializer::from_slice(json);
    let message = DynamicMessage::deserialize_with_options(described()?, &mut text, &options)?;
    text.end()?;
    Ok(History::decode(message.encode_to_vec().as_slice())?)
}

pub(crate) fn to_json(history: &History) -> Result<String, ExportError> {
    let mut message = DynamicMessage::new(described()?);
    message.merge(history.encode_to_vec().as_slice())?;
    Ok(serde_json::to_string(&message)?)
}

fn described() -> Result<MessageDescriptor, ExportError> {
    let name = "temporal.api.history.v1.History";
    let pool = DescriptorPool::decode(DESCRIPTORS)?;
    pool.get_message_by_name(name)
        .ok_or_else(|| serde::de::Error::custom(format!("{name} is not described")))
        .map_err(ExportError::Json)
}
