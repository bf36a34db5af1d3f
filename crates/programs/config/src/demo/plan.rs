//! From the words of a prompt to tool calls.

use serde_json::{Value, json};

use super::words::{Word, split};

/// One thing that the prompt asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ask {
    Crates,
    Directory(Option<String>),
    Files(String),
    Read(String),
    Search {
        pattern: String,
        path: Option<String>,
    },
    Run(String),
    Write {
        path: String,
        content: String,
    },
}

impl Ask {
    /// Returns the tool for the request.
    pub(super) const fn tool(&self) -> &'static str {
        match self {
            Self::Crates | Self::Files(_) => "glob",
            Self::Directory(_) => "list_files",
            Self::Read(_) => "read_file",
            Self::Search { .. } => "grep",
            Self::Run(_) => "bash",
            Self::Write { .. } => "write_file",
        }
    }

    /// Returns the tool's input.
    pub(super) fn input(&self) -> Value {
        match self {
            Self::Crates => json!({ "pattern": "**/Cargo.toml" }),
            Self::Files(pattern) => json!({ "pattern": pattern }),
            Self::Directory(None) => json!({}),
            Self::Directory(Some(path)) | Self::Read(path) => json!({ "path": path }),
            Self::Search {
                pattern,
                path: None,
            } => json!({ "pattern": pattern }),
            Self::Search {
                pattern,
                path: Some(path),
            } => json!({ "pattern": pattern, "path": path }),
            Self::Run(command) => json!({ "command": command }),
            Self::Write { path, content } => json!({ "path": path, "content": content }),
        }
    }

    /// Returns the request in words that fit after "I could not".
    pub(super) fn deed(&self) -> String {
        match self {
            Self::Crates => "look for crates".to_owned(),
            Self::Directory(None) => "list the working directory".to_owned(),
            Self::Directory(Some(path)) => format!("list {path}"),
            Self::Files(pattern) => format!("look for {pattern}"),
            Self::Read(path) => format!("read {path}"),
            Self::Search { pattern, .. } => format!("search for {pattern:?}"),
            Self::Run(command) => format!("run `{command}`"),
            Self::Write { path, .. } => format!("write {path}"),
        }
    }

    const fn only_reads(&self) -> bool {
        !matches!(self, Self::Run(_) | Self::Write { .. })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Look,
    Show,
    Read,
    Search,
    Run,
    Write,
}

/// Returns the requests of a prompt, as turns: those that stand together are called at the same time.
pub(super) fn plan(prompt: &str) -> Vec<Vec<Ask>> {
    let words = split(prompt);
    let mut turns = Turns::default();
    for clause in clauses(&words) {
        if clause.after_others {
            turns.next = true;
        }
        for ask in asks(clause.verb, clause.words) {
            turns.add(ask);
        }
    }
    if turns.list.is_empty() {
        // Without a known verb there may still be files to look at.
        let files = words.iter().filter(|word| word.is_file());
        for ask in files.map(|word| Ask::Read(word.text.clone())) {
            turns.add(ask);
        }
        if turns.list.is_empty() && words.iter().any(names_crates) {
            turns.add(Ask::Crates);
        }
    }
    turns.list
}

#[derive(Default)]
struct Turns {
    list: Vec<Vec<Ask>>,
    /// Whether the next request does not go together with the collected ones.
    next: bool,
}

impl Turns {
    /// Adds a request. One that changes something has a turn to itself, so that the order is the prompt's.
    fn add(&mut self, ask: Ask) {
        let alone = !ask.only_reads();
        match self.list.last_mut() {
            Some(turn) if !self.next && !alone => turn.push(ask),
            _ => self.list.push(vec![ask]),
        }
        self.next = alone;
    }
}

struct Clause<'a> {
    verb: Verb,
    words: &'a [Word],
    after_others: bool,
}

/// Cuts the prompt before each verb that it asks with. Words before the first verb are left out.
fn clauses(words: &[Word]) -> Vec<Clause<'_>> {
    let mut found: Vec<(Verb, usize, bool)> = Vec::new();
    let mut then = false;
    let mut in_command = false;
    for (index, word) in words.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| words.get(index));
        let plain = word.plain();
        if matches!(plain.as_str(), "then" | "afterwards" | "next") {
            then = true;
            in_command = false;
            continue;
        }
        let fresh = before.is_none_or(|before| {
            before.ends_clause
                || matches!(before.plain().as_str(), "and" | "then" | "please" | "also")
        });
        if in_command && !fresh {
            continue;
        }
        if let Some(verb) = verb(&plain, fresh, before) {
            // A command in plain words may contain any of the verbs.
            in_command = verb == Verb::Run && words.get(index + 1).is_some_and(|next| !next.quoted);
            found.push((verb, index + 1, std::mem::take(&mut then)));
        }
    }
    let ends = found
        .iter()
        .skip(1)
        .map(|(_, start, _)| start - 1)
        .chain([words.len()])
        .collect::<Vec<_>>();
    found
        .into_iter()
        .zip(ends)
        .map(|((verb, start, after_others), end)| Clause {
            verb,
            words: words.get(start..end).unwrap_or_default(),
            after_others,
        })
        .collect()
}

fn verb(word: &str, fresh: bool, before: Option<&Word>) -> Option<Verb> {
    let noun = before.is_some_and(|before| {
        matches!(
            before.plain().as_str(),
            "the" | "a" | "an" | "this" | "that" | "of" | "in" | "for" | "to" | "with" | "i"
        )
    });
    let verb = match word {
        "list" | "ls" => Verb::Look,
        "which" | "what" | "how" | "what's" if fresh => Verb::Show,
        "show" | "print" | "display" => Verb::Show,
        "read" | "open" | "cat" | "summarize" | "summarise" => Verb::Read,
        "search" | "grep" | "find" | "look" => Verb::Search,
        "run" | "execute" => Verb::Run,
        "write" | "save" | "create" | "put" => Verb::Write,
        _ => return None,
    };
    (!noun).then_some(verb)
}

fn asks(verb: Verb, words: &[Word]) -> Vec<Ask> {
    match verb {
        Verb::Look | Verb::Show => look(words, verb == Verb::Show),
        Verb::Read => words
            .iter()
            .filter(|word| word.quoted || word.is_path())
            .map(|word| Ask::Read(word.text.clone()))
            .collect(),
        Verb::Search => search(words),
        Verb::Run => command(words).map(Ask::Run).into_iter().collect(),
        Verb::Write => write(words).into_iter().collect(),
    }
}

fn look(words: &[Word], may_read: bool) -> Vec<Ask> {
    let files = words.iter().filter(|word| may_read && word.is_file());
    let mut asks: Vec<Ask> = files.map(|word| Ask::Read(word.text.clone())).collect();
    asks.extend(patterns(words));
    if !asks.is_empty() {
        return asks;
    }
    let folder = words.windows(2).find_map(|pair| match pair {
        [name, next] if is_folder(&next.plain()) && !is_filler(&name.plain()) => Some(name),
        _ => None,
    });
    if folder.is_none() && words.iter().any(names_crates) {
        return vec![Ask::Crates];
    }
    let path = folder.or_else(|| words.iter().find(|word| word.quoted || word.is_path()));
    let about_files = words.iter().any(|word| {
        is_folder(&word.plain()) || matches!(word.plain().as_str(), "file" | "files" | "here")
    });
    if path.is_some() || about_files {
        asks.push(Ask::Directory(path.map(|word| word.text.clone())));
    }
    asks
}

fn is_folder(word: &str) -> bool {
    matches!(word, "directory" | "folder" | "directories" | "folders")
}

fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "this"
            | "my"
            | "your"
            | "our"
            | "working"
            | "current"
            | "a"
            | "each"
            | "every"
            | "all"
            | "and"
    )
}

fn search(words: &[Word]) -> Vec<Ask> {
    let globs: Vec<Ask> = patterns(words).collect();
    if !globs.is_empty() {
        return globs;
    }
    let place = words
        .iter()
        .position(|word| matches!(word.plain().as_str(), "in" | "inside" | "under" | "within"));
    let (what, place) = words.split_at(place.unwrap_or(words.len()));
    let path = place
        .iter()
        .find(|word| word.quoted || word.is_path())
        .map(|word| word.text.clone());
    if let Some(pattern) = what.iter().find(|word| word.quoted) {
        let pattern = pattern.text.clone();
        return vec![Ask::Search { pattern, path }];
    }
    if what.iter().any(names_crates) {
        return vec![Ask::Crates];
    }
    let pattern: Vec<&str> = what
        .iter()
        .map(|word| word.text.as_str())
        .skip_while(|word| matches!(*word, "for" | "all" | "the" | "me" | "every" | "up" | "at"))
        .collect();
    let pattern = pattern.join(" ").trim_end_matches(" and").to_owned();
    if pattern.is_empty() || pattern == "and" {
        Vec::new()
    } else {
        vec![Ask::Search { pattern, path }]
    }
}

fn command(words: &[Word]) -> Option<String> {
    let (first, _) = words.split_first()?;
    if first.quoted {
        return Some(first.text.clone());
    }
    if let Some(quoted) = words.iter().find(|word| word.quoted) {
        // In "run the command `ls`" the words before the command describe it.
        if matches!(first.plain().as_str(), "the" | "this" | "command") {
            return Some(quoted.text.clone());
        }
    }
    let mut parts = Vec::new();
    for word in words {
        if matches!(word.plain().as_str(), "then" | "afterwards" | "next") {
            break;
        }
        parts.push(if word.quoted {
            format!("'{}'", word.text)
        } else {
            word.text.clone()
        });
        if word.ends_clause {
            break;
        }
    }
    if parts.last().is_some_and(|last| last == "and") {
        parts.pop();
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn write(words: &[Word]) -> Option<Ask> {
    let (at, content) = words.iter().enumerate().find(|(index, word)| {
        // A quoted path, as in: write `a.txt` with "text".
        word.quoted && (!word.is_path() || !words.iter().skip(index + 1).any(|other| other.quoted))
    })?;
    let path = words
        .iter()
        .enumerate()
        .find(|(index, word)| *index != at && (word.quoted || word.is_path()))
        .map(|(_, word)| word.text.clone())?;
    Some(Ask::Write {
        path,
        content: content.text.clone(),
    })
}

fn patterns(words: &[Word]) -> impl Iterator<Item = Ask> {
    words.iter().filter(|word| word.is_pattern()).map(|word| {
        Ask::Files(if word.text.contains('/') {
            word.text.clone()
        } else {
            format!("**/{}", word.text)
        })
    })
}

fn names_crates(word: &Word) -> bool {
    matches!(word.plain().as_str(), "crate" | "crates" | "packages")
}
