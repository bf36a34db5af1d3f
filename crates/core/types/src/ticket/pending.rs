//! Calls whose result comes later.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ContentItem;

/// What a call waits for that was made and has no result yet. A ticket is opened for it, and no step stays open meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pending {
    /// A result that another system delivers.
    External {
        /// SHA-256 of the token that it is delivered with, in hexadecimal.
        token_sha256: String,
        /// What people read about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// JSON Schema of the result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Value>,
    },
    /// What a person is to fill in. The call is made again with it.
    Form {
        /// What is asked.
        requests: Vec<FormRequest>,
        /// What the call is to be handed again, as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<Value>,
    },
    /// Guards found something in the result, which a person has to release.
    Withheld {
        /// What the model reads if a person releases it.
        content: Vec<ContentItem>,
        /// Whether it is an error.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        /// Whether the step of the call holds something else: it failed, or a judge has replaced its text.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_of_no_step: bool,
        /// Why.
        reason: String,
    },
}

/// One thing that a [form](Pending::Form) asks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FormRequest {
    /// The name of its answer.
    pub key: String,
    /// What the person reads.
    pub message: String,
    /// JSON Schema of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The page on which it is answered instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// What a call is made again with that asked a [form](Pending::Form).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resumed {
    /// The answers, by their names; none if the person declined.
    pub answers: BTreeMap<String, Value>,
    /// The person declined to answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declined: bool,
    /// What the call left behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}
