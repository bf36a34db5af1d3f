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
        commands::{self, Command},
        judges::{self, JudgeSettings},
        listed,
    },
    text::table::{Table, Text},
};

type Providers = BTreeMap<String, ProviderSettings>;

/// The key of an agent.
pub(crate) const KEY: &str = "guards";

/// The tables.
pub(crate) const GUARDS: &str = "guards";

/// The actions of a guard after a finding, as words.
const THEN: [(&str, Action); 5] = [
    ("warn", Action::Warn),
    ("replace", Action::Replace),
    ("block", Action::Block),
    ("ask", Action::Ask),
    ("trip", Action::Trip),
];

/// The actions after a guard that failed, as words.
const ON_FAILURE: [(&str, Failing); 5] = [
    ("pass", Failing::Pass),
    ("warn", Failing::Warn),
    ("block", Failing::Block),
    ("ask", Failing::Ask),
    ("trip", Failing::Trip),
];

const POINTS: [(&str, GuardPoint); 4] = [
    ("input", GuardPoint::Input),
    ("call", GuardPoint::Call),
    ("result", GuardPoint::Result),
    ("output", GuardPoint::Output),
];

/// The keys that all kinds have.
const COMMON: [&str; 4] = ["kind", "at", "tools", "then"];

/// The kinds, and the keys of each besides those that all have.
const KINDS: [(&str, &[&str]); 7] = [
    ("secrets", &["with"]),
    ("patterns", &["patterns", "with"]),
    ("length", &["max_chars", "with"]),
    ("urls", &["hosts", "with"]),
    ("json", &["schema", "with"]),
    ("command", &["command", "env", "timeout", "on_failure"]),
    (
        "model",
        &["model", "policy", "max_tokens", "timeout", "on_failure"],
    ),
];

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
pub(crate) fn read(root: &Table<'_>, providers: &Providers) -> BTreeMap<String, GuardSettings> {
    let tables = root.named_tables(GUARDS).into_iter();
    tables
        .map(|(name, table)| {
            // A wrong guard is noted and still kept: agents that name it do not get a second problem.
            let settings =
                read_one(name, &table, providers).unwrap_or_else(GuardSettings::unreadable);
            (name.to_owned(), settings)
        })
        .collect()
}

fn read_one(name: &str, table: &Table<'_>, providers: &Providers) -> Option<GuardSettings> {
    let Some(kind) = table.text("kind") else {
        if !table.has("kind") {
            table.missing("kind = \"secrets\"");
        }
        return None;
    };
    let kinds = KINDS.map(|(name, keys)| (name, (name, keys)));
    let (kind, keys) = table.choose("kind", kind, &kinds)?;
    table.expect_keys(&[&COMMON[..], keys].concat());
    let what = read_what(kind, table, providers)?;
    if matches!(kind, "command" | "model") && table.has("then") {
        let message = format!("is what the {kind} says: leave it out");
        table.problem("then", table.offset_of("then"), &message);
    }
    for key in ["at", "tools", "patterns"] {
        if table.is_empty_list(key) {
            let message = match key {
                "patterns" => "is empty: it would find nothing",
                "tools" => "is empty: leave it out for all tools",
                _ => "is empty: leave it out for where its kind looks",
            };
            table.problem(key, table.offset_of(key), message);
        }
    }
    let tools = table.texts("tools");
    let at = table.texts("at").into_iter();
    let at = at.filter_map(|point| table.choose("at", point, &POINTS));
    let settings = GuardSettings {
        at: at.collect(),
        tools: tools.iter().map(own).collect(),
        then: table.choice("then", &THEN),
        with: table.text("with").as_ref().map(own),
        what,
    };
    if settings.with.is_some() && !matches!(settings.then, None | Some(Action::Replace)) {
        let offset = table.offset_of("with");
        table.problem(
            "with",
            offset,
            "goes with then = \"replace\": remove one of them",
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

fn read_what(kind: &str, table: &Table<'_>, providers: &Providers) -> Option<What> {
    let required = |key: &str, example: &str| {
        if !table.has(key) {
            table.missing(example);
        }
    };
    Some(match kind {
        "secrets" => What::Secrets,
        "patterns" => {
            required("patterns", "patterns = [\"…\"]");
            let patterns = table.texts("patterns");
            for pattern in patterns.iter().filter(|pattern| pattern.value.is_empty()) {
                let message = "holds an empty text, which finds nothing: remove it";
                table.problem("patterns", pattern.offset, message);
            }
            What::Patterns(patterns.iter().map(own).collect())
        }
        "length" => {
            required("max_chars", "max_chars = 10_000");
            What::Length(table.count("max_chars")?)
        }
        "urls" => {
            required("hosts", "hosts = [\"example.com\"]");
            What::Urls(table.texts("hosts").iter().map(own).collect())
        }
        "json" => What::Json(table.json("schema")),
        "model" => What::Model {
            judge: judges::read(table, providers),
            on_failure: table
                .choice("on_failure", &ON_FAILURE)
                .unwrap_or(Failing::Block),
        },
        _ => What::Command {
            command: commands::read(table),
            on_failure: table
                .choice("on_failure", &ON_FAILURE)
                .unwrap_or(Failing::Block),
        },
    })
}

/// Returns the guards of an agent of this model, in the agent's order.
pub(crate) fn read_names(
    agent: &Table<'_>,
    guards: &BTreeMap<String, GuardSettings>,
    own: Option<&str>,
) -> Vec<GuardSpec> {
    let own = own.unwrap_or(NO_MODEL);
    let listed = listed::read(agent, KEY, "guard", guards).into_iter();
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
