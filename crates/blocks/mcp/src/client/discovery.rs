//! Which tools a server has.

use std::sync::Arc;

use futures::FutureExt as _;
use neuron_types::{ToolDefinition, ToolDyn};
use rmcp::model::{ClientRequest, ServerResult};
use tracing::warn;

use crate::{
    LeftOut, McpClient, McpError, McpTool, PaginatedList,
    client::{listed::Listed, mcp_client::page},
    wire::definition,
};

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
    /// Returns one page of the tools, under the server's own names. `cursor` is the [`PaginatedList::next_cursor`] of
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

    /// Returns all tools that can be used, ready for a registry.
    ///
    /// # Errors
    ///
    /// As [`McpClient::discover`].
    pub async fn discover_tools(&self) -> Result<Vec<Arc<dyn ToolDyn>>, McpError> {
        let found = self.discover(None).await?;
        let tools = found.tools.into_iter();
        Ok(tools.map(|tool| tool as Arc<dyn ToolDyn>).collect())
    }

    /// Returns all tools, those that cannot be used apart. With a prefix, their names are `PREFIX__NAME`; in any case
    /// names become such as providers take: letters, digits, `_` and `-`, at most 64 of them.
    ///
    /// Of a list that has more than 1,000 tools, more than 100 pages or more than 16 MiB the first tools are kept. Of a
    /// list that leads back to a page that was read, or breaks off with an error, what there was until then is kept.
    /// [`Discovered::left_out`] reports both.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn discover(&self, prefix: Option<&str>) -> Result<Discovered, McpError> {
        let listed = Listed::read("tools", |cursor| {
            async move { self.tools_page(cursor.as_deref()).await }.boxed()
        });
        let listed = self.reported(listed.await?);
        let mut found = self.bridge(prefix, listed.items);
        found.left_out.extend(listed.left_out);
        found.left_out.extend(listed.cut_off);
        Ok(found)
    }

    /// Logs where a list is cut off.
    pub(crate) fn reported<T>(&self, listed: Listed<T>) -> Listed<T> {
        if let Some(LeftOut { name, reason }) = &listed.cut_off {
            warn!(
                server = self.name(),
                name, reason, "a list of an MCP server is cut off"
            );
        }
        listed
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
