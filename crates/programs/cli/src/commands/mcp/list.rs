//! `neuron mcp list`

use std::{collections::BTreeMap, time::Duration};

use futures::{StreamExt as _, stream::FuturesUnordered};
use neuron_config::{AgentFile, OpenOptions};
use neuron_mcp::{
    LeftOut, McpClient, McpError, McpPrompt, McpResource, McpResourceTemplate, McpServerInfo,
};
use neuron_types::{ToolDefinition, ToolDyn as _, ToolEffects};
use serde::Serialize;
use tokio::time::Instant;

use crate::{
    CliError, Exit,
    session::Session,
    terminal::{output::note, shown},
};

/// After how long it is first noted which servers are awaited.
const FIRST_NOTE: Duration = Duration::from_secs(2);

/// How often it is noted from then on.
const BETWEEN_NOTES: Duration = Duration::from_secs(10);

/// How much of a description fits on a line.
const SHORT: usize = 100;

/// One server in `--json` output.
#[derive(Debug, Serialize)]
struct Listing {
    server: String,
    /// The server's description of itself.
    info: Option<McpServerInfo>,
    tools: Vec<ToolLine>,
    /// The elements that cannot be used.
    left_out: Vec<LeftOutLine>,
    resources: Vec<McpResource>,
    resource_templates: Vec<McpResourceTemplate>,
    prompts: Vec<McpPrompt>,
    /// What keeps the server from being used.
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct ToolLine {
    /// The name that the server uses.
    own_name: String,
    effects: ToolEffects,
    #[serde(flatten)]
    definition: ToolDefinition,
}

#[derive(Debug, Serialize)]
struct LeftOutLine {
    name: String,
    reason: String,
}

pub(crate) async fn list(session: &Session, servers: &[String]) -> Result<Exit, CliError> {
    let file = session.agent_file().await?;
    let names: Vec<&str> = if servers.is_empty() {
        file.all_mcp_servers().collect()
    } else {
        servers.iter().map(String::as_str).collect()
    };
    let options = session.open_options()?;
    let listings = names.iter().enumerate().map(async |(index, name)| {
        let listing = look_at(&file, name, &options).await;
        (index, listing)
    });
    let listings = all_of(&names, listings.collect()).await?;
    if session.output.is_json() {
        session.output.value(&listings)?;
    } else if listings.is_empty() {
        session.output.text("the agent file names no MCP server")?;
    } else {
        let text: Vec<_> = listings.iter().map(text).collect();
        session.output.text(&text.join("\n"))?;
    }
    Ok(match listings.iter().all(|it| it.error.is_none()) {
        true => Exit::Done,
        false => Exit::Usage,
    })
}

/// Returns the listings in the order of the servers' names. Notes which servers are awaited while that takes long.
async fn all_of(
    names: &[&str],
    mut asked: FuturesUnordered<impl Future<Output = (usize, Result<Listing, CliError>)>>,
) -> Result<Vec<Listing>, CliError> {
    let mut listings = BTreeMap::new();
    let mut notes = tokio::time::interval_at(Instant::now() + FIRST_NOTE, BETWEEN_NOTES);
    loop {
        tokio::select! {
            next = asked.next() => match next {
                Some((index, listing)) => drop(listings.insert(index, listing?)),
                None => break,
            },
            _ = notes.tick() => {
                let awaited = names.iter().enumerate();
                let awaited = awaited.filter(|(index, _)| !listings.contains_key(index));
                let awaited: Vec<_> = awaited.map(|(_, name)| shown::line(name)).collect();
                note(&format!("waiting for {}", awaited.join(", ")));
            }
        }
    }
    Ok(listings.into_values().collect())
}

/// Starts one server, asks it for everything and stops it.
async fn look_at(file: &AgentFile, name: &str, options: &OpenOptions) -> Result<Listing, CliError> {
    let (spec, answers) = file.mcp_server(name, options)?;
    let mut listing = Listing {
        server: name.to_owned(),
        info: None,
        tools: Vec::new(),
        left_out: Vec::new(),
        resources: Vec::new(),
        resource_templates: Vec::new(),
        prompts: Vec::new(),
        error: None,
    };
    match McpClient::connect(spec, answers).await {
        Ok(client) => {
            let filled = fill(&client, name, &mut listing).await;
            client.close().await;
            listing.error = filled.err().map(|error| error.to_string());
        }
        Err(error) => listing.error = Some(error.to_string()),
    }
    Ok(listing)
}

async fn fill(client: &McpClient, name: &str, listing: &mut Listing) -> Result<(), McpError> {
    let info = client.server_info().await?;
    let (tools, resources, prompts) = (info.has_tools, info.has_resources, info.has_prompts);
    listing.info = Some(info);
    if tools {
        let found = client.discover(Some(name)).await?;
        let lines = found.tools.iter().map(|tool| {
            let definition = tool.definition();
            ToolLine {
                own_name: tool.own_name().to_owned(),
                effects: definition.effects(),
                definition,
            }
        });
        listing.tools = lines.collect();
        listing.leave_out(found.left_out);
    }
    if resources {
        let found = client.all_resources().await?;
        listing.resources = found.items;
        listing.leave_out(found.left_out);
        let found = client.all_resource_templates().await?;
        listing.resource_templates = found.items;
        listing.leave_out(found.left_out);
    }
    if prompts {
        let found = client.all_prompts().await?;
        listing.prompts = found.items;
        listing.leave_out(found.left_out);
    }
    Ok(())
}

impl Listing {
    fn leave_out(&mut self, left_out: Vec<LeftOut>) {
        let lines = left_out.into_iter().map(|it| LeftOutLine {
            name: it.name,
            reason: it.reason,
        });
        self.left_out.extend(lines);
    }
}

fn text(listing: &Listing) -> String {
    let mut lines = vec![shown::line(&listing.server).into_owned()];
    if let Some(error) = &listing.error {
        lines.push(format!("  not ready: {}", shown::line(error)));
    }
    if let Some(info) = &listing.info {
        let named = format!("{} {}", info.name, info.version);
        let said = format!("{}, MCP {}", named.trim_end(), info.protocol_version);
        lines.push(format!("  server   {}", shown::line(&said)));
    }
    for tool in &listing.tools {
        let definition = &tool.definition;
        let effects = match tool.effects {
            ToolEffects::ReadOnly => "read-only",
            ToolEffects::Idempotent => "idempotent",
            ToolEffects::Write => "write",
        };
        lines.push(entry(
            "tool",
            &definition.name,
            &format!("{effects}; {}", definition.description),
        ));
    }
    for tool in &listing.left_out {
        lines.push(entry("left out", &tool.name, &tool.reason));
    }
    for resource in &listing.resources {
        lines.push(entry("resource", &resource.uri, &resource.name));
    }
    for template in &listing.resource_templates {
        lines.push(entry("template", &template.uri_template, &template.name));
    }
    for prompt in &listing.prompts {
        let description = prompt.description.as_deref().unwrap_or_default();
        lines.push(entry("prompt", &prompt.name, description));
    }
    lines.join("\n")
}

fn entry(kind: &str, name: &str, about: &str) -> String {
    let name = shown::line(name);
    let about = shown::short_line(about, SHORT);
    format!("  {kind:<8} {name}  {about}").trim_end().to_owned()
}
