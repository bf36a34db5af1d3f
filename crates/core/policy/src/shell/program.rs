//! Which programs execute others.

use crate::{
    glob::{Reach, fits_line},
    shell::word::Word,
};

/// Words of the shell's own before a command.
const RESERVED: [&str; 10] = [
    "!", "{", "}", "if", "then", "elif", "else", "while", "until", "do",
];

/// Programs and words of the shell that execute a command among their arguments.
pub(crate) const CARRIERS: [&str; 34] = [
    "builtin",
    "busybox",
    "case",
    "caffeinate",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "doas",
    "entr",
    "env",
    "exec",
    "find",
    "for",
    "function",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "nsenter",
    "pkexec",
    "run0",
    "select",
    "setpriv",
    "setsid",
    "stdbuf",
    "strace",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "unshare",
    "xargs",
];

/// Commands that execute what an argument says, as a shell would.
pub(crate) const EVALUATORS: [&str; 19] = [
    "ash", "bash", "dash", "eval", "flock", "ksh", "mksh", "parallel", "rbash", "runuser",
    "script", "sg", "sh", "ssh", "su", "toybox", "trap", "watch", "zsh",
];

/// The evaluators that execute commands of the shell's own.
const PASSING: [&str; 5] = ["builtin", "command", "coproc", "function", "time"];

/// Commands of the shell's own that execute a file, which may be what they read.
const SOURCES: [&str; 2] = [".", "source"];

/// Commands that execute what they read, if no argument says what.
pub(crate) const SHELLS: [&str; 8] = ["ash", "bash", "dash", "ksh", "mksh", "rbash", "sh", "zsh"];

/// Commands that add arguments that are not here to see.
pub(crate) const FEEDERS: [&str; 2] = ["parallel", "xargs"];

/// Returns whether one of these may execute what it reads.
pub(crate) fn has_shell(commands: &[Vec<Word>]) -> bool {
    commands.iter().any(|words| {
        let words = program_of(words);
        let is_known = |word: &Word| word.text().is_some();
        let carries = words
            .first()
            .is_some_and(|word| may_be_one_of(word, &CARRIERS));
        words.first().is_some_and(|word| !is_known(word))
            || words.iter().any(|word| is_one_of(word, &EVALUATORS))
            || starts(words).any(|(name, _)| is_source(name))
            || carries && !words.iter().all(is_known)
    })
}

/// Returns whether it executes a file in the shell itself.
pub(crate) fn is_source(name: &Word) -> bool {
    let is_known = |name: String| SOURCES.contains(&name.as_str());
    name.text().is_some_and(is_known)
}

/// The command, and each of the shell's own that it may execute, with the arguments.
pub(crate) fn starts(words: &[Word]) -> impl Iterator<Item = (&Word, &[Word])> {
    let words = program_of(words);
    let carries = words
        .first()
        .is_some_and(|word| may_be_one_of(word, &PASSING));
    let starts = if carries { words.len() } else { 1 };
    (0..starts).filter_map(|start| words.get(start..)?.split_first())
}

/// The command without assignments and words of the shell before it.
fn program_of(words: &[Word]) -> &[Word] {
    let start = words.iter().position(|word| !is_before_program(word));
    start
        .and_then(|start| words.get(start..))
        .unwrap_or_default()
}

pub(crate) fn is_before_program(word: &Word) -> bool {
    let is_reserved = |word: String| RESERVED.contains(&word.as_str());
    word.is_assignment() || word.plain().is_some_and(is_reserved)
}

/// Returns whether the program of this name is one of these.
pub(crate) fn is_one_of(word: &Word, names: &[&str]) -> bool {
    names
        .iter()
        .any(|name| fits_line(name, word.program(), Reach::Wide))
}

/// Returns whether the program of this name is one of these, or may be as far as is known.
pub(crate) fn may_be_one_of(word: &Word, names: &[&str]) -> bool {
    names
        .iter()
        .any(|name| fits_line(name, word.program(), Reach::Possible))
}
