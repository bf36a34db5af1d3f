//! Commands of the shell's own that evaluate their arguments once more, although these are quoted: `test -v 'x[$(ls)]'`
//! executes `ls`.

use crate::{
    glob::Piece,
    shell::{
        program::{is_one_of, is_source, may_be_one_of, starts},
        word::Word,
    },
};

/// Commands that execute what an argument says.
const EXECUTING: [&str; 8] = [
    "bind",
    "compgen",
    "complete",
    "eval",
    "fc",
    "mapfile",
    "readarray",
    "trap",
];

/// Commands that take names of variables, or calculate: they evaluate what is in the brackets of a name.
const NAMING: [&str; 4] = ["let", "read", "unset", "wait"];

/// Commands that set variables, some of them lists, whose elements they evaluate.
const DECLARING: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

/// Commands that do so behind an operator only.
const TESTING: [&str; 2] = ["[", "test"];

/// Operators before or between names of variables and numbers.
const OPERATORS: [&str; 8] = ["-R", "-eq", "-ge", "-gt", "-le", "-lt", "-ne", "-v"];

/// Variables whose text the shell evaluates.
const EVALUATED: [&str; 5] = ["BASH_ENV=", "ENV=", "PROMPT_COMMAND=", "PS0=", "PS4="];

/// Where a script makes the shell evaluate texts that are no commands of the script.
#[derive(Debug, Default)]
pub(crate) struct Evaluation {
    /// It calculates, or takes a variable by a name that it makes: what the variables hold is evaluated.
    pub(crate) calculates: bool,
    /// It holds a text which is executed where it is evaluated.
    pub(crate) plants: bool,
}

impl Evaluation {
    pub(crate) fn add(&mut self, other: &Self) {
        self.calculates |= other.calculates;
        self.plants |= other.plants;
    }

    /// Returns whether there may be commands besides these, in texts that these evaluate.
    pub(crate) fn is_possible(&self, commands: &[Vec<Word>]) -> bool {
        // The operators of a test are read as those between commands.
        let tests = commands.iter().any(|words| words.iter().any(is_brackets));
        let mut evaluates = self.calculates;
        for words in commands {
            if words.iter().any(sets_evaluated) {
                return true;
            }
            let is_test = tests && words.iter().any(is_operator);
            let mut names = words.iter().filter(|word| !is_brackets(word));
            if is_test && names.any(is_evaluated) {
                return true;
            }
            for (name, arguments) in starts(words) {
                let kind = Kind::of(name, arguments);
                // What these execute is read as a script of its own.
                let is_read = is_one_of(name, &["eval", "trap"]);
                if !is_read && kind.is_some_and(|kind| kind.has_evaluated(arguments)) {
                    return true;
                }
                evaluates |= kind.is_some();
            }
            evaluates |= is_test || words.iter().any(sets_element);
        }
        evaluates && self.plants
    }
}

/// Returns whether a simple command may evaluate an argument. What is not known of one may be anything: the name of a
/// file, say.
pub(crate) fn may_evaluate(words: &[Word]) -> bool {
    starts(words).any(|(name, arguments)| match Kind::of(name, arguments) {
        None => false,
        Some(Kind::Executing) => true,
        Some(kind) => kind.has_evaluated(arguments) || arguments.iter().any(Word::is_unknown),
    })
}

/// Returns whether a text has a command in the brackets of a name.
pub(crate) fn plants(text: &str) -> bool {
    let inside = text.split_once('[');
    inside.is_some_and(|(_, inside)| inside.contains("$(") || inside.contains('`'))
}

/// How a command evaluates its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Executing,
    Naming,
    /// It sets lists, whose elements it evaluates.
    Listing,
}

impl Kind {
    fn of(name: &Word, arguments: &[Word]) -> Option<Self> {
        let may_have = |wanted: &[&str]| arguments.iter().any(|word| may_be_one_of(word, wanted));
        let has_option = |letters: &[char]| {
            let is_one = |word: &Word| {
                let is_option = word.written().starts_with(['-', '+']);
                is_option && word.written().contains(letters)
            };
            arguments.iter().any(is_one)
        };
        let may_begin = |start: &str| {
            let first = arguments.first();
            first.is_some_and(|word| may_start_with(word, start))
        };
        if may_be_one_of(name, &EXECUTING) {
            let is_list = may_be_one_of(name, &["mapfile", "readarray"]);
            let executes = !is_list || has_option(&['C']) || arguments.iter().any(Word::is_unknown);
            return Some(if executes {
                Self::Executing
            } else {
                Self::Naming
            });
        }
        // No expansion is an operator in double brackets.
        if is_brackets(name) {
            let mut arguments = arguments.iter();
            return arguments.any(is_operator).then_some(Self::Naming);
        }
        if may_be_one_of(name, &TESTING) {
            return may_have(&OPERATORS).then_some(Self::Naming);
        }
        if may_be_one_of(name, &["printf"]) {
            return may_begin("-v").then_some(Self::Naming);
        }
        if may_be_one_of(name, &DECLARING) && has_option(&['a', 'A']) {
            return Some(Self::Listing);
        }
        let is_naming = may_be_one_of(name, &NAMING) || may_be_one_of(name, &DECLARING);
        (is_naming || is_source(name)).then_some(Self::Naming)
    }

    /// Returns whether one of the arguments is evaluated, as far as they are written.
    fn has_evaluated(self, arguments: &[Word]) -> bool {
        match self {
            Self::Executing => true,
            Self::Listing if arguments.iter().any(Word::is_unknown) => true,
            Self::Listing | Self::Naming => arguments.iter().any(is_evaluated),
        }
    }
}

/// Returns whether something in it is evaluated where it is the name of a variable, a number or the element of a list.
fn is_evaluated(word: &Word) -> bool {
    let text = word.written();
    text.contains(['[', '$', '`']) || text.contains("<(") || text.contains(">(")
}

/// Returns whether a test begins here whose operators are words of the shell.
fn is_brackets(word: &Word) -> bool {
    word.plain().as_deref() == Some("[[")
}

fn is_operator(word: &Word) -> bool {
    let is_known = |text: String| OPERATORS.contains(&text.as_str());
    word.plain().is_some_and(is_known)
}

/// Returns whether it sets a variable whose text the shell evaluates.
fn sets_evaluated(word: &Word) -> bool {
    let is_one = |name: &str| word.written().starts_with(name);
    EVALUATED.into_iter().any(is_one) && (is_evaluated(word) || word.is_unknown())
}

/// Returns whether it sets an element of a list, whose place the shell calculates.
fn sets_element(word: &Word) -> bool {
    let name = word.written().split('=').next();
    let sets = word.is_assignment() || word.written().starts_with('{');
    sets && name.is_some_and(|name| name.contains('['))
}

/// Returns whether its first characters are these, or may be.
fn may_start_with(word: &Word, start: &str) -> bool {
    let mut pieces = word.pieces().iter();
    for c in start.chars() {
        match pieces.next() {
            Some(Piece::Unknown) => return true,
            Some(Piece::Char(found)) if *found == c => {}
            _ => return false,
        }
    }
    true
}
