//! The `[agents.NAME.context]` table.

use neuron_context::{ContextSection, PersistentContext};
use neuron_types::{
    ContextEdit, ContextManagement, ContextPolicy, ContextRule, Reminder, ReminderTrigger,
};

use crate::agent_file::{
    providers::Kind,
    tables::{
        agent_keys::{ContextKeys, Strategy},
        model_name::read_name,
        models::{Known, ModelName},
    },
    text::{kinds::Choices, table::Text},
};

const DEFAULT_KEEP: usize = 10;

/// How a conversation is kept small here, and what the provider does for that.
#[derive(Default)]
pub(crate) struct Context {
    pub(crate) policy: ContextPolicy,
    pub(crate) management: Option<ContextManagement>,
    /// The context that becomes part of the agent's instructions.
    pub(crate) persistent: PersistentContext,
}

/// Reads the table of an agent of this model.
pub(crate) fn read(
    table: Option<ContextKeys<'_>>,
    own: Option<ModelName<'_>>,
    known: &Known<'_>,
) -> Context {
    let Some(table) = table else {
        return Context::default();
    };
    let needs_none = table.has("sections") || table.has("reminders");
    if !table.has("strategy") && !needs_none && !table.is_inherited() {
        table.missing("strategy = \"clear_tool_results\", or another of the strategies");
    }
    let keep = table.keep().unwrap_or(DEFAULT_KEEP);
    let model = table
        .model()
        .and_then(|name| read_name(&table, "model", name, known.providers))
        .map(|model| format!("{}/{}", model.provider, model.name));
    let summary_prompt = table.summary_prompt();
    let names = table.strategy();
    let alone = names.len() == 1;
    let mut rules = Vec::new();
    let mut edits = Vec::new();
    for name in names {
        rules.extend(match table.choose("strategy", name, &Strategy::words()) {
            Some(Strategy::SlidingWindow) => Some(ContextRule::SlidingWindow { keep }),
            Some(Strategy::ClearToolResults) => Some(ContextRule::ClearToolResults { keep }),
            Some(Strategy::Summarize) => Some(ContextRule::Summarize {
                keep,
                model: model.clone(),
                summary_prompt: summary_prompt.clone(),
            }),
            Some(Strategy::None) if !alone => {
                let message = "contains \"none\" beside others: remove it, or the others";
                table.problem("strategy", name.offset, message);
                None
            }
            Some(
                strategy @ (Strategy::ProviderSummarizes | Strategy::ProviderClearsToolResults),
            ) => {
                edits.extend(edit(&table, strategy, name, own, known));
                None
            }
            Some(Strategy::None) | None => None,
        });
    }
    let summarizes = rules
        .iter()
        .any(|rule| matches!(rule, ContextRule::Summarize { .. }));
    if summary_prompt
        .as_ref()
        .is_some_and(|prompt| prompt.trim().is_empty())
    {
        let message = "is empty: write what a summary must contain, or remove it";
        table.problem("summary_prompt", table.offset_of("summary_prompt"), message);
    }
    let given = [
        ("model", model.is_some()),
        ("summary_prompt", summary_prompt.is_some()),
    ];
    for (key, is_read) in given {
        if table.says(key) && is_read && !summarizes {
            table.problem(
                key,
                table.offset_of(key),
                "is for the strategy \"summarize\", which the agent does not use: remove it",
            );
        }
    }
    Context {
        policy: ContextPolicy {
            rules,
            at_tokens: table.at_tokens(),
            reminders: read_reminders(&table),
        },
        management: (!edits.is_empty()).then_some(ContextManagement { edits }),
        persistent: read_sections(&table),
    }
}

/// Reads what the agent knows in every turn.
fn read_sections(context: &ContextKeys<'_>) -> PersistentContext {
    let sections = context.sections().into_iter();
    sections.fold(PersistentContext::new(), |persistent, (label, table)| {
        if !table.has("content") {
            table.missing("content = \"what the agent has to know\"");
        }
        let content = table.content().map_or("", |text| text.value);
        let priority = table.priority().unwrap_or(0);
        persistent.section(ContextSection::new(label, content).priority(priority))
    })
}

/// Reads the agent's reminders.
fn read_reminders(context: &ContextKeys<'_>) -> Vec<Reminder> {
    let tables = context.reminders().into_iter();
    let reminders = tables.filter_map(|(_name, table)| {
        if !table.has("text") {
            table.missing("text = \"what the agent is reminded of\"");
        }
        let every_turns = table.every_turns().map(ReminderTrigger::EveryTurns);
        let every_calls = table.every_tool_calls();
        let every_calls = every_calls.map(ReminderTrigger::EveryToolCalls);
        let at_tokens = table.at_tokens().map(ReminderTrigger::AtTokens);
        let triggers = [every_turns, every_calls, at_tokens];
        let mut triggers = triggers.into_iter().flatten();
        let (when, another) = (triggers.next(), triggers.next());
        let given = ["every_turns", "every_tool_calls", "at_tokens"];
        if another.is_some() {
            table.problem(
                "text",
                table.offset_of("text"),
                "has more than one of every_turns, every_tool_calls and at_tokens beside it: keep one, and \
                 make another reminder",
            );
        } else if !given.iter().any(|key| table.has(key)) {
            table.missing("every_turns = 10, or every_tool_calls or at_tokens");
        }
        Some(Reminder {
            text: table.text()?.value.to_owned(),
            when: when?,
        })
    });
    reminders.collect()
}

/// Returns the context edits that the provider of the agent's model is asked for.
fn edit(
    table: &ContextKeys<'_>,
    strategy: Strategy,
    name: Text<'_>,
    own: Option<ModelName<'_>>,
    known: &Known<'_>,
) -> Option<ContextEdit> {
    let kind = known.providers.get(own?.provider)?.kind;
    let at_tokens = table.at_tokens();
    let compact = |strategy: &str| ContextEdit::Compact {
        strategy: strategy.to_owned(),
        at_tokens,
        instructions: None,
    };
    match (strategy, kind) {
        (Strategy::ProviderSummarizes, Kind::Anthropic) => Some(compact("compact_20260112")),
        (Strategy::ProviderSummarizes, Kind::OpenAiResponses) => Some(compact("compaction")),
        (Strategy::ProviderClearsToolResults, Kind::Anthropic) => {
            Some(ContextEdit::ClearToolResults {
                at_tokens,
                keep: table.keep().and_then(|keep| u64::try_from(keep).ok()),
            })
        }
        _ => {
            let message = format!(
                "contains \"{}\", which the provider of this model does not support: use \"{}\"",
                name.value,
                name.value.trim_start_matches("provider_"),
            );
            table.problem("strategy", name.offset, &message);
            None
        }
    }
}

/// Returns the models besides the agent's own that summarise for it, as `provider/model`.
pub(crate) fn summary_models(policy: &ContextPolicy) -> impl Iterator<Item = &str> {
    policy.rules.iter().filter_map(|rule| match rule {
        ContextRule::Summarize { model, .. } => model.as_deref(),
        _ => None,
    })
}
