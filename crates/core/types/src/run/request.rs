//! What a run is started with.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

use crate::{
    AgentOrigin, AgentSpec, Begun, Conversation, DurableError, LimitOverrides, Message, Overrides,
    Parent, RunInput, RunTags, SessionName, StateVersion, TraceContext,
};

/// What a run is started with, the same on every engine.
///
/// In JSON two strings are enough, and the form is strict: a field that this build does not know is an error that names
/// it, since a later one may restrict what the run may do.
///
/// ```
/// use neuron_types::{AgentRef, RunRequest};
///
/// let json = r#"{"agent": "default", "prompt": "List the files here.", "labels": {"report": "q3"}}"#;
/// let request: RunRequest = serde_json::from_str(json)?;
/// assert_eq!(request.agent, AgentRef::from("default"));
/// assert_eq!(request.prompt.text(), "List the files here.");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// | Field | Means |
/// | --- | --- |
/// | `agent` | the name of an agent of the worker; or, for development, a whole [`AgentSpec`] |
/// | `prompt` | a text, or a [`Message`] |
/// | `input` | in the place of a prompt: the value that the agent [is given](AgentSpec::input), whatever it is in JSON |
/// | `tenant`, `owner`, `labels` | see [`RunTags`] |
/// | `overrides` | what this run changes of the agent: see [`Overrides`] |
/// | `origin` | beside a whole definition: how the run came to it, see [`AgentOrigin`] |
/// | `preamble` | messages that were said before the prompt |
/// | `session` | the name of a stored conversation with which the run continues, where its worker keeps them |
/// | `parent` | the run that starts this one, and what it may do at most: see [`Parent`] |
/// | `trace` | what the run is a part of in a distributed trace: see [`TraceContext`] |
/// | `version` | [`STATE_VERSION`](crate::STATE_VERSION); must be there beside a whole definition |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Form")]
pub struct RunRequest {
    /// The version of this form.
    pub version: StateVersion,
    /// The agent.
    pub agent: AgentRef,
    /// Whose the run is.
    #[serde(flatten)]
    pub tags: RunTags,
    /// What is changed of the agent for this run, most often nothing.
    #[serde(skip_serializing_if = "Overrides::is_empty")]
    pub overrides: Overrides,
    /// Beside a definition: how the run came to it, if that is the current one of the agent of its name, changed so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<AgentOrigin>,
    /// What was said before the prompt, most often nothing.
    #[serde(skip_serializing_if = "<[Message]>::is_empty")]
    pub preamble: Conversation,
    /// The stored conversation with which the run continues, before the [preamble](Self::preamble): the worker hands it
    /// out when the run begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionName>,
    /// The run that starts this one, most often none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<Parent>>,
    /// What it is a part of in a distributed trace, most often nothing: it then has a trace of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
    /// The prompt.
    pub prompt: Message,
}

impl RunRequest {
    /// The names of its fields in JSON.
    pub const FIELDS: [&str; 13] = [
        "version",
        "agent",
        "tenant",
        "owner",
        "labels",
        "overrides",
        "origin",
        "preamble",
        "session",
        "parent",
        "trace",
        "prompt",
        "input",
    ];

    /// Returns the request for a run of this agent with this prompt, and nothing said before it.
    #[must_use]
    pub fn new(agent: impl Into<AgentRef>, prompt: Message) -> Self {
        Self {
            version: StateVersion,
            agent: agent.into(),
            tags: RunTags::default(),
            overrides: Overrides::default(),
            origin: None,
            preamble: Conversation::default(),
            session: None,
            parent: None,
            trace: None,
            prompt,
        }
    }

    /// Returns whether a second start with this request attaches to a run that was started with the other one, on every
    /// engine. If not, the id belongs to another run. The order of the two makes no difference.
    ///
    /// | Field | Compared |
    /// | --- | --- |
    /// | `agent` | by its name. A definition is not: a run that begins may keep the one that it found in the place of a name |
    /// | `prompt`, `preamble`, `session` | whole |
    /// | `tenant`, `owner`, `labels`, `parent` | whole |
    /// | `overrides` | whole; beside a definition those of its [origin](AgentOrigin::overrides) too |
    /// | `version`, the rest of `origin` | not: they are about the build, and about how the definition was found |
    /// | `trace` | not: a caller who starts it once more may do so for something else |
    ///
    /// ```
    /// use neuron_types::{Message, RunRequest};
    ///
    /// let request = || RunRequest::new("clerk", Message::user("How many rows?"));
    /// assert!(request().is_same_start(&request()));
    /// assert!(!request().is_same_start(&request().tenant("acme")));
    /// ```
    #[must_use]
    pub fn is_same_start(&self, other: &Self) -> bool {
        self.agent.name() == other.agent.name()
            && self.prompt == other.prompt
            && self.preamble == other.preamble
            && self.session == other.session
            && self.tags == other.tags
            && self.parent == other.parent
            && self.changes().eq(other.changes())
    }

    /// Returns what is changed of the agent, wherever it stands: a run that has found its agent's definition has it in
    /// the origin.
    fn changes(&self) -> impl Iterator<Item = &Overrides> {
        let origin = match &self.agent {
            AgentRef::Name(_) => None,
            AgentRef::Definition(_) => self.origin.as_ref(),
        };
        let origin = origin.map(|origin| &origin.overrides);
        let changes = origin.into_iter().chain([&self.overrides]);
        changes.filter(|overrides| !overrides.is_empty())
    }

    /// Returns what the run starts with, where this is what it begins with.
    ///
    /// # Errors
    ///
    /// [`DurableError::Engine`] if neither has a definition of the agent.
    pub fn begun(self, begun: Begun) -> Result<RunInput, DurableError> {
        let rates = begun.rates;
        let mut agent = match (begun.definition, &self.agent) {
            (Some(definition), _) => *definition,
            (None, AgentRef::Definition(definition)) => {
                let mut definition = AgentSpec::clone(definition);
                definition.signed |= begun.signed;
                definition
            }
            (None, AgentRef::Name(name)) => {
                let text = format!("the run begins without a definition of its agent {name:?}");
                return Err(DurableError::engine(text));
            }
        };
        agent.rates.extend(rates);
        let mut input = self.with_agent(agent);
        if !begun.said.is_empty() {
            let said = begun.said.iter().chain(input.preamble.iter());
            input.preamble = said.cloned().collect();
        }
        input.mismatch = begun.mismatch;
        Ok(input)
    }

    /// Returns what the run starts with, where this is its agent's definition: [narrowed](AgentSpec::narrowed) by what
    /// the request changes of it, or as it is with the [reason](RunInput::rejected) for which it cannot be; and
    /// [attenuated](AgentSpec::attenuated) where another run starts it.
    #[must_use]
    pub fn with_agent(self, agent: AgentSpec) -> RunInput {
        let origin = match &self.agent {
            AgentRef::Name(_) => Some(AgentOrigin {
                overrides: self.overrides.clone(),
                ..AgentOrigin::default()
            }),
            AgentRef::Definition(_) => self.origin,
        };
        let mut overrides = self.overrides.clone();
        if self.parent.is_some() {
            // What a parent says of its children's limits never raises one.
            overrides.limits.lower_to(&agent.limits);
        }
        let (agent, rejected) = match agent.narrowed(&overrides) {
            Ok(narrowed) => (narrowed, None),
            Err(rejected) => (agent, Some(rejected)),
        };
        let agent = match &self.parent {
            Some(parent) => parent.attenuate(&agent),
            None => agent,
        };
        RunInput {
            agent,
            origin,
            tags: self.tags,
            directory: None,
            parent: self.parent,
            trace: self.trace,
            preamble: self.preamble,
            prompt: self.prompt,
            mismatch: None,
            rejected,
        }
    }

    /// Sets for whom the run is. Default is no tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tags.tenant = Some(tenant.into());
        self
    }

    /// Sets who starts it. Default is no owner.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.tags.owner = Some(owner.into());
        self
    }

    /// Adds a label that it is to be found by. A label of the same key is replaced.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.labels.insert(key.into(), value.into());
        self
    }

    /// Sets the stored conversation with which the run continues. Default is no session.
    #[must_use]
    pub fn session(mut self, session: SessionName) -> Self {
        self.session = Some(session);
        self
    }

    /// Sets what the run is a part of in a distributed trace. Default is nothing: it has a trace of its own.
    #[must_use]
    pub fn trace(mut self, trace: Option<TraceContext>) -> Self {
        self.trace = trace;
        self
    }

    /// Sets what is changed of the agent for this run. Default is nothing.
    #[must_use]
    pub fn overrides(mut self, overrides: Overrides) -> Self {
        self.overrides = overrides;
        self
    }

    /// Sets limits for this run, which are to be lower than the agent's.
    #[must_use]
    pub fn limits(mut self, limits: LimitOverrides) -> Self {
        self.overrides.limits = limits;
        self
    }

    /// Sets the tools that stay for this run.
    #[must_use]
    pub fn tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.overrides.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Has a person asked before such calls, whatever the agent allows.
    #[must_use]
    pub fn ask(mut self, calls: impl Into<String>) -> Self {
        self.overrides.ask.push(calls.into());
        self
    }

    /// Denies such calls.
    #[must_use]
    pub fn deny(mut self, calls: impl Into<String>) -> Self {
        self.overrides.deny.push(calls.into());
        self
    }

    /// Has such calls made without asking, where the agent lets its callers set that.
    #[must_use]
    pub fn allow(mut self, calls: impl Into<String>) -> Self {
        self.overrides.allow.push(calls.into());
        self
    }

    /// Sets the model, as `provider/model`, where the agent lets its callers set that.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.overrides.model = Some(model.into());
        self
    }
}

impl From<RunInput> for RunRequest {
    fn from(input: RunInput) -> Self {
        Self {
            version: StateVersion,
            agent: input.agent.into(),
            tags: input.tags,
            overrides: Overrides::default(),
            origin: input.origin,
            preamble: input.preamble,
            session: None,
            parent: input.parent,
            trace: input.trace,
            prompt: input.prompt,
        }
    }
}

/// The agent of a [`RunRequest`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AgentRef {
    /// The name of an agent of the worker, which knows its definition.
    Name(String),
    /// A definition as it is, for development.
    Definition(Box<AgentSpec>),
}

impl AgentRef {
    /// Returns the agent's name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Definition(definition) => &definition.name,
        }
    }
}

impl From<&str> for AgentRef {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for AgentRef {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<AgentSpec> for AgentRef {
    fn from(definition: AgentSpec) -> Self {
        Self::Definition(Box::new(definition))
    }
}

impl<'de> Deserialize<'de> for AgentRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOr::<Self, AgentSpec> {
            of_text: Self::Name,
            expected: "the name of an agent, or its definition",
            read: PhantomData,
        })
    }
}

/// What a client sends.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with the fields `agent` and `prompt`"
)]
struct Form {
    #[serde(default)]
    version: Option<StateVersion>,
    agent: AgentRef,
    #[serde(default)]
    tenant: Option<String>,
    #[serde(default)]
    owner: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    overrides: Overrides,
    #[serde(default)]
    origin: Option<AgentOrigin>,
    #[serde(default)]
    preamble: Conversation,
    #[serde(default)]
    session: Option<SessionName>,
    #[serde(default)]
    parent: Option<Box<Parent>>,
    #[serde(default)]
    trace: Option<TraceContext>,
    #[serde(default, deserialize_with = "prompt")]
    prompt: Option<Message>,
    #[serde(default, deserialize_with = "input")]
    input: Option<Value>,
}

impl TryFrom<Form> for RunRequest {
    type Error = de::value::Error;

    fn try_from(form: Form) -> Result<Self, Self::Error> {
        let version = match (form.version, &form.agent) {
            (Some(version), _) => version,
            (None, AgentRef::Name(_)) => StateVersion,
            // As whole inputs were in version 1.
            (None, AgentRef::Definition(_)) => StateVersion::unsaid()?,
        };
        let prompt = match (form.prompt, form.input) {
            (Some(prompt), None) => prompt,
            (None, Some(Value::String(text))) => Message::user(text),
            (None, Some(value)) => Message::user(value.to_string()),
            (None, None) => return Err(de::Error::missing_field("prompt")),
            (Some(_), Some(_)) => {
                let text = "a run is given a `prompt`, or a value as `input`, and not both";
                return Err(de::Error::custom(text));
            }
        };
        Ok(Self {
            version,
            agent: form.agent,
            tags: RunTags {
                tenant: form.tenant,
                owner: form.owner,
                labels: form.labels,
            },
            overrides: form.overrides,
            origin: form.origin,
            preamble: form.preamble,
            session: form.session,
            parent: form.parent,
            trace: form.trace,
            prompt,
        })
    }
}

fn prompt<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Message>, D::Error> {
    let prompt = deserializer.deserialize_any(TextOr::<Message, Message> {
        of_text: Message::user,
        expected: "a text, or a message",
        read: PhantomData,
    });
    prompt.map(Some)
}

/// Nothing is a value, too.
fn input<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads a text in the place of an object.
struct TextOr<T, O> {
    of_text: fn(String) -> T,
    expected: &'static str,
    read: PhantomData<fn() -> O>,
}

impl<'de, T, O: Deserialize<'de> + Into<T>> Visitor<'de> for TextOr<T, O> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Ok((self.of_text)(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        O::deserialize(MapAccessDeserializer::new(map)).map(Into::into)
    }
}
