//! Building an agent.

use std::{any::Any, fmt, marker::PhantomData, path::PathBuf, sync::Arc, time::Duration};

#[cfg(feature = "approvers")]
use neuron_approvers::Approvers;
use neuron_executor::{Executor, ExecutorBuilder, Prices, RateLimiter};
#[cfg(feature = "sandbox")]
use neuron_sandbox::Sandbox;
#[cfg(feature = "builtin")]
use neuron_tool::builtin::{ReadSkill, Skill};
use neuron_tool::{ToolRegistry, middleware::ToolMiddleware};
#[cfg(feature = "builtin")]
use neuron_types::SkillSpec;
use neuron_types::{
    AgentSpec, Allowance, AskRule, CallPattern, CallerSetting, ContextPolicy, FIND_TOOLS, Guard,
    GuardSpec, Hook, InputGuard, InputGuardrail, Limits, OnExpiry, OnHalt, OnLoop, OutputGuard,
    OutputGuardrail, Priority, ResponseFormat, RetryPolicy, SystemPrompt, ToolDyn, ToolSearch,
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Agent, AgentError, AgentTool, HandoffEntry, Model, Others, Parts, SubAgentEntry,
    model::ResolvedModel,
};

/// Builds an [`Agent`].
///
/// `I` is the input of its runs and `O` their output: both are texts, unless [`input`](Self::input) and
/// [`output`](Self::output) set other types.
#[must_use]
pub struct AgentBuilder<I: ?Sized = str, O = String> {
    spec: AgentSpec,
    model: Option<Model>,
    fallbacks: Vec<Model>,
    tools: ToolRegistry,
    #[cfg(feature = "sandbox")]
    sandbox: Option<Sandbox>,
    executor: ExecutorBuilder,
    limiter: Option<RateLimiter>,
    description: Option<String>,
    others: Others,
    file: Option<PathBuf>,
    alive: Option<Arc<dyn Any + Send + Sync>>,
    types: PhantomData<fn(&I) -> O>,
}

impl Agent {
    /// Starts building an agent of this name.
    pub fn builder(name: impl Into<String>) -> AgentBuilder {
        AgentBuilder::new(name)
    }

    /// Starts from an agent of an agent file, whose MCP servers are started. Tools, hooks and layers of the program are
    /// added to those of the file. A worker that serves the agent also serves the agents that it starts or hands over
    /// to, as the file has them.
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
        let below = reached_from(&file, name).map_err(failed)?;
        let options = OpenOptions::new(".").agents(below.iter().map(String::as_str).chain([name]));
        let open = Arc::new(file.open(options).await.map_err(failed)?);
        let of = |name: &str| {
            let spec = open.agent(name)?;
            let executor = open.executor(&spec)?;
            Ok((spec, executor))
        };
        let (spec, executor) = of(name).map_err(failed)?;
        let mut builder = AgentBuilder::from_parts(spec, &executor, open.clone());
        // The real path of the file, if it can be resolved.
        let path = path.canonicalize().unwrap_or(path);
        builder.file = Some(path.clone());
        for name in &below {
            let (spec, executor) = of(name).map_err(failed)?;
            builder.others.known.push(Arc::new(Parts {
                spec,
                executor,
                serving: None,
                description: None,
                others: Vec::new(),
                file: Some(path.clone()),
                alive: Some(open.clone()),
            }));
        }
        Ok(builder)
    }
}

/// Returns the other agents of a file that runs of this one may start or be handed over to, at any level.
#[cfg(feature = "agent-file")]
fn reached_from(
    file: &neuron_config::AgentFile,
    name: &str,
) -> Result<Vec<String>, neuron_config::AgentFileError> {
    let mut reached = vec![name.to_owned()];
    let mut next = 0;
    while let Some(name) = reached.get(next) {
        let agent = file.definition(name)?;
        let started = agent.subagents.iter().map(|other| &other.name);
        let others = started.chain(agent.handoffs.iter().map(|other| &other.name));
        for other in others {
            if !reached.contains(other) {
                reached.push(other.clone());
            }
        }
        next += 1;
    }
    reached.remove(0);
    Ok(reached)
}

impl AgentBuilder {
    fn new(name: impl Into<String>) -> Self {
        let spec = AgentSpec {
            name: name.into(),
            max_repeats: Some(3),
            tool_search: Some(ToolSearch::default()),
            ..AgentSpec::default()
        };
        Self {
            spec,
            model: None,
            fallbacks: Vec::new(),
            tools: ToolRegistry::new(),
            #[cfg(feature = "sandbox")]
            sandbox: None,
            executor: Executor::builder(),
            limiter: None,
            description: None,
            others: Others::default(),
            file: None,
            alive: None,
            types: PhantomData,
        }
    }

    /// Continues with an agent that has a definition and an executor.
    #[cfg(feature = "agent-file")]
    fn from_parts(spec: AgentSpec, executor: &Executor, alive: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            spec,
            model: None,
            fallbacks: Vec::new(),
            tools: executor.tools().clone(),
            #[cfg(feature = "sandbox")]
            sandbox: None,
            executor: executor.to_builder(),
            limiter: None,
            description: None,
            others: Others::default(),
            file: None,
            alive: Some(alive),
            types: PhantomData,
        }
    }
}

impl<I: ?Sized, O> AgentBuilder<I, O> {
    /// Sets the model: `"anthropic/claude-sonnet-5-5"`, or [a model of the program's own provider](Model::of). It
    /// replaces the models that an agent file lists; [`fallback`](Self::fallback) adds others.
    pub fn model(mut self, model: impl Into<Model>) -> Self {
        self.model = Some(model.into());
        self.spec.head_mut().fallback_models.clear();
        self
    }

    /// Adds a model that is asked, in the same attempt, if the models before it cannot answer: their provider is
    /// overloaded or unreachable, their key or quota is used up, or the model does not exist any more. Default is no
    /// fallback.
    ///
    /// A provider that is not the first model's is not sent what only the first one reads: see
    /// [`RequestHead::fallback_models`](neuron_types::RequestHead::fallback_models).
    pub fn fallback(mut self, model: impl Into<Model>) -> Self {
        self.fallbacks.push(model.into());
        self
    }

    /// Sets the instructions. Default is no instructions.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.spec.head_mut().system = Some(SystemPrompt::Text(text.into()));
        self
    }

    /// Sets what the agent is for: the models of agents that [start it](Self::subagents) or
    /// [hand their runs over to it](Self::handoffs) read this. Default is no description.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Adds agents that this agent's model starts, by a tool `agent_NAME` for each. A call starts a separate run, on
    /// the engine of the run that makes the call. A worker that serves this agent serves those agents, too.
    ///
    /// A child has the tools that both its agent and this agent have, and has to follow the rules of both.
    ///
    /// ```
    /// # fn example() -> Result<(), neuron::AgentError> {
    /// use neuron::{Agent, SubAgentEntry};
    ///
    /// let explorer = Agent::builder("explorer")
    ///     .description("Finds things in this repository and says where they are.")
    ///     .model("openai/gpt-6.1-terra")
    ///     .build()?;
    /// let tester = Agent::builder("tester")
    ///     .description("Runs the tests and says what fails.")
    ///     .model("openai/gpt-6.1-terra")
    ///     .build()?;
    /// let lead = Agent::builder("lead")
    ///     .model("openai/gpt-6.1-terra")
    ///     .subagents([(&explorer).into(), SubAgentEntry::new(&tester).background(true)])
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn subagents<S: Into<SubAgentEntry>>(
        mut self,
        agents: impl IntoIterator<Item = S>,
    ) -> Self {
        let agents = agents.into_iter().map(Into::into);
        self.others.subagents.extend(agents);
        self
    }

    /// Adds agents that this agent's model hands a run over to, by a tool `transfer_to_NAME` for each: the same run
    /// continues as that agent. A worker that serves this agent serves those agents, too.
    pub fn handoffs<H: Into<HandoffEntry>>(mut self, agents: impl IntoIterator<Item = H>) -> Self {
        let agents = agents.into_iter().map(Into::into);
        self.others.handoffs.extend(agents);
        self
    }

    /// Charges the model calls of the agent's runs to this pool. The runs of a tree whose agents name the pool share
    /// it: in each tree, all of them together may use this amount. Their usage counts for the limits of the runs, too.
    /// If agents that start each other set different amounts, the smaller one applies. Default is no pool.
    pub fn pool(mut self, name: impl Into<String>, allowance: Allowance) -> Self {
        let name = name.into();
        self.spec.pools.insert(name.clone(), allowance);
        self.spec.pool = Some(name);
        self
    }

    /// Adds a tool, which may set how its calls are [made](crate::ToolStep::step). It replaces the tool of the same
    /// name, if there is one.
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

    /// Adds skills: folders with instructions that the model reads when it needs them, by the tool `read_skill`. The
    /// tool's description lists the purpose of each skill. A skill of the same name is replaced. Default is no skills.
    ///
    /// The definition contains the digest of each folder: a worker whose folder differs reads nothing of it to a run.
    ///
    /// ```no_run
    /// # fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use neuron::{Agent, builtin::Skill};
    ///
    /// let writer = Agent::builder("writer")
    ///     .model("openai/gpt-6.1-terra")
    ///     .skills([Skill::open("skills/reports")?])
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "builtin")]
    pub fn skills(mut self, skills: impl IntoIterator<Item = Skill>) -> Self {
        let skills: Vec<Skill> = skills.into_iter().collect();
        for skill in &skills {
            let (known, spec) = (&mut self.spec.skills, skill.spec());
            match known.iter_mut().find(|old| old.name == spec.name) {
                Some(old) => old.clone_from(spec),
                None => known.push(spec.clone()),
            }
        }
        if skills.is_empty() {
            return self;
        }
        let known = self.tools.get(SkillSpec::TOOL);
        let more = known.and_then(|known| known.with_setting(&skills));
        let tool = more.unwrap_or_else(|| Arc::new(ReadSkill::new(skills)));
        self.tools.register_dyn(tool);
        self
    }

    /// Sets what is left out of the tools because it cannot be used, each item in a sentence, such as those of
    /// `McpServers::told_left_out`: a run reports them once. Those of the servers of an agent file are reported without
    /// this.
    pub fn left_out(mut self, what: impl IntoIterator<Item = String>) -> Self {
        self.executor = self.executor.left_out(what);
        self
    }

    /// Sets what the commands of the built-in `bash` may reach. Default is the setting with which the tool was made:
    /// [`Sandbox::Workspace`], or the agent file's.
    ///
    /// It is a setting of this process: runs of the agent in another process have the setting of that process.
    #[cfg(feature = "sandbox")]
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Puts a layer around every tool, inside those that were added before.
    pub fn layer(mut self, layer: impl ToolMiddleware + 'static) -> Self {
        self.tools.add_middleware(layer);
        self
    }

    /// Puts a layer around the tool of this name, inside all layers of [`layer`](Self::layer) and inside those that were
    /// added to this tool before. The tool may be added later; without such a tool `build` returns
    /// [`AgentError::LayerWithoutTool`].
    pub fn tool_layer(
        mut self,
        tool: impl AsRef<str>,
        layer: impl ToolMiddleware + 'static,
    ) -> Self {
        self.tools.add_tool_middleware(tool.as_ref(), layer);
        self
    }

    /// Adds a hook after the existing ones: it watches model calls and tool calls, and may reject them. The hook sees a
    /// tool call before a person is asked about it, and the person sees the arguments as the hook left them.
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.executor = self.executor.hook(hook);
        self.spec.hooks_calls = true;
        self
    }

    /// Adds a guard after the existing ones: it checks what goes into runs, through them and out of them. A guard of
    /// the same name is replaced.
    pub fn guard(mut self, guard: impl Guard + 'static) -> Self {
        let spec = GuardSpec::of(&guard);
        let guards = &mut self.spec.guards;
        match guards.iter_mut().find(|old| old.name == spec.name) {
            Some(old) => *old = spec,
            None => guards.push(spec),
        }
        self.executor = self.executor.guard(guard);
        self
    }

    /// Sets how often a call must have had the same result before until the model is notified of that, and what happens
    /// at twice that number. Default is 3, and another notification; 0 turns the check off.
    pub fn max_repeats(mut self, times: u32, then: OnLoop) -> Self {
        self.spec.max_repeats = Some(times);
        self.spec.on_loop = then;
        self
    }

    /// Sets the number or size of tools from which on the model is not sent all of them, and finds them with the tool
    /// `find_tools`. Default is above 40 tools, or a tenth of the size from which the conversation is compacted; with
    /// `None` the model is sent all tools. With [`provider`](ToolSearch::provider), a provider that can search tools does it
    /// itself.
    pub fn tool_search(mut self, search: impl Into<Option<ToolSearch>>) -> Self {
        self.spec.tool_search = search.into();
        self
    }

    /// Adds a [guard](Self::guard) of this name that checks prompts and messages.
    pub fn input_guardrail(
        self,
        name: impl Into<String>,
        guardrail: impl InputGuardrail + 'static,
    ) -> Self {
        self.guard(InputGuard::new(name, guardrail))
    }

    /// Adds a [guard](Self::guard) of this name that checks the answers of the model.
    pub fn output_guardrail(
        self,
        name: impl Into<String>,
        guardrail: impl OutputGuardrail + 'static,
    ) -> Self {
        self.guard(OutputGuard::new(name, guardrail))
    }

    /// Requires a person's approval of such calls: `"bash"`, `"bash(command=git push*)"`, `"*"`.
    ///
    /// An [`AskRule`] also sets who is asked, and how many of them.
    pub fn ask(mut self, calls: impl Into<AskRule>) -> Self {
        self.spec.approvals.approve.push(calls.into());
        self
    }

    /// Allows such calls without asking, whatever [`ask`](Self::ask) sets.
    pub fn allow(mut self, calls: impl Into<String>) -> Self {
        self.spec.approvals.allow.push(calls.into());
        self
    }

    /// Rejects such calls, whatever the other rules set.
    pub fn deny(mut self, calls: impl Into<String>) -> Self {
        self.spec.approvals.deny.push(calls.into());
        self
    }

    /// Allows callers that start a run to change this of the agent, besides what narrows it. Default is nothing.
    pub fn callers_may_set(mut self, settings: impl IntoIterator<Item = CallerSetting>) -> Self {
        self.spec.callers_may_set.extend(settings);
        self
    }

    /// Sets how long a question to a person stays open, and what happens to the call then. Default is forever.
    pub fn ask_for(mut self, time: Duration, then: OnExpiry) -> Self {
        self.spec.approval_timeout = Some(time);
        self.spec.on_expiry = then;
        self
    }

    /// Sets what happens when a model call gives up, or the conversation cannot be made to fit. Default is that the run
    /// ends.
    pub fn on_failure(mut self, then: OnHalt) -> Self {
        self.spec.on_failure = then;
        self
    }

    /// Sets what happens when the run reaches one of its limits. Default is that it ends.
    pub fn on_limit(mut self, then: OnHalt) -> Self {
        self.spec.on_limit = then;
        self
    }

    /// Requires that decisions are signed by one of these people. Default is no approvers: every decision is accepted
    /// under the name that it carries, and is marked as unverified. An agent of an agent file has the approvers of its
    /// file; this replaces them.
    ///
    /// Approvers belong to the worker and are no part of the definition: the worker's current approvers verify the
    /// decisions about a run that waits.
    #[cfg(feature = "approvers")]
    pub fn approvers(mut self, approvers: Approvers) -> Self {
        self.executor = self.executor.verifier(approvers);
        self
    }

    /// Sets how far a run may go. Default is 50 turns.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.spec.limits = limits;
        self
    }

    /// Executes the writes of one turn at the same time, as its reads. Default is that they are executed one after
    /// another, in the order in which the model asked, and that a read waits for the writes before it.
    /// [`Step::parallel_writes`](crate::Step::parallel_writes) sets this for one tool.
    pub fn parallel_writes(mut self) -> Self {
        self.spec.parallel_writes = true;
        self
    }

    /// Sets how many calls one answer of the model may ask for. Calls beyond that number are not made, and their
    /// results state that. Default is 32.
    pub fn calls_per_turn(mut self, most: u32) -> Self {
        self.spec.calls_per_turn = Some(most);
        self
    }

    /// Completes a run with the text of the first tool's result as its answer, which the model does not read: after the
    /// first turn in which a call was made and has not failed. Default is that the model answers.
    pub fn stop_on_first_tool(mut self) -> Self {
        self.spec.stop_on_first_tool = true;
        self
    }

    /// Sets how the conversation is kept small. Default is to keep all of it.
    pub fn context(mut self, policy: ContextPolicy) -> Self {
        self.spec.context = policy;
        self
    }

    /// Sets how failed steps are retried. The number of attempts applies to tool calls. Default is
    /// [`RetryPolicy::default`].
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.spec.retry = policy;
        self
    }

    /// Sets how failed model calls are retried. Default is the policy of [`retry`](Self::retry), with no limit to the
    /// number of attempts.
    pub fn model_retry(mut self, policy: RetryPolicy) -> Self {
        self.spec.model_retry = Some(policy);
        self
    }

    /// Sets for how long a failing step is retried. Default is one day.
    pub fn give_up_after(mut self, longest: Duration) -> Self {
        self.spec.give_up_after = Some(longest);
        self
    }

    /// Sets whether the agent's model calls come before or after those of other agents, if calls wait for their turn.
    /// Default is before: [`Priority::Interactive`].
    pub fn priority(mut self, priority: Priority) -> Self {
        self.spec.priority = priority;
        self
    }

    /// Limits the rate of requests to the model's provider. Agents that ask with the same key are given clones of one
    /// limiter, which count together. Default is the limit of the agent file, otherwise no limit.
    ///
    /// ```
    /// use neuron::executor::RateLimiter;
    ///
    /// let limiter = RateLimiter::builder()
    ///     .requests_per_minute(50)
    ///     .tokens_per_minute(80_000)
    ///     .build();
    /// let writer = neuron::Agent::builder("writer").rate_limiter(limiter.clone());
    /// let critic = neuron::Agent::builder("critic").rate_limiter(limiter);
    /// ```
    pub fn rate_limiter(mut self, limiter: RateLimiter) -> Self {
        self.limiter = Some(limiter);
        self
    }

    /// Sets the prices of models. The published prices of Anthropic's and OpenAI's models are known where the model is named,
    /// such as `"anthropic/claude-sonnet-5-5"`, and the environment names no other server; a price that is set replaces them.
    /// The cost of calls of any other model is not known. A provider that was given as a value is named `own`, and a fallback
    /// `own-2` and so on.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.executor = self.executor.prices(prices);
        self
    }

    /// Sets the tools' working directory. Default is that of the process.
    pub fn dir(mut self, dir: impl Into<std::path::PathBuf>) -> Self {
        self.executor = self.executor.cwd(dir);
        self
    }

    /// Changes a part of the definition that this builder has no setter for.
    pub fn spec(mut self, change: impl FnOnce(&mut AgentSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// Sets the type of the input of runs. The model reads the input as JSON. If a run is started by hand, with a
    /// prompt that is not such a value, it fails with `invalid_request` before the model is called.
    ///
    /// The prompt is checked against the JSON Schema of the type's serialised form: what every value contains is
    /// required.
    pub fn input<T: Serialize + JsonSchema + ?Sized>(mut self) -> AgentBuilder<T, O> {
        // A schema for deserialisation would not fit each value that is serialised.
        let settings = SchemaSettings::default().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<T>();
        self.spec.input = Some(Value::from(schema));
        self.typed()
    }

    /// Sets the type of the output of runs. The model's answer is checked against the type's JSON Schema; an answer
    /// that does not fit is returned to the model once with the error, and a second one that does not fit fails the
    /// run.
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
            fallbacks: self.fallbacks,
            tools: self.tools,
            #[cfg(feature = "sandbox")]
            sandbox: self.sandbox,
            executor: self.executor,
            limiter: self.limiter,
            description: self.description,
            others: self.others,
            file: self.file,
            alive: self.alive,
            types: PhantomData,
        }
    }

    /// Builds the agent.
    ///
    /// # Errors
    ///
    /// [`AgentError`]: no model, a provider without a key, a tool whose commands cannot be confined here, a tool with a
    /// reserved name, a rule about calls that cannot be parsed; a rule or a layer that names no tool of the agent; two other agents of
    /// the same name, or a workflow among them; a limit of cost with a model whose price is not known.
    pub fn build(mut self) -> Result<Agent<I, O>, AgentError> {
        let name = self.spec.name.clone();
        #[cfg(feature = "sandbox")]
        if let Some(sandbox) = &self.sandbox {
            set_sandbox(&mut self.tools, sandbox);
        }
        check_ready(&name, &self.tools)?;
        check_layers(&name, &self.tools)?;
        let mut executor = self.executor;
        match self.model {
            Some(model) => {
                let model = model.resolve(&name)?;
                let head = self.spec.head_mut();
                head.provider = Some(model.provider_name.clone());
                head.model.clone_from(&model.model);
                executor = add_model(executor, model);
            }
            None if self.spec.head.provider.is_none() => {
                return Err(AgentError::NoModel { agent: name });
            }
            None => {}
        }
        for (fallback, number) in self.fallbacks.into_iter().zip(2..) {
            let model = fallback.resolve(&name)?.numbered(number);
            let head = self.spec.head_mut();
            head.fallback_models
                .push(format!("{}/{}", model.provider_name, model.model));
            executor = add_model(executor, model);
        }
        if let (Some(limiter), Some(provider)) = (self.limiter, &self.spec.head.provider) {
            executor = executor.limiter(provider.as_str(), limiter);
        }
        self.spec.head_mut().tools = self.tools.definitions();
        if self.spec.tool_search.is_some() && !self.spec.may_search_tools() {
            return Err(AgentError::ReservedTool {
                agent: name,
                tool: FIND_TOOLS,
            });
        }
        let others = self.others.settle(&mut self.spec)?;
        check_rules(&self.spec)?;
        check_prices(&self.spec, executor.known_prices())?;
        Ok(Agent::new(Parts {
            spec: self.spec,
            executor: executor.tools(self.tools).build(),
            serving: None,
            description: self.description,
            others,
            file: self.file,
            alive: self.alive,
        }))
    }
}

fn add_model(executor: ExecutorBuilder, model: ResolvedModel) -> ExecutorBuilder {
    let executor = match model.prices {
        Some(list) => executor.price_list(model.provider_name.as_str(), list),
        None => executor,
    };
    executor.shared_provider(model.provider_name, model.provider)
}

/// Checks that a limit of cost can be kept: that the prices of the agent's models are known.
fn check_prices(spec: &AgentSpec, prices: &Prices) -> Result<(), AgentError> {
    if spec.limits.cost_usd.is_none() {
        return Ok(());
    }
    let head = &spec.head;
    let own = head
        .provider
        .iter()
        .map(|name| format!("{name}/{}", head.model));
    let mut all = own.chain(head.fallback_models.iter().cloned());
    let is_unknown = |model: &String| prices.rates([model]).is_empty();
    match all.find(is_unknown) {
        Some(model) => Err(AgentError::NoPrice {
            agent: spec.name.clone(),
            model,
        }),
        None => Ok(()),
    }
}

/// Gives the sandbox to the tools that can be confined.
#[cfg(feature = "sandbox")]
fn set_sandbox(tools: &mut ToolRegistry, sandbox: &Sandbox) {
    let all = tools.names().filter_map(|name| tools.get(name));
    let changed: Vec<_> = all.filter_map(|tool| tool.with_setting(sandbox)).collect();
    for tool in changed {
        tools.register_dyn(tool);
    }
}

/// Checks that the tools can be used here.
fn check_ready(agent: &str, tools: &ToolRegistry) -> Result<(), AgentError> {
    for tool in tools.names().filter_map(|name| tools.get(name)) {
        tool.ready().map_err(|source| AgentError::Tool {
            agent: agent.to_owned(),
            tool: tool.name().to_owned(),
            source,
        })?;
    }
    Ok(())
}

/// Checks that every layer for a tool has its tool.
fn check_layers(agent: &str, tools: &ToolRegistry) -> Result<(), AgentError> {
    match tools.layers_without_tool().next() {
        Some(tool) => Err(AgentError::LayerWithoutTool {
            agent: agent.to_owned(),
            tool: tool.to_owned(),
            known: tools.names().map(ToOwned::to_owned).collect(),
        }),
        None => Ok(()),
    }
}

/// Checks that every rule can be parsed, and that a question is about an existing tool.
fn check_rules(spec: &AgentSpec) -> Result<(), AgentError> {
    let rules = &spec.approvals;
    let asked = rules.approve.iter().map(|rule| &rule.call);
    for rule in rules.allow.iter().chain(asked).chain(&rules.deny) {
        let text = rule.strip_prefix('!').unwrap_or(rule);
        if CallPattern::parse(text).is_none() {
            return Err(AgentError::Rule {
                agent: spec.name.clone(),
                rule: rule.clone(),
            });
        }
    }
    let known = || spec.head.tools.iter().map(|tool| tool.name.as_str());
    for AskRule { call, .. } in &rules.approve {
        let text = call.strip_prefix('!').unwrap_or(call);
        let named = text.split_once('(').map_or(text, |(tool, _)| tool);
        let finds_tools = named == FIND_TOOLS && spec.may_search_tools();
        let is_there = finds_tools || known().any(|tool| tool == named);
        if !named.contains(['*', '?', '[', '{']) && !is_there {
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
