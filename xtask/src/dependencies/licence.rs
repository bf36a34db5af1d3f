//! SPDX expressions of licences.

use std::iter::Peekable;
use std::vec::IntoIter;

/// Which licences hold together, and which are a choice.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Expression {
    /// A licence by its name, with ` WITH ` and the exception where it has one.
    Licence(String),
    All(Vec<Self>),
    Any(Vec<Self>),
}

type Words = Peekable<IntoIter<String>>;

impl Expression {
    /// Reads an expression. The old `A/B` is a choice.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut text = text.replace('/', " OR ");
        for bracket in ["(", ")"] {
            text = text.replace(bracket, &format!(" {bracket} "));
        }
        let words: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
        let mut words = words.into_iter().peekable();
        let expression = choice(&mut words)?;
        words.next().is_none().then_some(expression)
    }

    /// Returns whether licences that are allowed are enough.
    pub(super) fn holds(&self, is_allowed: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::Licence(name) => is_allowed(name),
            Self::All(parts) => parts.iter().all(|part| part.holds(is_allowed)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(is_allowed)),
        }
    }
}

fn choice(words: &mut Words) -> Option<Expression> {
    let mut parts = vec![together(words)?];
    while words.next_if(|word| word == "OR").is_some() {
        parts.push(together(words)?);
    }
    Some(Expression::Any(parts))
}

fn together(words: &mut Words) -> Option<Expression> {
    let mut parts = vec![single(words)?];
    while words.next_if(|word| word == "AND").is_some() {
        parts.push(single(words)?);
    }
    Some(Expression::All(parts))
}

fn single(words: &mut Words) -> Option<Expression> {
    let mut name = words.next()?;
    match name.as_str() {
        "(" => {
            let inner = choice(words)?;
            words.next_if(|word| word == ")")?;
            return Some(inner);
        }
        ")" | "OR" | "AND" | "WITH" => return None,
        _ => {}
    }
    if words.next_if(|word| word == "WITH").is_some() {
        name = format!("{name} WITH {}", words.next()?);
    }
    Some(Expression::Licence(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> bool {
        let expression = Expression::parse(text).expect(text);
        expression.holds(&|name| ["MIT", "ISC", "Apache-2.0"].contains(&name))
    }

    #[test]
    fn one_of_a_choice_and_all_of_a_sum_must_be_allowed() {
        for yes in [
            "MIT",
            "GPL-2.0-only OR MIT",
            "GPL-2.0-only/MIT",
            "ISC AND (Unlicense OR MIT)",
            "GPL-2.0-only AND ISC OR MIT",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(holds(yes), "{yes}");
        }
        for no in [
            "GPL-2.0-only",
            "MIT AND GPL-2.0-only",
            "(MIT OR ISC) AND Unlicense",
            "MIT AND GPL-2.0-only OR Unlicense",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(!holds(no), "{no}");
        }
    }

    #[test]
    fn what_is_no_expression_is_not_read() {
        for text in [
            "", "MIT OR", "(MIT", "MIT)", "MIT ISC", "AND MIT", "MIT WITH",
        ] {
            assert_eq!(Expression::parse(text), None, "{text}");
        }
    }
}
