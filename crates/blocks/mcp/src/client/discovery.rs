//! Which tools a server has.

use std::sync::Arc;

use neuron_types::{ToolDefinition, ToolDyn};
use rmcp::model::{ClientRequest, ServerResult};
use tracing::warn;

use crate::{
    LeftOut, McpClient, McpError, McpTool, PaginatedList, client::mcp_client::page,
    wire::definition,
};

/// How many pages of a list are read.
const MAX_PAGES: usize = 100;
/// How many tools of one server are read.
const MAX_TOOLS: usize = 1000;
/// How many bytes they may have together, as JSON.
const MAX_LIST_BYTES: usize = 16 * 1024 * 1024;

/// What [`McpClient::discover`] found.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Discovered {
    /// The tools, in the server's order.
    pub tools: Vec<Arc<McpTool>>,
    /// What the server lists besides.
    pub left_out: Vec<LeftOut>,
}

impl McpClient {
    /// One page of the tools, under the server's own names. `cursor` is the [`PaginatedList::next_cursor`] of
    /// the page before.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn list_tools(
        &self,
        cursor: Option<&str>,
    ) -> Result<PaginatedList<ToolDefinition>, McpError> {
        let page = self.tools_page(cursor).await?;
        Ok(PaginatedList {
            items: page.items.into_iter().map(definition::from_wire).collect(),
            next_cursor: page.next_cursor,
            left_out: page.left_out,
        })
    }

    async fn tools_page(
        &self,
        cursor: Option<&str>,
    ) -> Result<PaginatedList<rmcp::model::Tool>, McpError> {
        let request = ClientRequest::ListToolsRequest(page(cursor));
        match self.ask(request, &self.briefly()).await? {
            ServerResult::ListToolsResult(page) => Ok(PaginatedList {
                items: page.tools,
                next_cursor: self.further(page.next_cursor, cursor).await?,
                left_out: self.left_out(page.meta.as_ref()),
            }),
            _ => Err(self.nonsense("its answer is no list of tools")),
        }
    }

    /// All tools that can be used, ready for a registry.
    ///
    /// # Errors
    ///
    /// As [`McpClient::discover`].
    pub async fn discover_tools(&self) -> Result<Vec<Arc<dyn ToolDyn>>, McpError> {
        let found = self.discover(None).await?;
        let tools = found.tools.into_iter();
        Ok(tools.map(|tool| tool as Arc<dyn ToolDyn>).collect())
    }

    /// All tools, those that cannot be used apart. With a prefix, their names are `PREFIX__NAME`; in any case
    /// names become such as providers take: letters, digits, `_` and `-`, at most 64 of them.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`], and [`McpError::Protocol`] for a list that has more than 1,000 tools, more than 100
    /// pages or more than 16 MiB.
    pub async fn discover(&self, prefix: Option<&str>) -> Result<Discovered, McpError> {
        let mut tools = Vec::new();
        let mut left_out = Vec::new();
        let mut last_page = Vec::new();
        let mut size = 0_usize;
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = self.tools_page(cursor.as_deref()).await?;
            size = size.saturating_add(size_of_items(&page.items));
            if size > MAX_LIST_BYTES {
                let reason = format!("its list of tools has more than {MAX_LIST_BYTES} bytes");
                return Err(self.nonsense(&reason));
            }
            // A server that means the end by an empty cursor may answer it with the same page.
            if cursor.as_deref() != Some("") || page.items != last_page {
                last_page.clone_from(&page.items);
                tools.extend(page.items);
                left_out.extend(page.left_out);
            }
            if tools.len() > MAX_TOOLS {
                return Err(self.nonsense(&format!("it lists more than {MAX_TOOLS} tools")));
            }
            let Some(next) = page.next_cursor else {
                let mut found = self.bridge(prefix, tools);
                found.left_out.extend(left_out);
                return Ok(found);
            };
            if cursor.as_ref() == Some(&next) {
                return Err(self.nonsense("its list of tools has a page that leads to itself"));
            }
            cursor = Some(next);
        }
        Err(self.nonsense(&format!(
            "its list of tools has more than {MAX_PAGES} pages"
        )))
    }

    fn bridge(&self, prefix: Option<&str>, tools: Vec<rmcp::model::Tool>) -> Discovered {
        let sorted = definition::sort(prefix, tools);
        for LeftOut { name, reason } in &sorted.left_out {
            warn!(
                server = self.name(),
                tool = name,
                reason,
                "an MCP tool is left out"
            );
        }
        let usable = sorted.usable.into_iter();
        Discovered {
            tools: usable
                .map(|(own, definition)| Arc::new(McpTool::new(self.clone(), own, definition)))
                .collect(),
            left_out: sorted.left_out,
        }
    }
}

fn size_of_items(items: &[rmcp::model::Tool]) -> usize {
    serde_json::to_vec(items).map_or(usize::MAX, |json| json.len())
}
