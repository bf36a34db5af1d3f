//! The `[agents.NAME.context]` table.

use neuron_context::{ContextSection, PersistentContext};
use neuron_types::{
    ContextEdit, ContextManagement, ContextPolicy, ContextRule, Reminder, ReminderTrigger,
};

use crate::agent_file::{
    providers::Kind,
    tables::models::{self, Known, ModelName},
    text::table::{Table, Text},
};

const DEFAULT_KEEP: usize = 10;

#[derive(Clone, Copy)]
enum Strategy {
    None,
    SlidingWindow,
    ClearToolResults,
    Summarize,
    ProviderSummarizes,
    ProviderClearsToolResults,
}

/// How a conversation is kept small here, and what the provider does for that.
#[derive(Default)]
pub(crate) struct Context {
    pub(crate) policy: ContextPolicy,
    pub(crate) management: Option<ContextManagement>,
    /// The context that becomes part of the agent's instructions.
    pub(crate) persistent: PersistentContext,
}

const STRATEGIES: [(&str, Strategy); 6] = [
    ("none", Strategy::None),
    ("sliding_window", Strategy::SlidingWindow),
    ("clear_tool_results", Strategy::ClearToolResults),
    ("summarize", Strategy::Summarize),
    ("provider_summarize", Strategy::ProviderSummarizes),
    (
        "provider_clear_tool_results",
        Strategy::ProviderClearsToolResults,
    ),
];

/// Reads the table of an agent of this model.
pub(crate) fn read(agent: &Table<'_>, own: Option<ModelName<'_>>, known: &Known<'_>) -> Context {
    let Some(table) = agent.table("context") else {
        return Context::default();
    };
    table.expect_keys(&[
        "strategy",
        "at_tokens",
        "keep",
        "model",
        "summary_prompt",
        "sections",
        "reminders",
    ]);
    let needs_none = table.has("sections") || table.has("reminders");
    if !table.has("strategy") && !needs_none && !table.is_inherited() {
        table.missing("strategy = \"clear_tool_results\", or another of the strategies");
    }
    let keep = table.count("keep").unwrap_or(DEFAULT_KEEP);
    let model = models::read(&table, "model", known)
        .map(|model| format!("{}/{}", model.provider, model.name));
    let summary_prompt = table.text_or_file("summary_prompt");
    let names = table.text_or_texts("strategy");
    let alone = names.len() == 1;
    let mut rules = Vec::new();
    let mut edits = Vec::new();
    for name in names {
        rules.extend(match table.choose("strategy", name, &STRATEGIES) {
            Some(Strategy::SlidingWindow) => Some(ContextRule::SlidingWindow { keep }),
            Some(Strategy::ClearToolResults) => Some(ContextRule::ClearToolResults { keep }),
            Some(Strategy::Summarize) => Some(ContextRule::Summarize {
                keep,
                model: model.clone(),
                summary_prompt: summary_prompt.clone(),
            }),
            Some(Strategy::None) if !alone => {
                let message = "holds \"none\" beside others: leave it out, or the others";
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
        let message = "is empty: say what a summary is to hold, or remove it";
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
            at_tokens: table.count("at_tokens"),
            reminders: read_reminders(&table),
        },
        management: (!edits.is_empty()).then_some(ContextManagement { edits }),
        persistent: read_sections(&table),
    }
}

/// Reads what the agent knows in every turn.
fn read_sections(context: &Table<'_>) -> PersistentContext {
    let sections = context.named_tables("sections").into_iter();
    sections.fold(PersistentContext::new(), |persistent, (label, table)| {
        table.expect_keys(&["content", "priority"]);
        if !table.has("content") {
            table.missing("content = \"what the agent has to know\"");
        }
        let content = table.text("content").map_or("", |text| text.value);
        let priority = table.count("priority").unwrap_or(0);
        persistent.section(ContextSection::new(label, content).priority(priority))
    })
}

/// Reads the agent's reminders.
fn read_reminders(context: &Table<'_>) -> Vec<Reminder> {
    let tables = context.named_tables("reminders").into_iter();
    let reminders = tables.filter_map(|(_name, table)| {
        table.expect_keys(&["text", "every_turns", "every_tool_calls", "at_tokens"]);
        if !table.has("text") {
            table.missing("text = \"what the agent is reminded of\"");
        }
        let every_turns = table.count("every_turns").map(ReminderTrigger::EveryTurns);
        let every_calls = table.count("every_tool_calls");
        let every_calls = every_calls.map(ReminderTrigger::EveryToolCalls);
        let at_tokens = table.count("at_tokens").map(ReminderTrigger::AtTokens);
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
            text: table.text("text")?.value.to_owned(),
            when: when?,
        })
    });
    reminders.collect()
}

/// Returns the context edits that the provider of the agent's model is asked for.
fn edit(
    table: &Table<'_>,
    strategy: Strategy,
    name: Text<'_>,
    own: Option<ModelName<'_>>,
    known: &Known<'_>,
) -> Option<ContextEdit> {
    let kind = known.providers.get(own?.provider)?.kind;
    let at_tokens = table.count("at_tokens");
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
                keep: table.count("keep"),
            })
        }
        _ => {
            let message = format!(
                "holds \"{}\", which the provider of this model does not do: use \"{}\"",
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
