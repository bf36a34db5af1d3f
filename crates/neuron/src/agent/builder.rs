//! Building an agent.

use std::{any::Any, fmt, marker::PhantomData, sync::Arc, time::Duration};

use neuron_executor::{Executor, ExecutorBuilder, Prices};
use neuron_tool::{ToolRegistry, middleware::ToolMiddleware};
use neuron_types::{
    AgentSpec, CallPattern, CallerSetting, ContextPolicy, Hook, Limits, OnExpiry, ResponseFormat,
    RetryPolicy, SystemPrompt, ToolDyn,
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Agent, AgentError, AgentTool, Model, Parts};

/// Builds an [`Agent`].
///
/// `I` is what its runs are given and `O` what they come to: texts, unless [`input`](Self::input) and
/// [`output`](Self::output) say otherwise.
#[must_use]
pub struct AgentBuilder<I: ?Sized = str, O = String> {
    spec: AgentSpec,
    model: Option<Model>,
    tools: ToolRegistry,
    executor: ExecutorBuilder,
    alive: Option<Arc<dyn Any + Send + Sync>>,
    types: PhantomData<fn(&I) -> O>,
}

impl Agent {
    /// Starts building an agent of this name.
    pub fn builder(name: impl Into<String>) -> AgentBuilder {
        AgentBuilder::new(name)
    }

    /// Starts from an agent of an agent file, whose MCP servers are started. Tools, hooks and layers of one's own are
    /// added to what the file says.
    ///
    /// # Errors
    ///
    /// [`AgentError::File`].
    #[cfg(feature = "agent-file")]
    pub async fn from_file(
        path: impl Into<std::path::PathBuf>,
        name: &str,
    ) -> Result<AgentBuilder, AgentError> {
        use neuron_config::{AgentFile, OpenOptions};

        let failed = |source: neuron_config::AgentFileError| AgentError::File {
            agent: name.to_owned(),
            source: source.into(),
        };
        let path = path.into();
        let file = AgentFile::load(&path).map_err(failed)?;
        let options = OpenOptions::new(".").agents([name]);
        let open = file.open(options).await.map_err(failed)?;
        let spec = open.agent(name).map_err(failed)?;
        let executor = open.executor(&spec).map_err(failed)?;
        Ok(AgentBuilder::from_parts(spec, &executor, Arc::new(open)))
    }
}

impl AgentBuilder {
    fn new(name: impl Into<String>) -> Self {
        let spec = AgentSpec {
            name: name.into(),
            ..AgentSpec::default()
        };
        Self {
            spec,
            model: None,
            tools: ToolRegistry::new(),
            executor: Executor::builder(),
            alive: None,
            types: PhantomData,
        }
    }

    /// Goes on from an agent that has a definition and an executor.
    #[cfg(feature = "agent-file")]
    fn from_parts(spec: AgentSpec, executor: &Executor, alive: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            spec,
            model: None,
            tools: executor.tools().clone(),
            executor: executor.to_builder(),
            alive: Some(alive),
            types: PhantomData,
        }
    }
}

impl<I: ?Sized, O> AgentBuilder<I, O> {
    /// Sets the model: `"anthropic/claude-sonnet-5-5"`, or [one of a provider of one's own](Model::of).
    pub fn model(mut self, model: impl Into<Model>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the instructions. Default is none.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.spec.head_mut().system = Some(SystemPrompt::Text(text.into()));
        self
    }

    /// Adds a tool, which may say how its calls are [made](crate::ToolStep::step). It replaces the tool of the same name,
    /// if there is one.
    pub fn tool(mut self, tool: impl AgentTool) -> Self {
        let (name, tool, settings) = tool.into_parts();
        self.tools.register_dyn(tool);
        match settings {
            Some(settings) => self.spec.tool_settings.insert(name.to_owned(), settings),
            None => self.spec.tool_settings.remove(name),
        };
        self
    }

    /// Adds tools, such as those of [`builtin`](crate::builtin) or of an MCP server.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn ToolDyn>>) -> Self {
        for tool in tools {
            self.tools.register_dyn(tool);
        }
        self
    }

    /// Puts a layer around every tool, inside those that were added before.
    pub fn layer(mut self, layer: impl ToolMiddleware + 'static) -> Self {
        self.tools.add_middleware(layer);
        self
    }

    /// Adds a hook behind those that are there: it watches model calls and tool calls, and may refuse them.
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.executor = self.executor.hook(hook);
        self
    }

    /// Has a person asked before such calls: `"bash"`, `"bash(command=git push*)"`, `"*"`.
    pub fn ask(mut self, calls: impl Into<String>) -> Self {
        self.spec.approvals.approve.push(calls.into());
        self
    }

    /// Has such calls made without asking, whatever [`ask`](Self::ask) says.
    pub fn allow(mut self, calls: impl Into<String>) -> Self {
        self.spec.approvals.allow.push(calls.into());
        self
    }

    /// Refuses such calls, whatever else is said of them.
    pub fn deny(mut self, calls: impl Into<String>) -> Self {
        self.spec.approvals.deny.push(calls.into());
        self
    }

    /// Lets whoever starts a run set this of the agent too, beside what narrows it. Default is nothing.
    pub fn callers_may_set(mut self, settings: impl IntoIterator<Item = CallerSetting>) -> Self {
        self.spec.callers_may_set.extend(settings);
        self
    }

    /// Sets how long a question to a person stays open, and what becomes of the call then. Default is for ever.
    pub fn ask_for(mut self, time: Duration, then: OnExpiry) -> Self {
        self.spec.approval_timeout = Some(time);
        self.spec.on_expiry = then;
        self
    }

    /// Sets how far a run may go. Default is 50 turns.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.spec.limits = limits;
        self
    }

    /// Sets how the conversation is kept small. Default is not at all.
    pub fn context(mut self, policy: ContextPolicy) -> Self {
        self.spec.context = policy;
        self
    }

    /// Sets how failed steps are retried. Default is [`RetryPolicy::default`].
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.spec.retry = policy;
        self
    }

    /// Sets the prices of models. Default is none: no call has a known cost.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.executor = self.executor.prices(prices);
        self
    }

    /// Sets the tools' working directory. Default is that of the process.
    pub fn dir(mut self, dir: impl Into<std::path::PathBuf>) -> Self {
        self.executor = self.executor.cwd(dir);
        self
    }

    /// Changes what this builder has no setter for.
    pub fn spec(mut self, change: impl FnOnce(&mut AgentSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// Has runs be given values of this type, which the model reads as JSON. A run that is started by hand, with a prompt
    /// that states no such value, fails with `invalid_request` before the model is called.
    ///
    /// The prompt is held to the type's JSON Schema as the type is written: what every value has must be there.
    pub fn input<T: Serialize + JsonSchema + ?Sized>(mut self) -> AgentBuilder<T, O> {
        // A schema of what can be read would not fit each value that is written.
        let settings = SchemaSettings::default().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<T>();
        self.spec.input = Some(Value::from(schema));
        self.typed()
    }

    /// Has runs come to values of this type. The model is held to its JSON Schema; an answer that does not fit is put
    /// to it once more with what is wrong, and a second one that does not fit fails the run.
    pub fn output<T: DeserializeOwned + JsonSchema>(mut self) -> AgentBuilder<I, T> {
        let schema = schemars::schema_for!(T);
        self.spec.head_mut().response_format = Some(ResponseFormat::JsonSchema {
            name: T::schema_name().into_owned(),
            schema: Value::from(schema),
            strict: false,
        });
        self.typed()
    }

    fn typed<I2: ?Sized, O2>(self) -> AgentBuilder<I2, O2> {
        AgentBuilder {
            spec: self.spec,
            model: self.model,
            tools: self.tools,
            executor: self.executor,
            alive: self.alive,
            types: PhantomData,
        }
    }

    /// Builds the agent.
    ///
    /// # Errors
    ///
    /// [`AgentError`]: no model, a provider without a key, a rule about calls that cannot be read or that names no
    /// tool of the agent.
    pub fn build(mut self) -> Result<Agent<I, O>, AgentError> {
        let name = self.spec.name.clone();
        let mut executor = self.executor;
        match self.model {
            Some(model) => {
                let model = model.resolve(&name)?;
                let head = self.spec.head_mut();
                head.provider = Some(model.provider_name.clone());
                head.model = model.model;
                executor = executor.shared_provider(model.provider_name, model.provider);
            }
            None if self.spec.head.provider.is_none() => {
                return Err(AgentError::NoModel { agent: name });
            }
            None => {}
        }
        self.spec.head_mut().tools = self.tools.definitions();
        check_rules(&self.spec)?;
        Ok(Agent::new(Parts {
            spec: self.spec,
            executor: executor.tools(self.tools).build(),
            serving: None,
            alive: self.alive,
        }))
    }
}

/// Checks that every rule can be read, and that a question is about a tool that is there.
fn check_rules(spec: &AgentSpec) -> Result<(), AgentError> {
    let rules = &spec.approvals;
    for rule in rules.allow.iter().chain(&rules.approve).chain(&rules.deny) {
        let text = rule.strip_prefix('!').unwrap_or(rule);
        if CallPattern::parse(text).is_none() {
            return Err(AgentError::Rule {
                agent: spec.name.clone(),
                rule: rule.clone(),
            });
        }
    }
    let known = || spec.head.tools.iter().map(|tool| tool.name.as_str());
    for rule in &rules.approve {
        let text = rule.strip_prefix('!').unwrap_or(rule);
        let named = text.split_once('(').map_or(text, |(tool, _)| tool);
        if !named.contains(['*', '?', '[', '{']) && known().all(|tool| tool != named) {
            return Err(AgentError::UnknownTool {
                agent: spec.name.clone(),
                tool: named.to_owned(),
                known: known().map(ToOwned::to_owned).collect(),
            });
        }
    }
    Ok(())
}

impl<I: ?Sized, O> fmt::Debug for AgentBuilder<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("spec", &self.spec)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
