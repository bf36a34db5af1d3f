//! The keys of an agent file.

use serde_json::{Value, json};

use crate::agent_file::{
    providers::ProviderKeys,
    tables::{
        agent_keys::AgentKeys, approvers::ApproverKeys, guards::GuardKeys, hooks::HookKeys,
        mcp_keys::McpKeys, models::PriceKeys, pools::PoolKeys, sessions::SessionKeys,
    },
    text::{
        keys::{Keys, ValueKind, keys},
        kinds::{List, Named, Sub},
        table::Table,
    },
};

keys! {
    pub(crate) struct FileKeys {
        /// The version of the file's language; a file of another version is rejected.
        version: Version = 1,
        /// Further files: see Several files.
        include: List,
        /// What the agents have in common: see Defaults.
        defaults: Sub<AgentKeys<'_>>,
        /// Where a worker keeps sessions.
        sessions: Sub<SessionKeys<'_>>,
        /// The providers.
        providers: Named<ProviderKeys>,
        /// The agents.
        agents: Named<AgentKeys<'_>>,
        /// The prices.
        prices: Named<PriceKeys<'_>>,
        /// The MCP servers; they need the feature `mcp` of the command.
        mcp: Named<McpKeys<'_>>,
        /// The people who may decide: see Approvers.
        approvers: Named<ApproverKeys<'_>>,
        /// Budgets that agents of a tree share: `tokens`, `cost_usd`, or both.
        pools: Named<PoolKeys<'_>>,
        /// Checks of messages, calls, results and answers: see Guards.
        guards: Named<GuardKeys>,
        /// Programs that are asked about what runs do: see Hooks.
        hooks: Named<HookKeys<'_>>,
    }
}

/// The version of agent files. The value is whether this build can read the file.
pub(crate) enum Version {}

impl Version {
    const THIS: u64 = 1;
}

impl ValueKind for Version {
    type Value<'a> = bool;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> bool {
        let wanted = format!("{}, the version that this build reads", Self::THIS);
        table.is_or_has_no(key, Self::THIS, &wanted)
    }

    fn schema() -> Value {
        json!({ "const": Self::THIS })
    }
}

/// Returns the JSON Schema of agent files.
pub(crate) fn schema() -> Value {
    let mut schema = FileKeys::schema();
    if let Some(fields) = schema.as_object_mut() {
        let dialect = "https://json-schema.org/draft/2020-12/schema";
        fields.insert("$schema".to_owned(), dialect.into());
        fields.insert("title".to_owned(), "The agent file of neuron".into());
    }
    schema
}
