//! The reader of commands.

use crate::{
    Certainty,
    fuzzing::first_line,
    shell::{Script, reader},
};

/// Checks the commands in a text: the input's first line is a pattern, and the rest the text.
///
/// What is one simple command for the reader is one for a second reader that knows no more than quotes, with the same
/// words. A pattern that allows a command would reject it as an entry of `deny` as well. A pattern of the command's
/// program, by its name without a folder, rejects it as such an entry.
///
/// # Panics
///
/// It does not.
pub fn check_shell(input: &[u8]) {
    let Some((pattern, text)) = first_line(input) else {
        return;
    };
    let found = reader::read(text);
    let again = reader::read(text);
    assert_eq!(format!("{found:?}"), format!("{again:?}"));
    let script = Script::read(text);
    check_allowed(&script, pattern, text);
    if let Some(prefix) = script.prefix() {
        assert!(script.is_covered(&prefix), "{prefix:?} {text:?}");
        check_allowed(&script, &prefix, text);
    }
    if !found.is_simple || !found.is_complete {
        assert!(!script.is_covered("*"), "{text:?}");
        return;
    }
    let [words] = found.commands.as_slice() else {
        assert!(!script.is_covered("*"), "{text:?}");
        return;
    };
    let read: Vec<_> = words.iter().map(|word| word.text()).collect();
    let split = split(text);
    assert!(split.is_some(), "not one simple command: {text:?}");
    let split = split.unwrap_or_default();
    assert_eq!(read.len(), split.len(), "{read:?} {split:?} {text:?}");
    for (word, expected) in read.iter().zip(&split) {
        assert!(
            word.as_ref().is_none_or(|word| word == expected),
            "{word:?} {expected:?} {text:?}"
        );
    }
    let program = split.first().and_then(|word| word.rsplit('/').next());
    let is_plain = |c: char| c.is_alphanumeric() || "_-.+".contains(c);
    let is_known = read.first().is_some_and(Option::is_some);
    if let Some(program) = program
        && is_known
        && !program.is_empty()
        && program.chars().all(is_plain)
    {
        let hit = script.hit(&format!("{program} *"));
        // What the shell makes of a `*` may be no word.
        let expected = match read.iter().all(Option::is_some) {
            true => Certainty::Yes,
            false => Certainty::Maybe,
        };
        assert!(hit >= expected, "{program} {text:?}");
    }
}

fn check_allowed(script: &Script, pattern: &str, text: &str) {
    if script.is_covered(pattern) {
        assert_eq!(script.hit(pattern), Certainty::Yes, "{pattern:?} {text:?}");
    }
}

/// The words of a text, if nothing in it is an operator, an expansion or a second line of the shell. Globs stay as they
/// are.
fn split(text: &str) -> Option<Vec<String>> {
    let joined = joined(text);
    // A line that continues in the next one does so at the end of the text, too.
    let is_blank = |(c, is_escaped): &(char, bool)| !is_escaped && " \t\n".contains(*c);
    let begin = joined.iter().position(|c| !is_blank(c));
    let end = joined.iter().rposition(|c| !is_blank(c));
    let all = begin
        .zip(end)
        .and_then(|(begin, end)| joined.get(begin..=end));
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = all.unwrap_or_default().iter().copied().peekable();
    while let Some((c, is_escaped)) = chars.next() {
        if is_escaped {
            word.get_or_insert_default().push(c);
            continue;
        }
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (_, '`') => return None,
            (_, '$') => {
                let next = chars.peek().filter(|(_, is_escaped)| !is_escaped);
                let begins = |c: char| c.is_ascii_alphanumeric() || "_@*#?-$!({[".contains(c);
                let quotes = |c: char| quote.is_none() && "'\"".contains(c);
                if next.is_some_and(|(c, _)| begins(*c) || quotes(*c)) {
                    return None;
                }
                word.get_or_insert_default().push('$');
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, ';' | '&' | '|' | '<' | '>' | '(' | ')' | '\n') => return None,
            (None, '#') if word.is_none() => return None,
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.take());
    quote.is_none().then_some(words)
}

/// Returns the characters of a text, and whether a backslash takes their meaning away; without lines that continue in
/// the next.
fn joined(text: &str) -> Vec<(char, bool)> {
    let mut joined = Vec::new();
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => match chars.next() {
                Some('\n') => {}
                Some(next) if quote.is_none() || "$`\"\\".contains(next) => {
                    joined.push((next, true));
                }
                Some(next) => joined.extend([('\\', true), (next, true)]),
                None => joined.push(('\\', true)),
            },
            _ => {
                match quote {
                    None if "'\"".contains(c) => quote = Some(c),
                    Some(open) if open == c => quote = None,
                    _ => {}
                }
                joined.push((c, false));
            }
        }
    }
    joined
}
