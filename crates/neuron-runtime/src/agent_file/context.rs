//! The `[agents.NAME.context]` table.

use neuron_types::{ContextPolicy, ContextRule};

use super::{
    models::{self, Known},
    table::Table,
};

const DEFAULT_KEEP: usize = 10;

#[derive(Clone, Copy)]
enum Strategy {
    None,
    SlidingWindow,
    ClearToolResults,
    Summarize,
}

const STRATEGIES: [(&str, Strategy); 4] = [
    ("none", Strategy::None),
    ("sliding_window", Strategy::SlidingWindow),
    ("clear_tool_results", Strategy::ClearToolResults),
    ("summarize", Strategy::Summarize),
];

/// Reads the table.
pub(super) fn read(agent: &Table<'_>, known: &Known<'_>) -> ContextPolicy {
    let Some(table) = agent.table("context") else {
        return ContextPolicy::default();
    };
    table.expect_keys(&["strategy", "at_tokens", "keep", "model"]);
    if !table.has("strategy") {
        table.missing("strategy = \"clear_tool_results\", or another of the strategies");
    }
    let keep = table.count("keep").unwrap_or(DEFAULT_KEEP);
    let model = models::read(&table, "model", known)
        .map(|model| format!("{}/{}", model.provider, model.name));
    let names = table.text_or_texts("strategy");
    let alone = names.len() == 1;
    let mut rules = Vec::new();
    for name in names {
        rules.extend(match table.choose("strategy", name, &STRATEGIES) {
            Some(Strategy::SlidingWindow) => Some(ContextRule::SlidingWindow { keep }),
            Some(Strategy::ClearToolResults) => Some(ContextRule::ClearToolResults { keep }),
            Some(Strategy::Summarize) => Some(ContextRule::Summarize {
                keep,
                model: model.clone(),
            }),
            Some(Strategy::None) if !alone => {
                let message = "holds \"none\" beside others: leave it out, or the others";
                table.problem("strategy", name.offset, message);
                None
            }
            Some(Strategy::None) | None => None,
        });
    }
    let summarizes = rules
        .iter()
        .any(|rule| matches!(rule, ContextRule::Summarize { .. }));
    if model.is_some() && !summarizes {
        table.problem(
            "model",
            table.offset_of("model"),
            "is for the strategy \"summarize\", which the agent does not use: remove it",
        );
    }
    ContextPolicy {
        rules,
        at_tokens: table.count("at_tokens"),
    }
}

/// The models beside the agent's own that summarise for it, as `provider/model`.
pub(super) fn summary_models(policy: &ContextPolicy) -> impl Iterator<Item = &str> {
    policy.rules.iter().filter_map(|rule| match rule {
        ContextRule::Summarize { model, .. } => model.as_deref(),
        _ => None,
    })
}
