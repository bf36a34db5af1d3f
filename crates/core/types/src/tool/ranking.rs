//! Which tools fit what is looked for.

use std::collections::{BTreeMap, BTreeSet};

use crate::ToolDefinition;

/// What a word counts in a tool's own name, in its server or title, and in the rest.
const IN_NAME: f64 = 4.0;
const IN_TITLE: f64 = 2.0;
const IN_TEXT: f64 = 1.0;

/// What a word counts that only begins as the one that is looked for, or the other way round.
const BEGINNING: f64 = 0.5;

/// How many letters two words share that begin in the same way.
const LEAST_BEGINNING: usize = 4;

/// How soon more of the same word counts no more.
const SATURATION: f64 = 1.5;

/// How much a long description takes away.
const LENGTH: f64 = 0.5;

/// The words of a tool, and what each counts in it.
struct Document {
    words: BTreeMap<String, f64>,
    length: f64,
}

/// The tools that fit a query best, the best first, and in their order where two fit as well. One whose name is in the query
/// comes first.
pub(crate) fn best<'a>(
    query: &str,
    tools: &[&'a ToolDefinition],
    limit: usize,
) -> Vec<&'a ToolDefinition> {
    let documents: Vec<Document> = tools.iter().map(|tool| Document::of(tool)).collect();
    let names: BTreeSet<&str> = query.split(is_no_name).collect();
    let mean = documents.iter().map(|it| it.length).sum::<f64>() / documents.len().max(1) as f64;
    let wanted: Vec<(String, f64)> = words(query)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|word| {
            let having = documents.iter().filter(|it| it.count_of(&word) > 0.0);
            let (all, having) = (documents.len() as f64, having.count() as f64);
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            (word, rarity)
        })
        .collect();
    let scored = tools.iter().zip(&documents).map(|(tool, document)| {
        let is_named = names.contains(tool.name.as_str());
        let is_meant = names.contains(tool.own_name()) && names.len() == 1;
        let score: f64 = wanted
            .iter()
            .map(|(word, rarity)| rarity * document.weight_of(word, mean))
            .sum();
        ((is_named, is_meant, score), *tool)
    });
    first(scored, limit, |(is_named, is_meant, score)| {
        *is_named || *is_meant || *score > 0.0
    })
}

/// The tools whose names are most like a query, by the pairs of letters that both have.
pub(crate) fn nearest<'a>(
    query: &str,
    tools: &[&'a ToolDefinition],
    limit: usize,
) -> Vec<&'a ToolDefinition> {
    let wanted = pairs(query);
    let scored = tools.iter().map(|tool| {
        let has = pairs(&tool.name);
        let shared = wanted.intersection(&has).count() as f64;
        let all = (wanted.len() + has.len()).max(1) as f64;
        ((false, false, 2.0 * shared / all), *tool)
    });
    first(scored, limit, |(_, _, score)| *score > 0.0)
}

/// Whether the query names it, whether it may mean it, and how well it fits otherwise.
type Score = (bool, bool, f64);

fn first<'a>(
    scored: impl Iterator<Item = (Score, &'a ToolDefinition)>,
    limit: usize,
    fits: impl Fn(&Score) -> bool,
) -> Vec<&'a ToolDefinition> {
    let mut scored: Vec<_> = scored.filter(|(score, _)| fits(score)).collect();
    // A stable sort leaves in their order what fits as well.
    scored.sort_by(|(one, _), (other, _)| {
        let by_name = (other.0, other.1).cmp(&(one.0, one.1));
        by_name.then(other.2.total_cmp(&one.2))
    });
    scored
        .into_iter()
        .take(limit)
        .map(|(_, tool)| tool)
        .collect()
}

impl Document {
    fn of(tool: &ToolDefinition) -> Self {
        let mut words_of: BTreeMap<String, f64> = BTreeMap::new();
        let mut add = |text: &str, weight: f64| {
            for word in words(text) {
                *words_of.entry(word).or_default() += weight;
            }
        };
        add(tool.own_name(), IN_NAME);
        add(tool.server().unwrap_or_default(), IN_TITLE);
        add(tool.title.as_deref().unwrap_or_default(), IN_TITLE);
        add(&tool.description, IN_TEXT);
        let arguments = tool.input_schema.get("properties");
        let arguments = arguments.and_then(|properties| properties.as_object());
        for (name, schema) in arguments.into_iter().flatten() {
            add(name, IN_TEXT);
            let description = schema.get("description").and_then(|text| text.as_str());
            add(description.unwrap_or_default(), IN_TEXT);
        }
        Self {
            length: words_of.values().sum(),
            words: words_of,
        }
    }

    /// Returns how much of this word it has.
    fn count_of(&self, word: &str) -> f64 {
        if let Some(count) = self.words.get(word) {
            return *count;
        }
        let words = self.words.iter();
        let like = words.filter(|(known, _)| begins_alike(known, word));
        like.map(|(_, count)| count * BEGINNING).fold(0.0, f64::max)
    }

    /// Returns what this word says for it, among tools with this number of words on average.
    fn weight_of(&self, word: &str, mean: f64) -> f64 {
        let count = self.count_of(word);
        let longer = self.length / mean.max(1.0);
        let damping = SATURATION * (1.0 - LENGTH + LENGTH * longer);
        count * (SATURATION + 1.0) / (count + damping)
    }
}

fn begins_alike(one: &str, other: &str) -> bool {
    let shorter = one.chars().count().min(other.chars().count());
    shorter >= LEAST_BEGINNING && (one.starts_with(other) || other.starts_with(one))
}

/// Returns whether a character separates the names in a query.
fn is_no_name(character: char) -> bool {
    !(character.is_alphanumeric() || matches!(character, '_' | '-' | '.'))
}

/// The words of a text in small letters, those of `camelCase` and `snake_case` apart, without the `s` of a plural.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::with_capacity(text.len());
    let mut was_small = false;
    for character in text.chars() {
        if character.is_uppercase() && was_small {
            spaced.push(' ');
        }
        was_small = character.is_lowercase() || character.is_numeric();
        match character.is_alphanumeric() {
            true => spaced.extend(character.to_lowercase()),
            false => spaced.push(' '),
        }
    }
    let words: Vec<String> = spaced.split_whitespace().map(singular).collect();
    words.into_iter()
}

fn singular(word: &str) -> String {
    let stem = word.strip_suffix('s');
    let stem = stem.filter(|stem| stem.chars().count() >= 3 && !stem.ends_with('s'));
    stem.unwrap_or(word).to_owned()
}

/// The pairs of letters that stand beside each other in the words of a text.
fn pairs(text: &str) -> BTreeSet<(char, char)> {
    let pairs = words(text).flat_map(|word| {
        let letters: Vec<char> = word.chars().collect();
        let after: Vec<char> = letters.iter().skip(1).copied().collect();
        letters.into_iter().zip(after).collect::<Vec<_>>()
    });
    pairs.collect()
}
