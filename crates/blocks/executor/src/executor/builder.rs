//! Building an executor.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use neuron_tool::{ToolRegistry, builtin::SchemaValidator};
use neuron_types::{DynProvider, Guard, Hook, Provider, ToolContext, VerifyDecision};
use tracing::warn;

use super::{Executor, Inner, deferred::Deferred, guards::Guards, hooks::Hooks};
use crate::{PriceList, Prices, RateLimiter};

/// The largest tool result that reaches the model, in bytes of text, unless the builder sets another.
const MAX_RESULT_BYTES: usize = 256 * 1024;

/// Builds an [`Executor`].
#[derive(Default)]
#[must_use]
pub struct ExecutorBuilder {
    providers: BTreeMap<String, Arc<dyn DynProvider>>,
    tenant_providers: BTreeMap<String, BTreeMap<String, Arc<dyn DynProvider>>>,
    limiters: BTreeMap<String, RateLimiter>,
    tenant_limiters: BTreeMap<String, BTreeMap<String, RateLimiter>>,
    tools: ToolRegistry,
    left_out: Vec<String>,
    hooks: Hooks,
    guards: Guards,
    prices: Prices,
    cwd: Option<PathBuf>,
    environment: BTreeMap<String, String>,
    max_result_bytes: Option<usize>,
    /// By the tool's name.
    max_result_bytes_of: BTreeMap<String, usize>,
    team: BTreeMap<String, Executor>,
    verifier: Option<Arc<dyn VerifyDecision>>,
}

impl Executor {
    /// Starts building an executor without providers and tools.
    pub fn builder() -> ExecutorBuilder {
        ExecutorBuilder::default()
    }

    /// Starts building an executor with everything that this one has.
    pub fn to_builder(&self) -> ExecutorBuilder {
        ExecutorBuilder::from_inner(&self.inner)
    }
}

impl ExecutorBuilder {
    fn from_inner(inner: &Inner) -> Self {
        Self {
            providers: inner.providers.clone(),
            tenant_providers: inner.tenant_providers.clone(),
            limiters: inner.limiters.clone(),
            tenant_limiters: inner.tenant_limiters.clone(),
            tools: inner.tools.clone(),
            left_out: inner.left_out.clone(),
            hooks: inner.hooks.clone(),
            guards: inner.guards.clone(),
            prices: inner.prices.clone(),
            cwd: Some(inner.cwd.clone()),
            environment: inner.environment.clone(),
            max_result_bytes: Some(inner.max_result_bytes),
            max_result_bytes_of: inner.max_result_bytes_of.clone(),
            team: inner.team.clone(),
            verifier: inner.verifier.clone(),
        }
    }

    /// Adds a provider under the name that requests know it by. One of the same name is replaced.
    pub fn provider(self, name: impl Into<String>, provider: impl Provider + 'static) -> Self {
        self.shared_provider(name, Arc::new(provider))
    }

    /// Adds a provider that is shared or known only at run time.
    pub fn shared_provider(
        mut self,
        name: impl Into<String>,
        provider: Arc<dyn DynProvider>,
    ) -> Self {
        self.providers.insert(name.into(), provider);
        self
    }

    /// Adds what stands for the provider of this name in the runs for one tenant, most often the same with another key.
    /// Runs for other tenants, and for no tenant, have [the provider itself](Self::provider), which must be there too.
    pub fn tenant_provider(
        mut self,
        name: impl Into<String>,
        tenant: impl Into<String>,
        provider: Arc<dyn DynProvider>,
    ) -> Self {
        let tenants = self.tenant_providers.entry(name.into()).or_default();
        tenants.insert(tenant.into(), provider);
        self
    }

    /// Keeps the requests to the provider of this name within a rate. Clones of a limiter count together: executors that
    /// ask with the same key are given clones of one. Default is no limit.
    ///
    /// A model call waits for its turn before its time runs, for [half of its timeout](crate::longest_wait) at most;
    /// else it fails as `rate_limited`, with the rest of the wait as `retry_after`. In that case nothing was sent.
    pub fn limiter(mut self, provider: impl Into<String>, limiter: RateLimiter) -> Self {
        self.limiters.insert(provider.into(), limiter);
        self
    }

    /// As [`limiter`](Self::limiter), for what [stands for the provider](Self::tenant_provider) in the runs for one
    /// tenant.
    pub fn tenant_limiter(
        mut self,
        provider: impl Into<String>,
        tenant: impl Into<String>,
        limiter: RateLimiter,
    ) -> Self {
        let tenants = self.tenant_limiters.entry(provider.into()).or_default();
        tenants.insert(tenant.into(), limiter);
        self
    }

    /// Sets the tools. Default is no tools.
    pub fn tools(mut self, tools: ToolRegistry) -> Self {
        self.tools = tools;
        self
    }

    /// Sets what is left out of the tools because it cannot be used, such as that of an MCP server: each is a sentence
    /// that names it and gives the reason. Default is nothing. The sentences come with every answer of a model to a
    /// turn, as [`CompletionResponse::left_out`](neuron_types::CompletionResponse::left_out), and a run reports them
    /// once.
    ///
    /// Journals keep them with each of these answers: a caller that passes on a stranger's text bounds it.
    pub fn left_out(mut self, what: impl IntoIterator<Item = String>) -> Self {
        self.left_out.extend(what);
        self
    }

    /// Adds a hook behind those that are set already.
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.0.push(Arc::new(hook));
        self
    }

    /// Adds a guard behind those that are set already. It looks at all steps, whatever the definitions of their runs
    /// [name](neuron_types::AgentSpec::guards): those that name it also ask it in steps of its own. A guard of the same
    /// name is replaced.
    pub fn guard(self, guard: impl Guard + 'static) -> Self {
        self.shared_guard(Arc::new(guard))
    }

    /// Adds a guard that is shared or known only at run time.
    pub fn shared_guard(mut self, guard: Arc<dyn Guard>) -> Self {
        let guards = &mut self.guards.0;
        match guards.iter_mut().find(|old| old.name() == guard.name()) {
            Some(old) => *old = guard,
            None => guards.push(guard),
        }
        self
    }

    /// Sets the prices. Default is no prices: no call has a known cost.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Has the published prices of this vendor apply to the models of a provider, where none is set.
    pub fn price_list(mut self, provider: impl Into<String>, list: PriceList) -> Self {
        self.prices.use_list(provider, list);
        self
    }

    /// Returns the prices that are known so far.
    #[must_use]
    pub const fn known_prices(&self) -> &Prices {
        &self.prices
    }

    /// Sets the tools' working directory. Default is that of the process.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets variables for the processes that tools start, beside those they inherit. Default is no variables.
    pub fn environment(mut self, environment: BTreeMap<String, String>) -> Self {
        self.environment = environment;
        self
    }

    /// Sets how many bytes of text of a tool's result reach the model; the rest is cut, with a note.
    /// Default is 256 KiB.
    pub fn max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = Some(bytes);
        self
    }

    /// Sets how many bytes of text of the results of one tool reach the model, whatever
    /// [`max_result_bytes`](Self::max_result_bytes) is for the others.
    pub fn max_result_bytes_of(mut self, tool: impl Into<String>, bytes: usize) -> Self {
        self.max_result_bytes_of.insert(tool.into(), bytes);
        self
    }

    /// Adds the executor of an agent that takes turns in the runs of a workflow: it makes the steps that [name the
    /// agent](crate::StepScope::agent). An executor of the same name is replaced.
    pub fn member(mut self, agent: impl Into<String>, executor: Executor) -> Self {
        self.team.insert(agent.into(), executor);
        self
    }

    /// Sets the verifier of decisions. Without one, every decision is accepted under the name that it carries, and is
    /// marked as unverified.
    ///
    /// The verifier is asked about the tickets of this executor's own steps: [members](Self::member) have their own. If
    /// the own verifier of an executor knows no approvers, the others of its workflow are asked about its tickets, and
    /// one of them has to accept a decision.
    pub fn verifier(self, verifier: impl VerifyDecision + 'static) -> Self {
        self.shared_verifier(Arc::new(verifier))
    }

    /// Sets a verifier that is shared or known only at run time.
    pub fn shared_verifier(mut self, verifier: Arc<dyn VerifyDecision>) -> Self {
        self.verifier = Some(verifier);
        self
    }

    /// Builds the executor.
    #[must_use]
    pub fn build(self) -> Executor {
        let mut tools = self.tools;
        let validator = SchemaValidator::new(&tools);
        for (tool, reason) in validator.unchecked() {
            warn!(tool, reason, "the arguments of a tool are not checked");
        }
        let deferred = Deferred::of(&tools);
        tools.add_middleware(validator);
        Executor {
            inner: Arc::new(Inner {
                providers: self.providers,
                tenant_providers: self.tenant_providers,
                limiters: self.limiters,
                tenant_limiters: self.tenant_limiters,
                tools,
                left_out: self.left_out,
                hooks: self.hooks,
                guards: self.guards,
                prices: self.prices,
                cwd: self.cwd.unwrap_or_else(|| ToolContext::default().cwd),
                environment: self.environment,
                max_result_bytes: self.max_result_bytes.unwrap_or(MAX_RESULT_BYTES),
                max_result_bytes_of: self.max_result_bytes_of,
                team: self.team,
                verifier: self.verifier,
                deferred,
            }),
            grants: None,
            others: None,
            definitions: None,
            sink: None,
            place: None,
            sessions: None,
            moved_from: None,
            lent_verifier: None,
        }
    }
}

impl fmt::Debug for ExecutorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorBuilder")
            .field("providers", &self.providers.keys())
            .finish_non_exhaustive()
    }
}
