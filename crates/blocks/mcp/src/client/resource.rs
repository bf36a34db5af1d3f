//! What a server lets others read: its resources and prompts.

use futures::FutureExt as _;
use neuron_types::{Message, Role};
use rmcp::model::{
    self as wire, ClientRequest, GetPromptRequestParams, ReadResourceRequestParams, Request,
    ServerResult,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    McpClient, McpError, PaginatedList,
    client::{listed::Listed, mcp_client::page, rounds::Rounds},
    wire::content,
};

/// Something that a server lets others read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct McpResource {
    /// Its address, which need not be one of the web.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// For example `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A pattern of addresses of resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct McpResourceTemplate {
    /// The pattern, as in RFC 6570.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the resources are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// For example `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// A part of what a resource holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResourceContent {
    /// Its own address.
    pub uri: String,
    /// For example `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// What it holds.
    #[serde(flatten)]
    pub data: ResourceData,
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceData {
    /// A text.
    Text(String),
    /// Bytes, in standard base64.
    Blob(String),
}

/// A prompt that a server has ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct McpPrompt {
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is filled in with.
    pub arguments: Vec<McpPromptArgument>,
}

/// Something that a prompt is filled in with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct McpPromptArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be there.
    pub required: bool,
}

/// A prompt, filled in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptResult {
    /// What it is for.
    pub description: Option<String>,
    /// The conversation to begin with.
    pub messages: Vec<Message>,
}

impl McpClient {
    /// Returns one page of the resources.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn list_resources(
        &self,
        cursor: Option<&str>,
    ) -> Result<PaginatedList<McpResource>, McpError> {
        let request = ClientRequest::ListResourcesRequest(page(cursor));
        match self.ask(request, &self.briefly()).await? {
            ServerResult::ListResourcesResult(page) => Ok(PaginatedList {
                items: page.resources.into_iter().map(Into::into).collect(),
                next_cursor: self.further(page.next_cursor, cursor).await?,
                left_out: self.left_out(page.meta.as_ref()),
            }),
            _ => Err(self.nonsense("its answer is no list of resources")),
        }
    }

    /// Returns all resources. Of a list that does not end, or breaks off after its first page, what came is kept, as
    /// [`McpClient::discover`] does: [`PaginatedList::left_out`] names the rest.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn all_resources(&self) -> Result<PaginatedList<McpResource>, McpError> {
        let listed = Listed::read("resources", |cursor| {
            async move { self.list_resources(cursor.as_deref()).await }.boxed()
        });
        Ok(self.whole(listed.await?))
    }

    /// Returns one page of the patterns that further resources' addresses have.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn list_resource_templates(
        &self,
        cursor: Option<&str>,
    ) -> Result<PaginatedList<McpResourceTemplate>, McpError> {
        let request = ClientRequest::ListResourceTemplatesRequest(page(cursor));
        match self.ask(request, &self.briefly()).await? {
            ServerResult::ListResourceTemplatesResult(page) => Ok(PaginatedList {
                items: page
                    .resource_templates
                    .into_iter()
                    .map(Into::into)
                    .collect(),
                next_cursor: self.further(page.next_cursor, cursor).await?,
                left_out: self.left_out(page.meta.as_ref()),
            }),
            _ => Err(self.nonsense("its answer is no list of resource templates")),
        }
    }

    /// Returns all patterns that further resources' addresses have. Of a list that does not end, or breaks off after
    /// its first page, what came is kept, as [`McpClient::discover`] does: [`PaginatedList::left_out`] names the rest.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn all_resource_templates(
        &self,
    ) -> Result<PaginatedList<McpResourceTemplate>, McpError> {
        let listed = Listed::read("resource templates", |cursor| {
            async move { self.list_resource_templates(cursor.as_deref()).await }.boxed()
        });
        Ok(self.whole(listed.await?))
    }

    /// Returns what a resource holds.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn read_resource(&self, uri: &str) -> Result<Vec<ResourceContent>, McpError> {
        let params = ReadResourceRequestParams::new(uri);
        let request = ClientRequest::ReadResourceRequest(Request::new(params));
        match self.ask_in_rounds(request).await? {
            ServerResult::ReadResourceResult(result) => {
                Ok(result.contents.into_iter().map(Into::into).collect())
            }
            _ => Err(self.nonsense("its answer is no resource")),
        }
    }

    /// Returns one page of the prompts.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn list_prompts(
        &self,
        cursor: Option<&str>,
    ) -> Result<PaginatedList<McpPrompt>, McpError> {
        let request = ClientRequest::ListPromptsRequest(page(cursor));
        match self.ask(request, &self.briefly()).await? {
            ServerResult::ListPromptsResult(page) => Ok(PaginatedList {
                items: page.prompts.into_iter().map(Into::into).collect(),
                next_cursor: self.further(page.next_cursor, cursor).await?,
                left_out: self.left_out(page.meta.as_ref()),
            }),
            _ => Err(self.nonsense("its answer is no list of prompts")),
        }
    }

    /// Returns all prompts. Of a list that does not end, or breaks off after its first page, what came is kept, as
    /// [`McpClient::discover`] does: [`PaginatedList::left_out`] names the rest.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn all_prompts(&self) -> Result<PaginatedList<McpPrompt>, McpError> {
        let listed = Listed::read("prompts", |cursor| {
            async move { self.list_prompts(cursor.as_deref()).await }.boxed()
        });
        Ok(self.whole(listed.await?))
    }

    /// Returns a prompt, filled in.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn get_prompt(
        &self,
        name: &str,
        args: impl IntoIterator<Item = (String, String)>,
    ) -> Result<PromptResult, McpError> {
        let arguments: Map<String, Value> = args
            .into_iter()
            .map(|(name, value)| (name, Value::String(value)))
            .collect();
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let request = ClientRequest::GetPromptRequest(Request::new(params));
        match self.ask_in_rounds(request).await? {
            ServerResult::GetPromptResult(result) => Ok(result.into()),
            _ => Err(self.nonsense("its answer is no prompt")),
        }
    }

    fn whole<T>(&self, listed: Listed<T>) -> PaginatedList<T> {
        let listed = self.reported(listed);
        let mut left_out = listed.left_out;
        left_out.extend(listed.cut_off);
        PaginatedList {
            items: listed.items,
            next_cursor: None,
            left_out,
        }
    }

    async fn ask_in_rounds(&self, request: ClientRequest) -> Result<ServerResult, McpError> {
        let rounds = Rounds::new(request);
        rounds.go_to_the_end(self, &self.briefly()).await
    }
}

impl From<wire::Resource> for McpResource {
    fn from(it: wire::Resource) -> Self {
        Self {
            uri: it.uri,
            name: it.name,
            title: it.title,
            description: it.description,
            mime_type: it.mime_type,
            size: it.size,
        }
    }
}

impl From<wire::ResourceTemplate> for McpResourceTemplate {
    fn from(it: wire::ResourceTemplate) -> Self {
        Self {
            uri_template: it.uri_template,
            name: it.name,
            title: it.title,
            description: it.description,
            mime_type: it.mime_type,
        }
    }
}

impl From<wire::ResourceContents> for ResourceContent {
    fn from(it: wire::ResourceContents) -> Self {
        match it {
            wire::ResourceContents::TextResourceContents {
                uri,
                mime_type,
                text,
                ..
            } => Self {
                uri,
                mime_type,
                data: ResourceData::Text(text),
            },
            wire::ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => Self {
                uri,
                mime_type,
                data: ResourceData::Blob(blob),
            },
            other => {
                let json = serde_json::to_value(other).unwrap_or_default();
                Self {
                    uri: String::new(),
                    mime_type: None,
                    data: ResourceData::Text(json.to_string()),
                }
            }
        }
    }
}

impl From<wire::Prompt> for McpPrompt {
    fn from(it: wire::Prompt) -> Self {
        let arguments = it.arguments.unwrap_or_default().into_iter();
        Self {
            name: it.name,
            title: it.title,
            description: it.description,
            arguments: arguments
                .map(|argument| McpPromptArgument {
                    name: argument.name,
                    description: argument.description,
                    required: argument.required.unwrap_or_default(),
                })
                .collect(),
        }
    }
}

impl From<wire::GetPromptResult> for PromptResult {
    fn from(it: wire::GetPromptResult) -> Self {
        let message = |message: wire::PromptMessage| Message {
            role: match message.role {
                wire::Role::User => Role::User,
                wire::Role::Assistant => Role::Assistant,
            },
            content: vec![content::block(content::item(message.content))],
        };
        Self {
            description: it.description,
            messages: it.messages.into_iter().map(message).collect(),
        }
    }
}
