//! The problems of an agent file, with their places.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
};

use neuron_types::is_control;

/// One problem of an agent file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Problem {
    /// The file: the agent file itself, or one that it includes.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

/// Collects the problems in the texts that an agent file consists of. Offsets count through all of the texts, so that
/// one number names a place in one of them.
#[derive(Default)]
pub(crate) struct Problems<'t> {
    sources: Vec<Source<'t>>,
    /// The problems, each with the number of the file.
    found: RefCell<Vec<(usize, Problem)>>,
    /// The further files that were read, and their contents.
    read: RefCell<BTreeMap<PathBuf, String>>,
    /// The folders in which a new file would be a part of the agent file.
    folders: RefCell<BTreeSet<PathBuf>>,
}

struct Source<'t> {
    /// The offset of the text's first byte.
    start: usize,
    /// The number of the file, in the order in which files were read.
    file: usize,
    path: PathBuf,
    text: &'t str,
    is_defaults: bool,
}

impl<'t> Problems<'t> {
    /// Adds a text of a file and returns what its offsets are shifted by.
    pub(crate) fn add_source(&mut self, path: &Path, text: &'t str) -> usize {
        let file = self.sources.last().map_or(0, |last| last.file + 1);
        self.push(path, text, file, false)
    }

    /// Adds the text of the first file once more, for the contents of its `[defaults]`.
    pub(crate) fn add_defaults(&mut self) -> usize {
        let Some(first) = self.sources.first() else {
            return 0;
        };
        let (path, text) = (first.path.clone(), first.text);
        self.push(&path, text, 0, true)
    }

    fn push(&mut self, path: &Path, text: &'t str, file: usize, is_defaults: bool) -> usize {
        let end = |last: &Source<'_>| last.start + last.text.len() + 1;
        let start = self.sources.last().map_or(0, end);
        self.sources.push(Source {
            start,
            file,
            path: path.to_owned(),
            text,
            is_defaults,
        });
        start
    }

    fn source(&self, offset: usize) -> Option<&Source<'t>> {
        let after = self.sources.partition_point(|it| it.start <= offset);
        self.sources.get(after.checked_sub(1)?)
    }

    /// Notes a problem. The same one at the same place is noted once.
    pub(crate) fn add(&self, offset: usize, message: impl Into<String>) {
        // Numbers and names stand in the message as they were written, and must not control a terminal.
        let message = message.into().replace(is_control, "\u{fffd}");
        let problem = match self.source(offset) {
            Some(source) => Problem {
                path: source.path.clone(),
                line: source.line(offset),
                message,
            },
            None => Problem {
                path: PathBuf::new(),
                line: 1,
                message,
            },
        };
        let file = self.source(offset).map_or(0, |source| source.file);
        let noted = (file, problem);
        let mut found = self.found.borrow_mut();
        if !found.contains(&noted) {
            found.push(noted);
        }
    }

    /// Returns the file and line of an offset, as messages name them.
    pub(crate) fn place(&self, offset: usize) -> String {
        self.source(offset).map_or_else(String::new, |source| {
            format!("{}:{}", source.path.display(), source.line(offset))
        })
    }

    /// Returns the folder of the file, which its paths start from.
    pub(crate) fn folder(&self, offset: usize) -> &Path {
        let source = self.source(offset);
        let folder = source.and_then(|source| source.path.parent());
        folder.unwrap_or_else(|| Path::new(""))
    }

    /// Notes that a text of the agent file stands in a separate file.
    pub(crate) fn note_read(&self, path: &Path, text: &str) {
        let mut read = self.read.borrow_mut();
        read.insert(path.to_owned(), text.to_owned());
    }

    /// Notes that files which are put into a folder are a part of the agent file, too.
    pub(crate) fn note_folder(&self, path: PathBuf) {
        self.folders.borrow_mut().insert(path);
    }

    /// Returns the folders that were noted.
    pub(crate) fn take_folders(&self) -> BTreeSet<PathBuf> {
        self.folders.take()
    }

    /// Returns the files that were noted, with their contents.
    pub(crate) fn take_read(&self) -> BTreeMap<PathBuf, String> {
        self.read.take()
    }

    /// Returns whether the offset is in `[defaults]`.
    pub(crate) fn is_default(&self, offset: usize) -> bool {
        self.source(offset).is_some_and(|source| source.is_defaults)
    }

    /// Returns everything that was noted, by file and line.
    pub(crate) fn into_vec(self) -> Vec<Problem> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(file, problem)| (*file, problem.line));
        found.into_iter().map(|(_, problem)| problem).collect()
    }
}

impl Source<'_> {
    /// Returns the line of an offset, counted from 1.
    fn line(&self, offset: usize) -> usize {
        let before = self.text.get(..offset.saturating_sub(self.start));
        before.unwrap_or(self.text).matches('\n').count() + 1
    }
}

/// The known name that was meant, or all known names.
pub(crate) struct Meant<'a> {
    pub(crate) name: &'a str,
    pub(crate) known: &'a [&'a str],
}

impl fmt::Display for Meant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (nearest(self.name, self.known), self.known) {
            (Some(name), _) => write!(f, "did you mean {name:?}?"),
            (None, []) => f.write_str("none is defined"),
            (None, [only]) => write!(f, "there is only {only}"),
            (None, [names @ .., last]) => write!(f, "use {} or {last}", names.join(", ")),
        }
    }
}

/// Returns the known name that the given one misspells.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let slips = (name.chars().count() / 3).clamp(1, 3);
    known
        .iter()
        .map(|known| (strsim::osa_distance(name, known), *known))
        .filter(|(distance, _)| *distance <= slips)
        .min()
        .map(|(_, known)| known)
}

/// Returns a value of the file as a message may show it: hidden if it could be a misplaced key.
pub(crate) fn shown(value: &str) -> String {
    let secret = looks_like_a_key(value);
    if secret {
        "(hidden, it looks like a key)".to_owned()
    } else {
        format!("{value:?}")
    }
}

/// Returns whether this could be an API key: by its prefix, or because it is long, has digits among its letters and has
/// no words.
pub(crate) fn looks_like_a_key(value: &str) -> bool {
    let prefixed = ["sk-", "sk_", "key-", "Bearer ", "AIza", "gsk_", "xai-"]
        .iter()
        .any(|prefix| value.starts_with(prefix));
    let random = value.split(['-', '_', '.', '/', ':', ' ']).any(|part| {
        part.len() >= 20
            && part.contains(|c: char| c.is_ascii_digit())
            && part.contains(|c: char| c.is_ascii_alphabetic())
    });
    prefixed || random
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_names_that_are_a_slip_away() {
        let known = ["read_file", "write_file", "grep"];
        assert_eq!(nearest("raed_file", &known), Some("read_file"));
        assert_eq!(nearest("gerp", &known), Some("grep"));
        assert_eq!(nearest("browse", &known), None);
    }

    #[test]
    fn hides_what_could_be_a_key() {
        for key in [
            "sk-abc",
            "sk-proj-Zm9vYmFyYmF6cXV4",
            "AIzaSyD4",
            "0123456789abcdef0123456789abcdef",
        ] {
            assert!(!shown(key).contains(key), "{key}");
        }
        for name in [
            "openai/gpt-6.1-terra",
            "OPENAI_API_KEY",
            "claude-sonnet-5-5-20261021",
        ] {
            assert!(shown(name).contains(name), "{name}");
        }
    }
}
