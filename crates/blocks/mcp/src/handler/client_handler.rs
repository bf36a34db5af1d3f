//! What servers may ask of this side: a model's answer, a person's answer, the folders to work in.

use std::{path::Path, sync::Arc};

use neuron_types::{
    CompletionRequest, CompletionResponse, WasmBoxedFuture, WasmCompatSend, WasmCompatSync,
};
use serde_json::{Map, Value};

use crate::McpError;

/// Answers what servers ask of their client.
///
/// Every method has a default that offers nothing, and a server learns at the start what is offered. A server may ask
/// for a model's or a person's answer only while it works on a request of this side, a tool call for example, and at
/// most 20 times for each. The answer ends with that work: it is dropped when nothing is under way any more. However
/// long an answer takes, the tool's own timeout has to be longer.
///
/// A server that speaks the version of 2026-07-28 asks the person otherwise: its call comes back as a form, to be
/// made again with the answers (see `McpClient::call_tool_in`). The handler is asked for the person only where no
/// tool is called.
///
/// # Examples
///
/// A person who always agrees:
///
/// ```
/// use neuron_mcp::{ElicitationAnswer, ElicitationRequest, McpClientHandler, McpError};
/// use neuron_types::WasmBoxedFuture;
/// use serde_json::Map;
///
/// struct Agreeable;
///
/// impl McpClientHandler for Agreeable {
///     fn offers_elicitation(&self) -> bool {
///         true
///     }
///
///     fn handle_elicitation_request(
///         &self,
///         request: ElicitationRequest,
///     ) -> WasmBoxedFuture<'_, Result<ElicitationAnswer, McpError>> {
///         println!("{}", request.message);
///         Box::pin(async { Ok(ElicitationAnswer::Accept(Map::new())) })
///     }
/// }
/// ```
pub trait McpClientHandler: WasmCompatSend + WasmCompatSync {
    /// Returns whether servers may ask for a model's answer. Default is false.
    fn offers_sampling(&self) -> bool {
        false
    }

    /// Answers a server that wants a model's answer: show the request to a person first, as it may hold anything.
    /// Dropped when the server takes its request back.
    ///
    /// # Errors
    ///
    /// What the server is to be sent as an error. Default is [`McpError::NotOffered`].
    fn handle_sampling_request(
        &self,
        request: SamplingRequest,
    ) -> WasmBoxedFuture<'_, Result<CompletionResponse, McpError>> {
        drop(request);
        Box::pin(async { Err(McpError::NotOffered("sampling")) })
    }

    /// Returns whether servers may ask a person. Default is false.
    fn offers_elicitation(&self) -> bool {
        false
    }

    /// Answers a server that wants to know something of the person. Dropped when the server takes its request back.
    ///
    /// # Errors
    ///
    /// What the server is to be sent as an error. Default is [`McpError::NotOffered`].
    fn handle_elicitation_request(
        &self,
        request: ElicitationRequest,
    ) -> WasmBoxedFuture<'_, Result<ElicitationAnswer, McpError>> {
        drop(request);
        Box::pin(async { Err(McpError::NotOffered("elicitation")) })
    }

    /// Returns the folders that servers may work in. Default is no folders, and then servers do not learn that there
    /// could be some.
    fn roots(&self) -> Vec<McpRoot> {
        Vec::new()
    }
}

/// Offers nothing.
impl McpClientHandler for () {}

/// Offers these folders and nothing else.
impl McpClientHandler for Vec<McpRoot> {
    fn roots(&self) -> Vec<McpRoot> {
        self.clone()
    }
}

impl<T: McpClientHandler + ?Sized> McpClientHandler for Arc<T> {
    fn offers_sampling(&self) -> bool {
        (**self).offers_sampling()
    }

    fn handle_sampling_request(
        &self,
        request: SamplingRequest,
    ) -> WasmBoxedFuture<'_, Result<CompletionResponse, McpError>> {
        (**self).handle_sampling_request(request)
    }

    fn offers_elicitation(&self) -> bool {
        (**self).offers_elicitation()
    }

    fn handle_elicitation_request(
        &self,
        request: ElicitationRequest,
    ) -> WasmBoxedFuture<'_, Result<ElicitationAnswer, McpError>> {
        (**self).handle_elicitation_request(request)
    }

    fn roots(&self) -> Vec<McpRoot> {
        (**self).roots()
    }
}

/// What a server wants to ask a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SamplingRequest {
    /// The server.
    pub server: String,
    /// The request, without a provider and a model: which one answers is this side's choice.
    pub request: CompletionRequest,
    /// Models that the server would like, the best first; parts of names.
    pub model_hints: Vec<String>,
}

/// What a server wants to ask a person.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ElicitationRequest {
    /// The server.
    pub server: String,
    /// What is asked. A stranger's words.
    pub message: String,
    /// What is wanted.
    pub form: ElicitationForm,
}

/// What is wanted of a person.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitationForm {
    /// A flat object that fits this JSON Schema.
    Fields(Value),
    /// A visit to this address, where the person answers without this side seeing it.
    Visit(String),
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitationAnswer {
    /// The person agrees, with the fields that were asked for.
    Accept(Map<String, Value>),
    /// The person says no.
    Decline,
    /// The person does not answer.
    Cancel,
}

/// A folder that servers may work in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpRoot {
    /// Its `file://` address.
    pub uri: String,
    /// A name for people.
    pub name: Option<String>,
}

impl McpRoot {
    /// Names a folder of this machine, by its absolute path.
    #[must_use]
    pub fn folder(path: &Path) -> Self {
        use std::fmt::Write as _;
        use std::os::unix::ffi::OsStrExt as _;

        let mut uri = String::from("file://");
        for byte in path.as_os_str().as_bytes() {
            match byte {
                b'/' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                    uri.push(char::from(*byte));
                }
                // Writing to a String cannot fail.
                byte => drop(write!(uri, "%{byte:02X}")),
            }
        }
        let name = path.file_name();
        Self {
            uri,
            name: name.map(|name| name.to_string_lossy().into_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_folder_is_escaped() {
        let root = McpRoot::folder(Path::new("/home/ä b/x"));
        assert_eq!(root.uri, "file:///home/%C3%A4%20b/x");
        assert_eq!(root.name.as_deref(), Some("x"));
    }
}
