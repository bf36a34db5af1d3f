//! The JSON Schema of agent files.

use std::{collections::BTreeSet, fs, path::Path, sync::LazyLock};

use jsonschema::Validator;
use neuron_config::{AgentFile, AgentFileError};
use serde_json::{Value, json};

static SCHEMA: LazyLock<Value> = LazyLock::new(AgentFile::schema);

static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&SCHEMA).unwrap());

/// A key that no table has.
const UNKNOWN: &str = "nothing_has_this_key";

/// What the messages about values of a wrong kind ask for.
const WRONG_KINDS: [&str; 11] = [
    "write a text in quotes",
    "write a list of texts in quotes",
    "write a list of names in quotes",
    "write a table",
    "write true or false",
    "write a whole number of at least",
    "write a number of at least",
    "write a size with its unit",
    "write an amount of US dollars",
    "write a duration with its unit",
    "unknown key",
];

/// Checks that the schema accepts a file that is valid, and rejects one with an unknown key or a value of a wrong kind.
pub(crate) fn agrees(text: &str, error: Option<&AgentFileError>) {
    let Ok(file) = toml::from_str::<Value>(text) else {
        return;
    };
    match error {
        None => assert_accepted(&file, text),
        Some(AgentFileError::Invalid { problems, .. }) => {
            let wrong = problems.iter().find(|problem| {
                let message = &problem.message;
                // JSON does not know how a number was written, and a pattern does not know how much is too much.
                let is_hex = message.contains(" is 0x");
                let is_huge = message
                    .split(|c: char| !c.is_ascii_digit())
                    .any(|digits| digits.len() > 12);
                !is_hex && !is_huge && WRONG_KINDS.iter().any(|wrong| message.contains(wrong))
            });
            if let Some(wrong) = wrong {
                assert!(!VALIDATOR.is_valid(&file), "{}: {text}", wrong.message);
            }
        }
        Some(_) => {}
    }
}

fn assert_accepted(file: &Value, text: &str) {
    let errors = VALIDATOR.iter_errors(file);
    let errors: Vec<String> = errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
}

#[test]
fn is_one_of_its_draft() {
    assert_eq!(
        SCHEMA["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert!(jsonschema::meta::is_valid(&SCHEMA));
}

#[test]
fn accepts_every_sample_of_the_book() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let pages = fs::read_dir(root.join("docs/src")).unwrap();
    let pages = pages.map(|page| page.unwrap().path());
    let mut samples = 0;
    for page in pages.chain([root.join("README.md")]) {
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap();
            // A manifest of Cargo is no agent file.
            if !block.contains("dependencies]") {
                let mut file: Value = toml::from_str(block).unwrap();
                let known = SCHEMA["properties"].as_object().unwrap();
                // A few samples are the keys of an agent.
                if file
                    .as_object()
                    .unwrap()
                    .keys()
                    .any(|key| !known.contains_key(key))
                {
                    file = json!({ "agents": { "x": file } });
                }
                assert_accepted(&file, block);
                samples += 1;
            }
        }
    }
    assert!(samples > 30, "{samples}");
}

/// A table of the schema: its heading in a file with the lines that it needs, and its keys.
struct Listed {
    heading: String,
    keys: BTreeSet<String>,
}

fn names(list: &Value) -> BTreeSet<String> {
    let names = list.as_array().unwrap().iter();
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// Adds the tables of a schema that stand under headings of their own. The tables above them need the lines `before`.
fn tables<'s>(schema: &'s Value, path: &[&'s str], before: &str, found: &mut Vec<Listed>) {
    let below = |key: &'s str| -> Vec<&'s str> { [path, &[key]].concat() };
    let heading = match path {
        [] => String::new(),
        path => format!("{before}[{}]\n", path.join(".")),
    };
    for form in schema["anyOf"].as_array().into_iter().flatten() {
        tables(form, path, before, found);
    }
    if schema["additionalProperties"].is_object() {
        tables(&schema["additionalProperties"], &below("x"), before, found);
    }
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    let Some(kinds) = schema["allOf"].as_array() else {
        for (key, schema) in properties {
            tables(schema, &below(key), before, found);
        }
        let keys = properties.keys().cloned().collect();
        found.push(Listed { heading, keys });
        return;
    };
    for rule in kinds {
        let kind = &rule["if"]["properties"]["kind"]["const"];
        let heading = format!("{heading}kind = {kind}\n");
        let keys = names(&rule["then"]["propertyNames"]["enum"]);
        for (key, schema) in properties {
            if keys.contains(key) {
                tables(schema, &below(key), &heading, found);
            }
        }
        found.push(Listed { heading, keys });
    }
}

/// Returns the keys that the message about an unknown key names.
fn known_keys(file: &str) -> BTreeSet<String> {
    let error = AgentFile::parse(file, "neuron.toml").expect_err(file);
    let AgentFileError::Invalid { problems, .. } = error else {
        panic!("{error}: {file}");
    };
    let about = problems
        .iter()
        .find(|problem| problem.message.contains(UNKNOWN));
    let message = &about
        .unwrap_or_else(|| panic!("{problems:?}: {file}"))
        .message;
    let list = message
        .split_once(": use ")
        .or_else(|| message.split_once(": there is only "))
        .or_else(|| message.split_once(", expected one of "));
    let list = list.unwrap_or_else(|| panic!("{message}")).1;
    let names = list.replace(" or ", ", ").replace('`', "");
    names.split(", ").map(ToOwned::to_owned).collect()
}

#[test]
fn has_the_keys_that_are_read() {
    let mut found = Vec::new();
    tables(&SCHEMA, &[], "", &mut found);
    for Listed { heading, keys } in &found {
        let file = format!("{heading}{UNKNOWN} = 1\n");
        assert_eq!(&known_keys(&file), keys, "{file}");
        assert!(
            !VALIDATOR.is_valid(&toml::from_str(&file).unwrap()),
            "{file}"
        );
    }
    assert!(found.len() > 50, "{}", found.len());
    // The tables in lists have no heading.
    for (key, entry) in [
        ("ask", &["call"][..]),
        ("subagents", &["name"]),
        ("handoffs", &["name"]),
        ("tools", &["name"]),
    ] {
        let schema = &SCHEMA["properties"]["agents"]["additionalProperties"]["properties"][key];
        let entries = schema["items"]["anyOf"][1]["properties"]
            .as_object()
            .unwrap();
        let mut keys: BTreeSet<String> = entries.keys().cloned().collect();
        let file = format!(
            "[agents.a]\nmodel = \"demo/demo\"\n{key} = [{{ {} = \"bash\", {UNKNOWN} = 1 }}]",
            entry[0]
        );
        if key == "tools" {
            // The other keys are those of the tool's own table.
            keys.remove("name");
        }
        assert_eq!(known_keys(&file), keys, "{file}");
    }
}

#[test]
fn describes_every_key() {
    let mut open = vec![("the file".to_owned(), &*SCHEMA)];
    while let Some((place, schema)) = open.pop() {
        match schema {
            Value::Object(fields) => {
                if let Some(properties) = schema["properties"].as_object() {
                    for (key, property) in properties {
                        // Conditions repeat the names of keys.
                        let is_condition = property.get("const").is_some() && key == "kind";
                        let about = property["description"].as_str().unwrap_or_default();
                        assert!(is_condition || about.ends_with('.'), "{place}: {key}");
                    }
                }
                open.extend(
                    fields
                        .iter()
                        .map(|(key, below)| (format!("{place}.{key}"), below)),
                );
            }
            Value::Array(items) => open.extend(items.iter().map(|item| (place.clone(), item))),
            _ => {}
        }
    }
}

/// The tables of keys in the book: the page, where the table is, the table in the schema, and those of its keys that are
/// described elsewhere.
const BOOK: [(&str, &str, &str, &[&str]); 17] = [
    ("agent-file.md", "| At the top |", "", &[]),
    (
        "agent-file.md",
        "## `[agents.NAME]`",
        "agents/*",
        &[
            "limits",
            "context",
            "retry",
            "tool",
            "give_up_after",
            "heartbeat_timeout",
            "task_queue",
            "placement",
            "temporal",
        ],
    ),
    ("agent-file.md", "## Limits", "agents/*/limits", &[]),
    (
        "agent-file.md",
        "## Context",
        "agents/*/context",
        &["sections", "reminders"],
    ),
    (
        "agent-file.md",
        "sections.LABEL]`",
        "agents/*/context/sections/*",
        &[],
    ),
    (
        "agent-file.md",
        "reminders.NAME]`",
        "agents/*/context/reminders/*",
        &[],
    ),
    ("agent-file.md", "## Retry", "agents/*/retry", &["model"]),
    (
        "agent-file.md",
        "## How often a tool is called",
        "agents/*/tool/*",
        &[
            "attempts",
            "initial",
            "factor",
            "max",
            "timeout",
            "parallel_writes",
            "heartbeat_timeout",
            "task_queue",
            "priority",
            "placement",
            "temporal",
        ],
    ),
    (
        "agent-file.md",
        "## Steps on Temporal",
        "agents/*/temporal",
        &[],
    ),
    ("agent-file.md", "## Providers", "providers/*", &[]),
    ("agent-file.md", "## Prices", "prices/*", &[]),
    ("agent-file.md", "## Approvers", "approvers/*", &[]),
    ("agent-file.md", "## Sessions", "sessions", &[]),
    ("mcp.md", "| Key |", "mcp/*", &[]),
    ("guards.md", "## Kinds", "guards/*", &[]),
    ("guards.md", "`[hooks.NAME]` describes", "hooks/*", &[]),
    ("sandbox.md", "| Key |", "agents/*/sandbox", &[]),
];

#[test]
fn agrees_with_the_tables_of_the_book() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/src");
    let read = |page| fs::read_to_string(pages.join(page)).unwrap();
    let mut wrong = Vec::new();
    for (page, place, path, elsewhere) in BOOK {
        let mut schema = &*SCHEMA;
        for key in path.split('/').filter(|key| !key.is_empty()) {
            schema = match key {
                "*" => &schema["additionalProperties"],
                key => &schema["properties"][key],
            };
        }
        // A value that may be a table or a text.
        if let Some(forms) = schema["anyOf"].as_array() {
            schema = forms.last().unwrap();
        }
        compare(&read(page), place, schema, elsewhere, &mut wrong);
    }
    let ask = &SCHEMA["properties"]["agents"]["additionalProperties"]["properties"]["ask"];
    let entry = &ask["items"]["anyOf"][1];
    compare(&read("rules.md"), "| Key |", entry, &[], &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares the first table of keys behind this place with a table of the schema.
fn compare(page: &str, place: &str, schema: &Value, elsewhere: &[&str], wrong: &mut Vec<String>) {
    let (_, rest) = page.split_once(place).unwrap_or_else(|| panic!("{place}"));
    let rows = rest.lines().skip_while(|line| !line.starts_with("| ---"));
    let rows = rows.skip(1).take_while(|line| line.starts_with('|'));
    let mut keys: BTreeSet<String> = elsewhere.iter().map(|key| (*key).to_owned()).collect();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [first, .., default, means] = cells.as_slice() else {
            panic!("{row}");
        };
        // A row for several keys leads to where they are described.
        if first.contains(" or `") {
            continue;
        }
        for key in first.split(", ") {
            let is_table = key.starts_with("`[");
            let key = key.trim_matches(['`', '[', ']']);
            let (table, part) = key.split_once('.').map_or((key, None), |(table, part)| {
                (table, (!is_table).then_some(part))
            });
            keys.insert(table.to_owned());
            let mut property = &schema["properties"][table];
            if let Some(part) = part {
                property = &property["properties"][part];
            }
            let about = property["description"].as_str().unwrap_or_default();
            let about = about.trim_end_matches('.').to_lowercase();
            let means = plain(means).replace(", as in the next row", "");
            if !means.to_lowercase().starts_with(&about) && !means.starts_with("`\"") {
                wrong.push(format!(
                    "{place} {key}: {about:?}, but the book has {means:?}"
                ));
            }
            let written = default.trim_matches('`');
            let literal = serde_json::from_str::<Value>(written).ok();
            match (&property["default"], literal) {
                (Value::Null, Some(literal)) => {
                    wrong.push(format!(
                        "{place} {key}: no default, but the book has {literal}"
                    ));
                }
                (default @ (Value::Bool(_) | Value::Number(_) | Value::String(_)), _)
                    if !written.contains(&default.to_string()) =>
                {
                    wrong.push(format!(
                        "{place} {key}: {default}, but the book has {written}"
                    ));
                }
                _ => {}
            }
        }
    }
    let declared: BTreeSet<String> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    if declared != keys {
        wrong.push(format!("{place}: {declared:?}, but the book has {keys:?}"));
    }
}

/// Returns a text without its links, as a description has it.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (start, label) = before.rsplit_once('[').unwrap();
        plain.push_str(start);
        plain.push_str(label);
        rest = after.split_once(')').unwrap().1;
    }
    plain + rest
}
