//! The ways in which a command may be named.

use crate::{
    glob::Piece,
    shell::{
        program::{
            CARRIERS, EVALUATORS, FEEDERS, SHELLS, is_before_program, is_one_of, may_be_one_of,
        },
        reader,
        word::Word,
    },
};

/// How many words of a command are looked at as the first of another.
const MAX_STARTS: usize = 64;

/// How deep commands in arguments of commands are looked at.
const MAX_DEPTH: usize = 4;

/// What patterns that restrict are compared with.
#[derive(Debug, Default)]
pub(crate) struct Views {
    pub(crate) lines: Vec<Vec<Piece>>,
    /// Whether there can be no command but these.
    pub(crate) is_complete: bool,
}

/// Returns each command in all the ways in which it may be named: without assignments and words of the shell before it,
/// as an argument of a program that executes it, and without the folder of its program.
pub(crate) fn views(commands: &[Vec<Word>]) -> Views {
    let mut views = Views {
        lines: Vec::new(),
        is_complete: true,
    };
    for command in commands {
        views.add(command, MAX_DEPTH);
    }
    views
}

/// The command as one line. What may be several words or none has no gaps beside it.
pub(crate) fn line_of(words: &[Word]) -> Vec<Piece> {
    let mut line = Vec::new();
    let mut was_open = true;
    for word in words {
        let is_open = word.is_gone();
        if !was_open && !is_open {
            line.push(Piece::Gap);
        }
        line.extend_from_slice(word.pieces());
        was_open = is_open;
    }
    line
}

impl Views {
    fn add(&mut self, words: &[Word], depth: usize) {
        let mut rest = words;
        while let Some((first, following)) = rest.split_first() {
            self.add_line(first, following);
            if !is_before_program(first) {
                break;
            }
            rest = following;
        }
        let Some((first, arguments)) = rest.split_first() else {
            return;
        };
        let evaluates = may_be_one_of(first, &EVALUATORS);
        if !evaluates && !may_be_one_of(first, &CARRIERS) {
            return;
        }
        let feeds = may_be_one_of(first, &FEEDERS);
        self.is_complete &= arguments.len() <= MAX_STARTS;
        for start in 0..arguments.len().min(MAX_STARTS) {
            let Some((first, following)) = arguments.get(start..).and_then(<[Word]>::split_first)
            else {
                continue;
            };
            if feeds {
                let mut longer = following.to_vec();
                longer.push(Word::unknown());
                self.add_line(first, &longer);
            } else {
                self.add_line(first, following);
            }
        }
        // env splits a text into words.
        let splits = |word: &Word| is_option(word) && word.pieces().contains(&Piece::Char('S'));
        if is_one_of(first, &["env"]) && arguments.iter().any(splits) {
            self.is_complete = false;
        }
        let evaluator = match evaluates {
            true => Some(0),
            false => rest.iter().position(|word| is_one_of(word, &EVALUATORS)),
        };
        let evaluator = evaluator.and_then(|start| rest.get(start..)?.split_first());
        if let Some((evaluator, arguments)) = evaluator {
            self.evaluate(evaluator, arguments, depth);
        }
    }

    /// Adds what a program executes that takes its arguments for scripts.
    fn evaluate(&mut self, program: &Word, arguments: &[Word], depth: usize) {
        if is_one_of(program, &SHELLS) && arguments.iter().all(is_option) {
            self.is_complete = false;
        }
        for argument in arguments {
            self.add_script(argument.text(), depth);
        }
        let whole: Option<Vec<String>> = arguments.iter().map(Word::text).collect();
        self.add_script(whole.map(|words| words.join(" ")), depth);
    }

    /// Adds a command under its name, and without the folder of its program.
    fn add_line(&mut self, first: &Word, following: &[Word]) {
        let mut line = line_of(std::slice::from_ref(first));
        let program = first.program().to_vec();
        let has_folder = program.len() < first.pieces().len();
        let follows = line_of(following);
        let has_gap = !first.is_gone() && following.first().is_some_and(|word| !word.is_gone());
        let gap = has_gap.then_some(Piece::Gap);
        line.extend(gap.into_iter().chain(follows.iter().copied()));
        self.lines.push(line);
        if has_folder {
            let line = program.into_iter().chain(gap).chain(follows);
            self.lines.push(line.collect());
        }
    }

    /// Adds the commands of an argument that may be a script. One that is not known may be any.
    fn add_script(&mut self, text: Option<String>, depth: usize) {
        let Some(text) = text else {
            self.is_complete = false;
            return;
        };
        let is_script = text.contains(|c: char| c.is_whitespace() || ";&|<>()$`\\'\"".contains(c));
        if !is_script {
            return;
        }
        let Some(depth) = depth.checked_sub(1) else {
            self.is_complete = false;
            return;
        };
        let found = reader::read(&text);
        self.is_complete &= found.is_complete;
        for command in &found.commands {
            self.add(command, depth);
        }
    }
}

fn is_option(word: &Word) -> bool {
    word.pieces().first() == Some(&Piece::Char('-'))
}
