//! Reads a script into its commands, as a POSIX shell and Bash do.

use crate::shell::{
    document::Document,
    evaluated::{Evaluation, may_evaluate, plants},
    program::has_shell,
    word::Word,
};

/// How deep commands in commands are read.
const MAX_DEPTH: usize = 12;

/// What was found in a script.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The words of each command, of those inside others too.
    pub(crate) commands: Vec<Vec<Word>>,
    /// Whether it is one command without operators, expansions, assignments and comments.
    pub(crate) is_simple: bool,
    /// Whether these are all commands.
    pub(crate) is_complete: bool,
    /// What the shell may evaluate of texts that it was not given as commands.
    pub(crate) evaluation: Evaluation,
}

/// Reads a script.
pub(crate) fn read(text: &str) -> Found {
    let mut reader = Reader::new(text, 0);
    reader.commands(Closing::End);
    reader.into_found()
}

/// Where a list of commands ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closing {
    End,
    /// At a `)`. If it is one of two, what is inside may be arithmetic.
    Parenthesis {
        is_double: bool,
    },
}

/// What becomes of the word after an operator.
#[derive(Debug, Clone, Copy)]
enum Operand {
    /// It names a file.
    File,
    /// It is what a command reads.
    Text,
    /// It ends a document.
    End { is_indented: bool },
}

/// A command under way.
#[derive(Debug, Default)]
struct Command {
    words: Vec<Word>,
    /// Where another shell sees the first word of another command.
    also: Vec<usize>,
    word: Option<Word>,
    operand: Option<Operand>,
}

impl Command {
    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    found: Found,
    /// Documents that begin after this line.
    documents: Vec<Document>,
    /// What commands read, as far as it is known.
    texts: Vec<Option<String>>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        Self {
            rest: text,
            depth,
            found: Found {
                commands: Vec::new(),
                is_simple: true,
                is_complete: true,
                evaluation: Evaluation::default(),
            },
            documents: Vec::new(),
            texts: Vec::new(),
        }
    }

    fn into_found(mut self) -> Found {
        // A shell among the commands executes the texts, by whatever way they reach it.
        while has_shell(&self.found.commands)
            && let Some(text) = self.texts.pop()
        {
            match text {
                Some(text) => self.inner(&text, |reader| reader.commands(Closing::End)),
                None => self.not_complete(),
            }
        }
        if self.found.evaluation.is_possible(&self.found.commands) {
            self.not_complete();
        }
        let is_evaluated = |words: &Vec<Word>| may_evaluate(words);
        self.found.is_simple &= !self.found.commands.iter().any(is_evaluated);
        let is_assignment = |words: &Vec<Word>| words.first().is_some_and(Word::is_assignment);
        let commands = &self.found.commands;
        self.found.is_simple &= commands.len() == 1 && !commands.iter().any(is_assignment);
        self.found
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    /// Continues in the next line, if this one does.
    fn join_lines(&mut self) {
        while self.skip("\\\n") {}
    }

    /// Returns whether this follows, where a line may continue in the next.
    fn is_next(&mut self, text: &str) -> bool {
        self.join_lines();
        self.rest.starts_with(text)
    }

    /// As `skip`, where a line may continue in the next.
    fn skip_joined(&mut self, text: &str) -> bool {
        self.join_lines();
        self.skip(text)
    }

    /// Continues behind a text, if the text is what follows.
    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest.trim_start_matches(wanted);
        let length = self.rest.len() - rest.len();
        let skipped = self.rest.get(..length).unwrap_or_default();
        self.rest = rest;
        skipped
    }

    fn not_simple(&mut self) {
        self.found.is_simple = false;
    }

    /// Something cannot be read, or not without executing it.
    fn not_complete(&mut self) {
        self.found.is_simple = false;
        self.found.is_complete = false;
    }

    fn commands(&mut self, closing: Closing) {
        let mut command = Command::default();
        let mut level = 0_usize;
        // The level of parentheses from which on this may be arithmetic.
        let mut arithmetic = (closing == Closing::Parenthesis { is_double: true }).then_some(0);
        while let Some(c) = self.next() {
            match c {
                ' ' | '\t' => self.end_word(&mut command),
                '\n' => {
                    self.end_command(&mut command);
                    self.end_line();
                }
                '&' if self.skip_joined(">") => {
                    // Bash redirects. Other shells have a command before, and one after.
                    self.end_word(&mut command);
                    let start = command.words.len();
                    command.also.push(start);
                    self.redirect('>', false, &mut command);
                }
                ';' | '|' | '&' => {
                    self.not_simple();
                    self.end_command(&mut command);
                }
                '<' | '>' => self.redirect(c, arithmetic.is_some(), &mut command),
                '(' => {
                    self.not_simple();
                    self.end_command(&mut command);
                    level += 1;
                    if self.is_next("(") && arithmetic.is_none() {
                        self.found.evaluation.calculates = true;
                        arithmetic = Some(level);
                    }
                }
                ')' => {
                    self.not_simple();
                    self.end_command(&mut command);
                    match level.checked_sub(1) {
                        Some(outer) => level = outer,
                        None if closing == Closing::End => {}
                        None => {
                            if !self.documents.is_empty() {
                                self.not_complete();
                            }
                            return;
                        }
                    }
                    if arithmetic.is_some_and(|at| level < at) {
                        arithmetic = None;
                    }
                }
                '#' if command.word.is_none() => {
                    self.not_simple();
                    if arithmetic.is_some() {
                        self.not_complete();
                    }
                    self.skip_while(|c| c != '\n');
                }
                c => self.part_of_word(c, &mut command, closing != Closing::End || level > 0),
            }
        }
        self.end_command(&mut command);
        if closing != Closing::End || level > 0 {
            self.not_complete();
        }
    }

    fn part_of_word(&mut self, c: char, command: &mut Command, is_inside: bool) {
        match c {
            '\\' => match self.next() {
                Some('\n') => {}
                Some(c) => {
                    let word = command.word();
                    word.is_quoted = true;
                    word.push(c);
                }
                None => self.not_complete(),
            },
            '\'' => {
                let word = command.word();
                word.is_quoted = true;
                let text = self.skip_while(|c| c != '\'');
                text.chars().for_each(|c| word.push(c));
                if !self.skip("'") {
                    self.not_complete();
                }
            }
            '"' => {
                let word = command.word();
                word.is_quoted = true;
                self.quoted(word, true);
            }
            '$' => self.dollar(command.word(), false),
            '`' => self.backticks(command.word(), false),
            '*' | '?' => command.word().push_unknown(false),
            '[' => self.bracket(command.word()),
            '{' if self.skip("}") => {
                let word = command.word();
                word.push('{');
                word.push('}');
                self.not_simple();
            }
            '{' => {
                self.not_simple();
                if command.word.is_none() && ends_word(self.rest) {
                    command.word().push('{');
                } else {
                    // Several words, maybe.
                    command.word().cut('{');
                }
            }
            '}' | '!' => {
                self.not_simple();
                command.word().push(c);
            }
            c => {
                let is_strange = c.is_control() || (c.is_whitespace() && !c.is_ascii());
                if is_strange {
                    self.not_simple();
                }
                let word = command.word();
                word.push(c);
                // The parentheses of its patterns would end what is around it.
                let can_be_case = is_inside && word.pieces().len() == 4;
                if can_be_case && word.plain().is_some_and(|word| word == "case") {
                    self.not_complete();
                }
            }
        }
    }

    fn end_word(&mut self, command: &mut Command) {
        let Some(word) = command.word.take() else {
            return;
        };
        self.found.evaluation.plants |= plants(word.written());
        match command.operand.take() {
            None => command.words.push(word),
            Some(Operand::File) => {}
            Some(Operand::Text) => self.texts.push(word.text()),
            Some(Operand::End { is_indented }) => match word.text() {
                Some(end) => self.documents.push(Document {
                    end,
                    is_indented,
                    is_literal: word.is_quoted,
                }),
                None => self.not_complete(),
            },
        }
    }

    fn end_command(&mut self, command: &mut Command) {
        self.end_word(command);
        if command.operand.is_some() {
            self.not_complete();
        }
        let Command { words, also, .. } = std::mem::take(command);
        for start in also {
            let words = words.get(start..).unwrap_or_default();
            if !words.is_empty() {
                self.found.commands.push(words.to_vec());
            }
        }
        if !words.is_empty() {
            self.found.commands.push(words);
        }
    }

    /// Reads the documents of the line that ends here.
    fn end_line(&mut self) {
        if !self.rest.trim().is_empty() {
            self.not_simple();
        }
        for document in std::mem::take(&mut self.documents) {
            let Some((text, rest)) = document.split(self.rest) else {
                self.not_complete();
                return;
            };
            self.rest = rest.strip_prefix('\n').unwrap_or(rest);
            self.found.evaluation.plants |= plants(text);
            if !document.is_literal {
                // A line may continue in the next, and the document end there.
                if text.contains("\\\n") {
                    self.not_complete();
                }
                self.inner(text, |reader| reader.quoted(&mut Word::default(), false));
            }
            self.texts.push(Some(text.to_owned()));
        }
    }

    fn redirect(&mut self, operator: char, is_arithmetic: bool, command: &mut Command) {
        self.not_simple();
        if self.skip_joined("(") {
            command.word().push_unknown(false);
            self.substitution();
            return;
        }
        let is_number = |word: String| word.chars().all(|c| c.is_ascii_digit());
        if command.operand.is_none()
            && command
                .word
                .as_ref()
                .and_then(Word::plain)
                .is_some_and(is_number)
        {
            command.word = None;
        }
        self.end_word(command);
        if command.operand.is_some() {
            self.not_complete();
        }
        let is_double = operator == '<' && self.skip_joined("<");
        let operand = match is_double {
            true if self.skip_joined("<") => Operand::Text,
            true if !is_arithmetic => Operand::End {
                is_indented: self.skip_joined("-"),
            },
            _ => {
                let mut rest = ["<", ">", "|", "&"].into_iter();
                rest.any(|rest| self.skip_joined(rest));
                Operand::File
            }
        };
        command.operand = Some(operand);
    }

    /// Reads what is in double quotes, or in a document, which no quote ends.
    fn quoted(&mut self, word: &mut Word, ends: bool) {
        while let Some(c) = self.next() {
            match c {
                '"' if ends => return,
                '\\' => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => word.push(c),
                    Some(c) => {
                        word.push('\\');
                        word.push(c);
                    }
                    None => {}
                },
                '$' => self.dollar(word, true),
                '`' => self.backticks(word, true),
                c => word.push(c),
            }
        }
        if ends {
            self.not_complete();
        }
    }

    /// Reads what follows a `$`.
    fn dollar(&mut self, word: &mut Word, is_quoted: bool) {
        self.join_lines();
        if !is_quoted && self.skip("'") {
            self.ansi_quoted(word);
            return;
        }
        if !is_quoted && self.skip("\"") {
            self.not_simple();
            word.is_quoted = true;
            self.quoted(word, true);
            return;
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if self.skip("(") {
            self.substitution();
        } else if self.skip("{") {
            self.braces(is_quoted);
            self.not_simple();
            word.push_unknown(false);
            return;
        } else if self.skip("[") {
            // Arithmetic of old, which ends where only a shell knows.
            self.not_complete();
        } else if self
            .rest
            .starts_with(|c: char| c.is_ascii_digit() || "@*#?-$!".contains(c))
        {
            // Even in quotes it may be several words.
            self.next();
            self.not_simple();
            word.push_unknown(false);
            return;
        } else if self.skip_while(is_name).is_empty() {
            word.push('$');
            return;
        } else if self.rest.starts_with("\\\n") {
            // The name may continue in the next line.
            self.not_complete();
        }
        self.not_simple();
        word.push_unknown(is_quoted);
    }

    fn ansi_quoted(&mut self, word: &mut Word) {
        self.not_simple();
        word.is_quoted = true;
        while let Some(c) = self.next() {
            match c {
                '\'' => return,
                '\\' => {
                    self.next();
                    word.push_unknown(true);
                }
                c => word.push(c),
            }
        }
        self.not_complete();
    }

    /// The commands of `$(…)` and `<(…)`, whose start is read.
    fn substitution(&mut self) {
        self.not_simple();
        if self.depth >= MAX_DEPTH {
            self.not_complete();
            self.rest = "";
            return;
        }
        self.depth += 1;
        let is_double = self.is_next("(");
        self.found.evaluation.calculates |= is_double;
        // The documents of this line begin after it, and not inside.
        let documents = std::mem::take(&mut self.documents);
        self.commands(Closing::Parenthesis { is_double });
        self.documents.splice(0..0, documents);
        self.depth -= 1;
    }

    /// Reads what follows `${`.
    fn braces(&mut self, is_quoted: bool) {
        // Bash executes commands in these.
        if self
            .rest
            .starts_with([' ', '\t', '\n', '|', '('].as_slice())
        {
            self.not_complete();
        }
        if self.depth >= MAX_DEPTH {
            self.not_complete();
            self.rest = "";
            return;
        }
        self.depth += 1;
        let mut inside = Word::default();
        // A variable that another names.
        self.found.evaluation.calculates |= self.rest.starts_with('!');
        loop {
            match self.next() {
                Some('}') => break,
                // The place in a list, or in a text.
                Some('[' | ':') => self.found.evaluation.calculates = true,
                // A prompt, whose commands are executed.
                Some('@') if self.rest.starts_with("P}") => self.not_complete(),
                Some('\\') => {
                    self.next();
                }
                // Whether it quotes is not the same in all shells.
                Some('\'') if is_quoted => self.not_complete(),
                Some('\'') => {
                    self.skip_while(|c| c != '\'');
                    if !self.skip("'") {
                        self.not_complete();
                    }
                }
                Some('"') => self.quoted(&mut inside, true),
                Some('$') => self.dollar(&mut inside, is_quoted),
                Some('`') => self.backticks(&mut inside, is_quoted),
                Some(_) => {}
                None => {
                    self.not_complete();
                    break;
                }
            }
        }
        self.depth -= 1;
    }

    fn backticks(&mut self, word: &mut Word, is_quoted: bool) {
        self.not_simple();
        word.push_unknown(is_quoted);
        let mut inside = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(c @ ('$' | '`' | '\\')) => inside.push(c),
                    Some('"') if is_quoted => inside.push('"'),
                    Some(c) => {
                        inside.push('\\');
                        inside.push(c);
                    }
                    None => self.not_complete(),
                },
                Some(c) => inside.push(c),
                None => {
                    self.not_complete();
                    break;
                }
            }
        }
        self.inner(&inside, |reader| reader.commands(Closing::End));
    }

    /// Reads what may be one of several characters, or a word of the shell.
    fn bracket(&mut self, word: &mut Word) {
        let is_word = |text: &str| self.rest.strip_prefix(text).is_some_and(ends_word);
        if word.pieces().is_empty() && (is_word("") || is_word("[")) {
            word.push('[');
            if self.skip("[") {
                word.push('[');
            }
        } else {
            // The names of files may have any of what follows.
            word.cut('[');
        }
    }

    /// Reads a text that is part of this script.
    fn inner(&mut self, text: &str, read: impl FnOnce(&mut Reader<'_>)) {
        if self.depth >= MAX_DEPTH {
            self.not_complete();
            return;
        }
        let mut reader = Reader::new(text, self.depth + 1);
        read(&mut reader);
        self.found.is_complete &= reader.found.is_complete;
        self.found.evaluation.add(&reader.found.evaluation);
        self.found.commands.extend(reader.found.commands);
        self.texts.extend(reader.texts);
    }
}

/// Returns whether a word is over where this follows.
fn ends_word(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t', '\n'].as_slice())
}
