//! The tool with which a model finds other tools.

use serde::Deserialize;
use serde_json::json;

use crate::{
    ToolAnnotations, ToolDefinition, ToolOutput, json_bytes,
    tool::{listing::listing, ranking},
};

/// The name of the tool with which a model finds other tools, where it is [not sent all](crate::ToolSearch). An executor
/// answers it, by the definitions of the agent: it is registered nowhere.
pub const FIND_TOOLS: &str = "find_tools";

/// How many tools are loaded at once, where the model does not say it.
const FEW: usize = 5;

/// How many tools are loaded at once at most.
const MOST: usize = 8;

/// How many names are shown where nothing is found.
const NEAREST: usize = 5;

/// How many bytes of a query are looked at: whatever a model writes, the search takes no time worth mentioning.
const LONGEST: usize = 1_000;

/// How many characters of a description are shown.
const SUMMARY: usize = 120;

/// The arguments of [`FIND_TOOLS`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct FindTools {
    /// What the tools are for, in words, or their names. The first 1,000 bytes count.
    pub query: String,
    /// The server whose tools are looked at; all are where `None`.
    #[serde(default)]
    pub server: Option<String>,
    /// How many tools are loaded at most: 5 where `None`, and never more than 8.
    #[serde(default)]
    pub limit: Option<u64>,
}

impl FindTools {
    /// Returns what the model reads about the tool: which servers have how many of these tools, and their names as far
    /// as the definition stays within this number of bytes as JSON. It has about 1,000 bytes where that is less.
    #[must_use]
    pub fn definition(searched: &[&ToolDefinition], most_bytes: usize) -> ToolDefinition {
        let mut definition = ToolDefinition {
            name: FIND_TOOLS.to_owned(),
            title: Some("Find tools".to_owned()),
            description: "Finds tools that are not listed here and loads them: call them from your next answer on. Use it \
                          before you say that you cannot do something."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "What the tools are to do, in a few words, or their names."
                    },
                    "server": {
                        "type": "string",
                        "description": "Only tools of this server."
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MOST,
                        "description": "How many are loaded at most; 5 if left out."
                    }
                },
                "required": ["query"]
            }),
            annotations: Some(ToolAnnotations {
                read_only_hint: Some(true),
                ..ToolAnnotations::default()
            }),
            ..ToolDefinition::default()
        };
        let taken = json_bytes(&definition).unwrap_or(usize::MAX);
        // A comma stands between it and what comes before.
        let room = most_bytes.saturating_sub(taken).saturating_sub(1);
        definition.description.push_str(&listing(searched, room));
        definition
    }

    /// Returns the result of a call of the tool: these tools as far as they fit the query, the best first. Their names are what
    /// is [loaded](ToolOutput::loaded).
    ///
    /// A tool whose name is in the query comes first. The others fit by the words of their names, servers, descriptions and
    /// arguments: rare words count more than common ones. The same call finds the same.
    #[must_use]
    pub fn answer<'a>(&self, tools: impl IntoIterator<Item = &'a ToolDefinition>) -> ToolOutput {
        let tools: Vec<&ToolDefinition> = tools.into_iter().collect();
        let is_asked = |tool: &&ToolDefinition| match &self.server {
            Some(server) => is_of(tool, server),
            None => true,
        };
        let asked: Vec<_> = tools.iter().copied().filter(is_asked).collect();
        if let (Some(server), true) = (&self.server, asked.is_empty()) {
            return ToolOutput::text(no_server(server, &tools));
        }
        let limit = self.limit.map_or(FEW, |most| {
            usize::try_from(most).unwrap_or(MOST).clamp(1, MOST)
        });
        let found = ranking::best(self.asked(), &asked, limit);
        if found.is_empty() {
            return ToolOutput::text(self.nothing(&asked));
        }
        let mut text = match found.len() {
            1 => "1 tool is loaded. Call it from your next answer on:".to_owned(),
            many => format!("{many} tools are loaded. Call them from your next answer on:"),
        };
        for tool in &found {
            text.push_str("\n- ");
            text.push_str(&tool.name);
            let summary = summary(&tool.description);
            if !summary.is_empty() {
                text.push_str(": ");
                text.push_str(&summary);
            }
        }
        ToolOutput {
            loaded: found.iter().map(|tool| tool.name.clone()).collect(),
            ..ToolOutput::text(text)
        }
    }

    /// The query as far as it is looked at.
    fn asked(&self) -> &str {
        let end = self.query.floor_char_boundary(LONGEST);
        self.query.get(..end).unwrap_or_default()
    }

    /// Returns what the model reads where no tool fits.
    fn nothing(&self, tools: &[&ToolDefinition]) -> String {
        let nearest = ranking::nearest(self.asked(), tools, NEAREST);
        let nearest: Vec<&str> = nearest.iter().map(|tool| tool.name.as_str()).collect();
        let query = summary(&self.query);
        match nearest.is_empty() {
            true => format!("No tool fits {query:?}: use other words."),
            false => format!(
                "No tool fits {query:?}: use other words, or one of the nearest names: {}",
                nearest.join(", ")
            ),
        }
    }
}

fn no_server(server: &str, tools: &[&ToolDefinition]) -> String {
    let mut servers: Vec<&str> = tools.iter().filter_map(|tool| tool.server()).collect();
    servers.sort_unstable();
    servers.dedup();
    match servers.is_empty() {
        true => format!("There is no server {server:?}, nor any other: leave the server out."),
        false => format!("There is no server {server:?}: use {}", servers.join(", ")),
    }
}

fn is_of(tool: &ToolDefinition, server: &str) -> bool {
    let of = tool.server();
    of.is_some_and(|of| of.eq_ignore_ascii_case(server.trim()))
}

/// The first line of a description, as far as it is not too long.
fn summary(description: &str) -> String {
    let line = description.trim().lines().next().unwrap_or_default();
    let mut characters = line.chars();
    let mut summary: String = characters.by_ref().take(SUMMARY).collect();
    if characters.next().is_some() {
        summary.push('…');
    }
    summary
}
