//! The keys of `[mcp.NAME]`.

use neuron_sandbox::Sandbox;

use crate::agent_file::text::{
    keys::keys,
    kinds::{Boolean, BooleanOr, Count, List, TextTable, Timespan, Words},
};

keys! {
    pub(crate) struct McpKeys {
        /// The program to start, and its arguments.
        command: List,
        /// The address of a server that speaks streamable HTTP.
        url: Words,
        /// The names of further variables that the program gets from neuron's environment, besides those that all commands
        /// get.
        env: List,
        /// The variable that holds the bearer token for `url`.
        token_env: Words,
        /// Headers of every request to `url`: `{ "X-Team" = "search" }`.
        headers: TextTable,
        /// The same, with the name of the variable that holds each value: `{ Authorization = "TRACKER_LOGIN" }`; values are
        /// never shown.
        headers_env: TextTable,
        /// Whether the token may go to another machine unencrypted: `url` begins with `http://`.
        insecure: Boolean = false,
        /// How long each request may take; tool calls have the agent's `tool_timeout`.
        timeout: Timespan = "60s",
        /// How long the server may take to answer the first request.
        start_timeout: Timespan,
        /// Whether agents that use the server need it to start.
        required: Boolean = true,
        /// Whether the server may ask the person.
        elicitation: Boolean = false,
        /// Whether the server may ask a model: `true` for the model of the agents that use it, or `"provider/model"`.
        sampling: BooleanOr<Words> = false,
        /// The most tokens of an answer of that model.
        sampling_max_tokens: Count<u64> = 4096,
        /// What the program may reach.
        sandbox: Sandbox,
        /// Whether a call names the run that it belongs to, and whose run it is.
        tags: Boolean,
    }
}
