//! An agent in a few lines: a provider, tools, a context strategy and the plain local door.

use std::{fmt, sync::Arc};

use futures::Stream;
use neuron_executor::{EventSink, Executor, NoSink, checked_input};
use neuron_loop::AgentLoop;
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, ContextStrategy, Conversation, DurableError, Message, Provider, RequestHead, RunId,
    RunInput, RunOutput, SystemPrompt,
};
use uuid::Uuid;

use crate::{
    AgentEvent, LocalDurableContext,
    agent::agent_stream::{self, StreamSink},
};

/// The name under which the executor knows the agent's only provider.
const PROVIDER: &str = "local";

/// An agent that runs in this process, without a journal, and keeps its conversation between runs.
///
/// For runs that survive the process, use [`JournaledContext`](crate::JournaledContext).
///
/// A model, tools, and a way to keep the conversation small are all that it takes:
///
/// ```
/// use neuron_context::SlidingWindow;
/// use neuron_config::{DEMO_MODEL, DemoModel};
/// use neuron_local::LocalAgent;
/// use neuron_tool::{ToolRegistry, builtin::{BuiltinOptions, builtin_tools}};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
/// let mut agent = LocalAgent::new(DemoModel::default(), tools, SlidingWindow::new(100))
///     .model(DEMO_MODEL)
///     .system_prompt("You are a careful assistant.")
///     .max_turns(10);
///
/// let result = agent.run("list the files here").await?;
/// assert!(result.output.unwrap_or_default().contains("Cargo.toml"));
/// # Ok(())
/// # }
/// ```
///
/// A coding agent with a layer around a tool, the tools of an MCP server and two strategies. A script is its
/// model, so that the outcome is known:
///
/// ```
/// use neuron_context::{Composite, Summarization, ToolResultClearing};
/// use neuron_mcp::McpClient;
/// use neuron_config::ScriptModel;
/// use neuron_local::LocalAgent;
/// use neuron_tool::{
///     ToolRegistry,
///     builtin::{BuiltinOptions, PermissionChecker, builtin_tools},
/// };
/// use neuron_types::ApprovalRules;
/// # use neuron_mcp::McpServer;
/// # use neuron_tool::{ToolError, neuron_tool};
///
/// # /// Reads the log of a day.
/// # #[neuron_tool(read_only)]
/// # async fn read_log(day: u32) -> Result<String, ToolError> { Ok(format!("day {day} ").repeat(4_000)) }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// # let url = format!("http://{}/mcp", listener.local_addr()?);
/// # let mut logs = ToolRegistry::new();
/// # logs.register(ReadLogTool);
/// # tokio::spawn(async move { McpServer::new(logs).serve_listener(listener, Default::default()).await });
/// let mut tools = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
/// let logs = McpClient::connect_http(&url).await?;
/// tools.extend(logs.discover_tools().await?);
/// let rules = ApprovalRules {
///     deny: vec!["bash(command=git push*)".into()],
///     ..ApprovalRules::default()
/// };
/// let policy = rules.for_tools(&tools.definitions());
/// tools.add_tool_middleware("bash", PermissionChecker::new(policy));
///
/// let context = Composite::new(
///     ToolResultClearing { at_tokens: 10_000, ..ToolResultClearing::new(1) },
///     Summarization { model: Some("small".into()), at_tokens: 10_000, ..Summarization::new(20) },
/// );
/// let model = ScriptModel::parse(r#"{"turns": [
///     {"tool_calls": [{"name": "read_log", "input": {"day": 1}}]},
///     {"tool_calls": [{"name": "read_log", "input": {"day": 2}}]},
///     {"tool_calls": [{"name": "bash", "input": {"command": "git push"}}]},
///     {"text": "The bug is fixed, and not pushed."}
/// ]}"#)?;
/// let mut agent = LocalAgent::new(model, tools, context)
///     .system_prompt("You are a coding assistant.")
///     .max_turns(50);
///
/// let result = agent.run("Fix the bug in src/main.rs").await?;
/// assert_eq!(result.output.as_deref(), Some("The bug is fixed, and not pushed."));
/// let conversation = serde_json::to_string(agent.messages())?;
/// assert!(conversation.contains("permission denied: the agent may not call bash"));
/// assert!(conversation.contains("This result of read_log was cleared"));
/// assert!(conversation.contains("day 2 day 2") && !conversation.contains("day 1 day 1"));
/// # logs.close().await;
/// # Ok(())
/// # }
/// ```
pub struct LocalAgent<C> {
    executor: Executor,
    spec: AgentSpec,
    conversation: Conversation,
    strategy: C,
    sink: Arc<dyn EventSink>,
}

impl<C: ContextStrategy + Clone> LocalAgent<C> {
    /// An agent with this model, these tools and this way to keep its conversation small.
    #[must_use]
    pub fn new(provider: impl Provider + 'static, tools: ToolRegistry, strategy: C) -> Self {
        let head = RequestHead {
            provider: Some(PROVIDER.to_owned()),
            tools: tools.definitions(),
            ..RequestHead::default()
        };
        let spec = AgentSpec {
            head: head.into(),
            ..AgentSpec::default()
        };
        let executor = Executor::builder()
            .provider(PROVIDER, provider)
            .tools(tools);
        Self::from_parts(executor.build(), spec, strategy)
    }

    /// An agent whose executor has hooks, prices or several providers. The spec's head names the
    /// provider and lists the tools.
    #[must_use]
    pub fn from_parts(executor: Executor, spec: AgentSpec, strategy: C) -> Self {
        Self {
            executor,
            spec,
            conversation: Conversation::default(),
            strategy,
            sink: Arc::new(NoSink),
        }
    }

    /// Sets the model, as its provider knows it. Default is none, which most providers refuse.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.spec.head_mut().model = model.into();
        self
    }

    /// Sets the instructions. Default is none.
    #[must_use]
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.spec.head_mut().system = Some(SystemPrompt::Text(text.into()));
        self
    }

    /// Sets the most turns of a run. Default is 50.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.spec.limits.turns = Some(turns);
        self
    }

    /// Sets the sink of the runs' events. Default is none.
    #[must_use]
    pub fn sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sink = sink;
        self
    }

    /// Says something to the agent and runs it to its end. The conversation goes on from the run before.
    ///
    /// A run that failed or met a limit has an output too: its `exit_reason` says so. What a tool refuses with a
    /// hint ends no run: the model reads the hint and calls again.
    ///
    /// ```
    /// use neuron_context::Strategy;
    /// use neuron_config::ScriptModel;
    /// use neuron_local::LocalAgent;
    /// use neuron_tool::{ToolError, ToolRegistry, neuron_tool};
    ///
    /// /// Counts the rows that a query finds.
    /// #[neuron_tool(read_only)]
    /// async fn count_rows(query: String) -> Result<u32, ToolError> {
    ///     if !query.starts_with("SELECT") {
    ///         let hint = format!("Query must be a valid SQL SELECT statement. You provided {query:?}.");
    ///         return Err(ToolError::ModelRetry(hint));
    ///     }
    ///     Ok(3)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut tools = ToolRegistry::new();
    /// tools.register(CountRowsTool);
    /// let model = ScriptModel::parse(r#"{"turns": [
    ///     {"tool_calls": [{"name": "count_rows", "input": {"query": "DELETE"}}]},
    ///     {"tool_calls": [{"name": "count_rows", "input": {"query": "SELECT 1"}}]},
    ///     {"text": "There are 3."}
    /// ]}"#)?;
    /// let mut agent = LocalAgent::new(model, tools, Strategy::keep_everything());
    ///
    /// let result = agent.run("How many rows are there?").await?;
    /// assert_eq!((result.turns, result.output.as_deref()), (3, Some("There are 3.")));
    /// let conversation = serde_json::to_string(agent.messages())?;
    /// assert!(conversation.contains("Query must be a valid SQL SELECT statement."));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// What kept the run from going on: see [`AgentLoop::run`].
    pub async fn run(&mut self, prompt: &str) -> Result<RunOutput, DurableError> {
        let sink = Arc::clone(&self.sink);
        self.run_watched(Message::user(prompt), sink).await
    }

    /// As [`run`](Self::run), and hands out what happens while it happens: pieces of answers, events, retries.
    /// [`AgentEvent::Ended`] is the last item.
    ///
    /// The run goes on only while the stream is polled, and is never ahead by more than what came at once. A
    /// stream that is dropped before its end drops the run and closes the connections of its calls; the
    /// conversation is then that of before. The agent's own sink gets it too.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use neuron_context::Strategy;
    /// use neuron_config::{DEMO_MODEL, DemoModel};
    /// use neuron_executor::Delta;
    /// use neuron_local::{AgentEvent, LocalAgent};
    /// use neuron_tool::{ToolRegistry, builtin::{BuiltinOptions, builtin_tools}};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
    /// let mut agent = LocalAgent::new(DemoModel::default(), tools, Strategy::keep_everything())
    ///     .model(DEMO_MODEL);
    ///
    /// let mut stream = agent.run_stream("list the files here");
    /// while let Some(event) = stream.next().await {
    ///     match event {
    ///         AgentEvent::Token(token) => match token.delta {
    ///             Delta::Text(text) => print!("{text}"),
    ///             Delta::ToolUseStart { name, .. } => println!("\n[using {name}]"),
    ///             _ => {}
    ///         },
    ///         AgentEvent::Retry(notice) => println!("\n[{}: the answer begins anew]", notice.failure),
    ///         AgentEvent::Ended(output) => println!("\n[{} turns]", output?.turns),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_stream(&mut self, prompt: &str) -> impl Stream<Item = AgentEvent> + Unpin {
        let prompt = Message::user(prompt);
        let (stream_sink, events) = StreamSink::new(Arc::clone(&self.sink));
        agent_stream::stream(events, self.run_watched(prompt, Arc::new(stream_sink)))
    }

    async fn run_watched(
        &mut self,
        prompt: Message,
        sink: Arc<dyn EventSink>,
    ) -> Result<RunOutput, DurableError> {
        let id = Uuid::now_v7().to_string();
        let run_id = RunId::new(id).map_err(DurableError::engine)?;
        let door = LocalDurableContext::new(self.executor.clone(), run_id).with_sink(sink);
        let input = checked_input(RunInput {
            preamble: self.conversation.clone(),
            directory: self.executor.cwd().to_str().map(ToOwned::to_owned),
            ..RunInput::new(self.spec.clone(), prompt)
        });
        let mut agent_loop = AgentLoop::new(&door, self.strategy.clone(), input);
        let result = agent_loop.run().await;
        let conversation = agent_loop.machine().state().conversation.clone();
        door.finish().await;
        let output = result?;
        self.conversation = conversation;
        Ok(output)
    }

    /// The conversation so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.conversation
    }
}

impl<C: fmt::Debug> fmt::Debug for LocalAgent<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalAgent")
            .field("agent", &self.spec.name)
            .field("strategy", &self.strategy)
            .finish_non_exhaustive()
    }
}
