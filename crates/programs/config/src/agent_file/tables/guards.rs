//! The guards of what goes into runs and out of them: the tables `[guards.NAME]`, and the key `guards` of agents.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use neuron_guards::{
    CommandGuard, InvalidHost, InvalidPattern, InvalidSchema, ModelGuard, TextGuard, Then,
};
use neuron_types::{AgentSpec, Guard, GuardPoint, GuardSpec, canonical_json, hex};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::agent_file::{
    providers::ProviderSettings,
    tables::{
        commands::{self, Command, CommandKeys},
        judges::{self, JudgeKeys, JudgeSettings},
        listed,
    },
    text::{
        keys::{Key, Keys, keys, names, object_of_kind},
        kinds::{Choice, ChoiceList, Choices, Count, Json, List, Part, Required, Words, words},
        table::{Table, Text},
    },
};

type Providers = BTreeMap<String, ProviderSettings>;

/// The key of an agent.
pub(crate) const KEY: &str = "guards";

words!(
    Action:
    "warn" => Self::Warn,
    "replace" => Self::Replace,
    "block" => Self::Block,
    "ask" => Self::Ask,
    "trip" => Self::Trip,
);

words!(
    Failing:
    "pass" => Self::Pass,
    "warn" => Self::Warn,
    "block" => Self::Block,
    "ask" => Self::Ask,
    "trip" => Self::Trip,
);

words!(
    GuardPoint:
    "input" => Self::Input,
    "call" => Self::Call,
    "result" => Self::Result,
    "output" => Self::Output,
);

words!(
    GuardKind:
    "secrets" => Self::Secrets,
    "patterns" => Self::Patterns,
    "length" => Self::Length,
    "urls" => Self::Urls,
    "json" => Self::Json,
    "command" => Self::Command,
    "model" => Self::Model,
);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GuardKind {
    Secrets,
    Patterns,
    Length,
    Urls,
    Json,
    Command,
    Model,
}

impl GuardKind {
    fn keys(self) -> Vec<Key> {
        match self {
            Self::Secrets => SecretsKeys::keys(),
            Self::Patterns => PatternsKeys::keys(),
            Self::Length => LengthKeys::keys(),
            Self::Urls => UrlsKeys::keys(),
            Self::Json => JsonKeys::keys(),
            Self::Command => ProgramKeys::keys(),
            Self::Model => ModelKeys::keys(),
        }
    }
}

keys! {
    struct CommonKeys {
        /// What the guard looks for.
        kind: Required<Choice<GuardKind>>,
        /// A list of points.
        at: ChoiceList<GuardPoint>,
        /// The tools whose calls and results it checks, by the names that the model uses. At `input` and `output` the key
        /// has no effect.
        tools: List,
        /// What is done about a finding.
        then: Choice<Action>,
    }
}

keys! {
    struct WithKeys {
        /// The text that replaces what is found. If `with` is set without `then`, `then` is `"replace"`.
        with: Words,
    }
}

keys! {
    struct SecretsKeys {
        _common: Part<CommonKeys<'_>>,
        _with: Part<WithKeys<'_>>,
    }
}

keys! {
    struct PatternsKeys {
        _common: Part<CommonKeys<'_>>,
        /// A list of regular expressions.
        patterns: Required<List>,
        _with: Part<WithKeys<'_>>,
    }
}

keys! {
    struct LengthKeys {
        _common: Part<CommonKeys<'_>>,
        /// The most characters of a text: a count.
        max_chars: Required<Count<usize>>,
        _with: Part<WithKeys<'_>>,
    }
}

keys! {
    struct UrlsKeys {
        _common: Part<CommonKeys<'_>>,
        /// The hosts that addresses may lead to. `*.example.com` means all hosts below `example.com`, without `example.com`
        /// itself.
        hosts: Required<List>,
        _with: Part<WithKeys<'_>>,
    }
}

keys! {
    struct JsonKeys {
        _common: Part<CommonKeys<'_>>,
        /// A JSON Schema as a table.
        schema: Json,
        _with: Part<WithKeys<'_>>,
    }
}

keys! {
    struct FailureKeys {
        /// What happens if the program fails, or the model returns nothing usable.
        on_failure: Choice<Failing> = "block",
    }
}

keys! {
    struct ProgramKeys {
        _common: Part<CommonKeys<'_>>,
        _command: Part<CommandKeys<'_>>,
        _failure: Part<FailureKeys<'_>>,
    }
}

keys! {
    struct ModelKeys {
        _common: Part<CommonKeys<'_>>,
        _judge: Part<JudgeKeys<'_>>,
        _failure: Part<FailureKeys<'_>>,
    }
}

/// The keys of all kinds. Which of them a table may have depends on its kind.
pub(crate) enum GuardKeys {}

impl Keys for GuardKeys {
    type Of<'a> = Table<'a>;

    fn of<'a>(table: &Table<'a>) -> Table<'a> {
        table.clone()
    }

    fn keys() -> Vec<Key> {
        let kinds = GuardKind::words().into_iter();
        kinds.flat_map(|(_, kind)| kind.keys()).collect()
    }

    /// The keys of a table are checked when its kind is known.
    fn check(_table: &Table<'_>) {}

    fn schema() -> Value {
        let kinds = GuardKind::words().into_iter();
        let kinds = kinds.map(|(word, kind)| (word, kind.keys()));
        object_of_kind(&kinds.collect::<Vec<_>>())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Warn,
    Replace,
    Block,
    Ask,
    Trip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Failing {
    Pass,
    Warn,
    Block,
    Ask,
    Trip,
}

impl Failing {
    /// Returns what is done when the guard fails; `None` if the content passes.
    const fn then(self) -> Option<Then> {
        Some(match self {
            Self::Pass => return None,
            Self::Warn => Then::Warn,
            Self::Block => Then::Block,
            Self::Ask => Then::Ask,
            Self::Trip => Then::Trip,
        })
    }
}

/// A guard as it stands in the file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct GuardSettings {
    /// The points at which the guard looks; the default of its kind if the file has none.
    at: BTreeSet<GuardPoint>,
    tools: Vec<String>,
    then: Option<Action>,
    /// The replacement for what the guard finds.
    with: Option<String>,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Secrets,
    Patterns(Vec<String>),
    Length(usize),
    Urls(Vec<String>),
    Json(Option<Value>),
    Command {
        command: Command,
        on_failure: Failing,
    },
    Model {
        judge: JudgeSettings,
        on_failure: Failing,
    },
}

/// Takes the place of an agent's model that the file does not name, or not readably.
const NO_MODEL: &str = "none/none";

/// Why the settings do not make a guard.
enum Unusable {
    Pattern(InvalidPattern),
    Host(InvalidHost),
    Schema(InvalidSchema),
}

impl GuardSettings {
    /// Returns a placeholder for a guard of a file that is rejected.
    const fn unreadable() -> Self {
        Self {
            at: BTreeSet::new(),
            tools: Vec::new(),
            then: None,
            with: None,
            what: What::Secrets,
        }
    }

    /// Returns the guard of these settings for an agent of this model. Its programs are started in this directory. The
    /// settings were found valid when they were read; `None` if they are not.
    pub(crate) fn guard(&self, name: &str, cwd: &Path, own: &str) -> Option<Arc<dyn Guard>> {
        self.make(name, cwd, own).ok()
    }

    /// Returns the guard's program, if the guard is one.
    pub(crate) const fn command(&self) -> Option<&Command> {
        match &self.what {
            What::Command { command, .. } => Some(command),
            _ => None,
        }
    }

    /// Returns the guard as definitions of agents of this model name it.
    fn spec(&self, name: &str, own: &str) -> GuardSpec {
        // The settings contain nothing that JSON cannot express.
        let settings = serde_json::to_value(self).unwrap_or_default();
        let settings = hex(&Sha256::digest(canonical_json(&settings)));
        let settings = format!("sha256:{settings}");
        match self.guard(name, Path::new("."), own) {
            Some(guard) => GuardSpec {
                settings,
                ..GuardSpec::of(guard.as_ref())
            },
            None => GuardSpec {
                name: name.to_owned(),
                at: BTreeSet::new(),
                settings,
                judge: None,
            },
        }
    }

    fn make(&self, name: &str, cwd: &Path, own: &str) -> Result<Arc<dyn Guard>, Unusable> {
        let guard = match &self.what {
            What::Secrets => TextGuard::secrets(name),
            What::Patterns(patterns) => {
                TextGuard::patterns(name, patterns).map_err(Unusable::Pattern)?
            }
            What::Length(most) => TextGuard::length(name, *most),
            What::Urls(hosts) => TextGuard::urls(name, hosts).map_err(Unusable::Host)?,
            What::Json(schema) => {
                TextGuard::json(name, schema.clone()).map_err(Unusable::Schema)?
            }
            What::Command {
                command,
                on_failure,
            } => return Ok(self.program(name, command, *on_failure, cwd)),
            What::Model { judge, on_failure } => {
                return Ok(self.model(judge.guard(name, own), *on_failure));
            }
        };
        let guard = guard.of_tools(&self.tools);
        let guard = match self.at.is_empty() {
            true => guard,
            false => guard.at(self.at.iter().copied()),
        };
        let with = self.with.clone();
        Ok(Arc::new(match self.then {
            None => match with {
                None => guard,
                Some(with) => guard.then(Then::Replace(with)),
            },
            Some(Action::Warn) => guard.then(Then::Warn),
            Some(Action::Replace) => {
                let with = with.unwrap_or_else(|| format!("[{name}]"));
                guard.then(Then::Replace(with))
            }
            Some(Action::Block) => guard.then(Then::Block),
            Some(Action::Ask) => guard.then(Then::Ask),
            Some(Action::Trip) => guard.then(Then::Trip),
        }))
    }

    fn program(
        &self,
        name: &str,
        command: &Command,
        on_failure: Failing,
        cwd: &Path,
    ) -> Arc<dyn Guard> {
        let guard = CommandGuard::new(name, command.program(cwd)).of_tools(&self.tools);
        let guard = match self.at.is_empty() {
            true => guard,
            false => guard.at(self.at.iter().copied()),
        };
        Arc::new(match on_failure.then() {
            Some(then) => guard.failing(then),
            None => guard.passing_on_failure(),
        })
    }

    fn model(&self, guard: ModelGuard, on_failure: Failing) -> Arc<dyn Guard> {
        let guard = guard.of_tools(&self.tools);
        let guard = match self.at.is_empty() {
            true => guard,
            false => guard.at(self.at.iter().copied()),
        };
        Arc::new(match on_failure.then() {
            Some(then) => guard.failing(then),
            None => guard.passing_on_failure(),
        })
    }
}

/// Returns the guards of the file.
pub(crate) fn read(
    tables: &[(&str, Table<'_>)],
    providers: &Providers,
) -> BTreeMap<String, GuardSettings> {
    let tables = tables.iter();
    tables
        .map(|(name, table)| {
            // A wrong guard is noted and still kept: agents that name it do not get a second problem.
            let settings =
                read_one(name, table, providers).unwrap_or_else(GuardSettings::unreadable);
            ((*name).to_owned(), settings)
        })
        .collect()
}

fn read_one(name: &str, table: &Table<'_>, providers: &Providers) -> Option<GuardSettings> {
    let common = CommonKeys::of(table);
    if !table.has("kind") {
        table.missing("kind = \"secrets\"");
    }
    let kind = common.kind()?;
    table.expect_keys_but(&names(&kind.keys()), &[]);
    let what = read_what(kind, table, providers)?;
    let judge = match kind {
        GuardKind::Command => Some("command"),
        GuardKind::Model => Some("model"),
        _ => None,
    };
    if let (Some(judge), true) = (judge, table.has("then")) {
        let message = format!("is decided by the {judge}: remove it");
        table.problem("then", table.offset_of("then"), &message);
    }
    for key in ["at", "tools", "patterns"] {
        if table.is_empty_list(key) {
            let message = match key {
                "patterns" => "is empty and would match nothing: write a pattern",
                "tools" => "is empty: leave it out for all tools",
                _ => "is empty: remove it for the default of its kind",
            };
            table.problem(key, table.offset_of(key), message);
        }
    }
    let tools = common.tools();
    let at = common.at().into_iter();
    let at = at.filter_map(|point| table.choose("at", point, &GuardPoint::words()));
    let settings = GuardSettings {
        at: at.collect(),
        tools: tools.iter().map(own).collect(),
        then: common.then(),
        with: WithKeys::of(table).with().as_ref().map(own),
        what,
    };
    if settings.with.is_some() && !matches!(settings.then, None | Some(Action::Replace)) {
        let offset = table.offset_of("with");
        table.problem(
            "with",
            offset,
            "is only for then = \"replace\": remove one of them",
        );
    }
    match settings.make(name, Path::new("."), NO_MODEL) {
        Ok(_) => Some(settings),
        Err(Unusable::Pattern(error)) => {
            let offset = table.offset_of("patterns");
            // The last line of the error states the problem, the lines before draw where it is.
            let why = error.source.to_string();
            let why = why.lines().last().unwrap_or_default();
            let why = why.trim_start_matches("error: ");
            let message = format!("cannot be used: {error}: {why}");
            table.problem("patterns", offset, &message);
            None
        }
        Err(Unusable::Host(error)) => {
            let offset = table.offset_of("hosts");
            table.problem("hosts", offset, &format!("cannot be used: {error}"));
            None
        }
        Err(Unusable::Schema(error)) => {
            let offset = table.offset_of("schema");
            table.problem("schema", offset, &format!("cannot be used: {error}"));
            None
        }
    }
}

fn read_what(kind: GuardKind, table: &Table<'_>, providers: &Providers) -> Option<What> {
    let required = |key: &str, example: &str| {
        if !table.has(key) {
            table.missing(example);
        }
    };
    let on_failure = || {
        let on_failure = FailureKeys::of(table).on_failure();
        on_failure.unwrap_or(Failing::Block)
    };
    Some(match kind {
        GuardKind::Secrets => What::Secrets,
        GuardKind::Patterns => {
            required("patterns", "patterns = [\"…\"]");
            let patterns = PatternsKeys::of(table).patterns();
            for pattern in patterns.iter().filter(|pattern| pattern.value.is_empty()) {
                let message = "contains an empty text, which matches nothing: remove it";
                table.problem("patterns", pattern.offset, message);
            }
            What::Patterns(patterns.iter().map(own).collect())
        }
        GuardKind::Length => {
            required("max_chars", "max_chars = 10_000");
            What::Length(LengthKeys::of(table).max_chars()?)
        }
        GuardKind::Urls => {
            required("hosts", "hosts = [\"example.com\"]");
            What::Urls(UrlsKeys::of(table).hosts().iter().map(own).collect())
        }
        GuardKind::Json => What::Json(JsonKeys::of(table).schema()),
        GuardKind::Model => What::Model {
            judge: judges::read(&JudgeKeys::of(table), providers),
            on_failure: on_failure(),
        },
        GuardKind::Command => What::Command {
            command: commands::read(&CommandKeys::of(table)),
            on_failure: on_failure(),
        },
    })
}

/// Returns the guards of an agent of this model, in the agent's order.
pub(crate) fn read_names(
    agent: &Table<'_>,
    names: Vec<Text<'_>>,
    guards: &BTreeMap<String, GuardSettings>,
    own: Option<&str>,
) -> Vec<GuardSpec> {
    let own = own.unwrap_or(NO_MODEL);
    let listed = listed::read(agent, KEY, names, "guard", guards).into_iter();
    listed
        .map(|(name, settings)| settings.spec(name, own))
        .collect()
}

fn own(text: &Text<'_>) -> String {
    text.value.to_owned()
}

/// Returns the models that judge for an agent, as `provider/model`.
pub(crate) fn judging_models(agent: &AgentSpec) -> impl Iterator<Item = &str> {
    let judges = agent
        .guards
        .iter()
        .filter_map(|guard| guard.judge.as_deref());
    judges
        .map(|judge| judge.model.as_str())
        .filter(|model| *model != NO_MODEL)
}
