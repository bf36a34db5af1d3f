//! One field of a form of an MCP server: its kind, and the meaning of a typed line.

use serde_json::{Number, Value};

use crate::terminal::shown;

/// How much of a server's description of a field is shown.
const MAX_SHOWN: usize = 200;
/// The most choices of a field.
const MAX_CHOICES: usize = 100;

/// A field of a flat object, as its JSON Schema describes it.
#[derive(Debug, PartialEq)]
pub(crate) struct Field<'a> {
    /// The field's key in the answer.
    pub(crate) name: &'a str,
    about: Option<&'a str>,
    kind: Kind<'a>,
    needed: bool,
    default: Option<&'a Value>,
}

#[derive(Debug, PartialEq)]
enum Kind<'a> {
    Text,
    Whole,
    Number,
    YesNo,
    OneOf(Vec<Choice<'a>>),
    SomeOf(Vec<Choice<'a>>),
}

#[derive(Debug, PartialEq)]
struct Choice<'a> {
    value: &'a str,
    title: &'a str,
}

impl<'a> Field<'a> {
    /// Returns the field of this name. `None` if it is of a kind that MCP does not know.
    pub(crate) fn read(name: &'a str, schema: &'a Value, needed: bool) -> Option<Self> {
        let kind = match schema.get("type")?.as_str()? {
            "string" => choices(schema).map_or(Kind::Text, Kind::OneOf),
            "integer" => Kind::Whole,
            "number" => Kind::Number,
            "boolean" => Kind::YesNo,
            "array" => Kind::SomeOf(choices(schema.get("items")?)?),
            _ => return None,
        };
        let text = |key| schema.get(key).and_then(Value::as_str);
        Some(Self {
            name,
            about: text("description").or_else(|| text("title")),
            kind,
            needed,
            default: schema.get("default").filter(|value| !value.is_null()),
        })
    }

    /// Returns the lines that a person reads before the question, without control characters.
    pub(crate) fn introduction(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(about) = self.about {
            lines.push(format!("  {}", shown::short_line(about, MAX_SHOWN)));
        }
        if let Kind::OneOf(choices) | Kind::SomeOf(choices) = &self.kind {
            for (number, choice) in (1_usize..).zip(choices) {
                let title = shown::short_line(choice.title, MAX_SHOWN);
                lines.push(format!("    {number} {title}"));
            }
        }
        lines
    }

    /// Returns the question.
    pub(crate) fn question(&self) -> String {
        let kind = match self.kind {
            Kind::Text => "text",
            Kind::Whole => "a whole number",
            Kind::Number => "a number",
            Kind::YesNo => "yes or no",
            Kind::OneOf(_) => "a number of the list",
            Kind::SomeOf(_) => "numbers of the list, with commas",
        };
        let without = match (self.default, self.needed) {
            (Some(default), _) => {
                let default = shown::short_line(&default.to_string(), MAX_SHOWN);
                format!("nothing for {default}")
            }
            (None, true) => "needed".to_owned(),
            (None, false) => "nothing to leave it out".to_owned(),
        };
        let name = shown::short_line(self.name, MAX_SHOWN);
        format!("  {name} ({kind}; {without}): ")
    }

    /// Returns the meaning of a line: a value, or `None` for a field that is left out.
    ///
    /// # Errors
    ///
    /// What to type instead, for people.
    pub(crate) fn parse(&self, line: &str) -> Result<Option<Value>, String> {
        let line = line.trim();
        if line.is_empty() {
            return match (self.default, self.needed) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, false) => Ok(None),
                (None, true) => Err("it is needed".to_owned()),
            };
        }
        let value = match &self.kind {
            Kind::Text => Some(Value::from(line)),
            Kind::Whole => line.parse::<i64>().ok().map(Value::from),
            Kind::Number => line
                .parse::<i64>()
                .map(Number::from)
                .ok()
                .or_else(|| line.parse().ok().and_then(Number::from_f64))
                .map(Value::from),
            Kind::YesNo => match line.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Some(Value::Bool(true)),
                "n" | "no" | "false" => Some(Value::Bool(false)),
                _ => None,
            },
            Kind::OneOf(choices) => chosen(choices, line),
            Kind::SomeOf(choices) => line
                .split(',')
                .map(|part| chosen(choices, part.trim()))
                .collect::<Option<Vec<_>>>()
                .map(Value::from),
        };
        let wanted = match self.kind {
            Kind::YesNo => "write yes or no",
            Kind::Whole | Kind::Number => "that is no such number",
            _ => "that is not in the list",
        };
        value.map(Some).ok_or_else(|| wanted.to_owned())
    }
}

/// Returns the choices of a text: `oneOf` or `anyOf` with titles, or `enum`, whose titles may be beside it.
fn choices(schema: &Value) -> Option<Vec<Choice<'_>>> {
    let list = |key| schema.get(key).and_then(Value::as_array);
    let choices: Vec<Choice<'_>> = if let Some(titled) = list("oneOf").or_else(|| list("anyOf")) {
        titled
            .iter()
            .map(|item| {
                let value = item.get("const")?.as_str()?;
                let title = item.get("title").and_then(Value::as_str).unwrap_or(value);
                Some(Choice { value, title })
            })
            .collect::<Option<_>>()?
    } else {
        let titles = list("enumNames");
        list("enum")?
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let value = value.as_str()?;
                let title = titles.and_then(|titles| titles.get(at)?.as_str());
                Some(Choice {
                    value,
                    title: title.unwrap_or(value),
                })
            })
            .collect::<Option<_>>()?
    };
    (!choices.is_empty() && choices.len() <= MAX_CHOICES).then_some(choices)
}

/// Returns a choice by its number, counted from 1, or by its value.
fn chosen(choices: &[Choice<'_>], line: &str) -> Option<Value> {
    let number = line.parse::<usize>().ok();
    let by_number = number.and_then(|number| choices.get(number.checked_sub(1)?));
    let choice = by_number.or_else(|| choices.iter().find(|choice| choice.value == line))?;
    Some(Value::from(choice.value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(schema: &Value, line: &str) -> Result<Option<Value>, String> {
        Field::read("it", schema, true).unwrap().parse(line)
    }

    #[test]
    fn a_line_becomes_what_the_schema_wants() {
        let cases = [
            (json!({"type": "string"}), " Ada ", json!("Ada")),
            (json!({"type": "integer"}), "-7", json!(-7)),
            (json!({"type": "number"}), "7", json!(7)),
            (json!({"type": "number"}), "2.5", json!(2.5)),
            (json!({"type": "boolean"}), "Y", json!(true)),
            (json!({"type": "string", "default": "x"}), "", json!("x")),
            (
                json!({"type": "string", "enum": ["a", "b"]}),
                "2",
                json!("b"),
            ),
            (
                json!({"type": "string", "enum": ["a", "b"]}),
                "b",
                json!("b"),
            ),
            (
                json!({"type": "string", "oneOf": [{"const": "h", "title": "Hero"}]}),
                "1",
                json!("h"),
            ),
            (
                json!({"type": "array", "items": {"anyOf": [{"const": "f"}, {"const": "g"}]}}),
                "1, g",
                json!(["f", "g"]),
            ),
        ];
        for (schema, line, value) in cases {
            assert_eq!(parsed(&schema, line), Ok(Some(value)), "{schema} {line}");
        }
    }

    #[test]
    fn what_does_not_fit_is_asked_for_again() {
        let cases = [
            (json!({"type": "string"}), ""),
            (json!({"type": "integer"}), "1.5"),
            (json!({"type": "number"}), "NaN"),
            (json!({"type": "boolean"}), "maybe"),
            (json!({"type": "string", "enum": ["a"]}), "0"),
            (json!({"type": "string", "enum": ["a"]}), "2"),
            (json!({"type": "array", "items": {"enum": ["a"]}}), "1,2"),
        ];
        for (schema, line) in cases {
            assert!(parsed(&schema, line).is_err(), "{schema} {line}");
        }
        for schema in [
            json!({}),
            json!({"type": "object"}),
            json!({"type": "array"}),
        ] {
            assert_eq!(Field::read("it", &schema, true), None, "{schema}");
        }
    }

    #[test]
    fn a_field_is_introduced_without_what_a_terminal_obeys() {
        let schema = json!({
            "type": "string",
            "description": "Your \u{1b}[2Jpet\nnow",
            "enum": ["c", "d"],
            "enumNames": ["Cat\u{202e}", "Dog"],
            "default": "c",
        });
        let field = Field::read("p\u{7}", &schema, false).unwrap();
        let lines = [field.introduction().join("|"), field.question()].join("|");
        assert_eq!(
            lines,
            r#"  Your \u{1b}[2Jpet\nnow|    1 Cat\u{202e}|    2 Dog|  p\u{7} (a number of the list; nothing for "c"): "#
        );
    }
}
