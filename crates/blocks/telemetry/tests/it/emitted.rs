//! What the executor measures is what the table of instruments says.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use neuron_telemetry::names::{self, INSTRUMENTS, InstrumentKind};

/// A call of the executor's macro `measure!`.
const CALL: &str = "measure!(";

/// What is measured: instruments as `KIND.NAME`, each with all attributes that any measurement gives it.
type Emitted = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_executor_measures_with_the_instruments_of_the_table_and_with_each_of_them() {
    let mut emitted = Emitted::new();
    for source in sources(&executor()) {
        collect(&fs::read_to_string(&source).unwrap(), &mut emitted);
    }
    let table = INSTRUMENTS.into_iter().map(|instrument| {
        let kind = match instrument.kind {
            InstrumentKind::Counter => "counter",
            InstrumentKind::Histogram(_) => "histogram",
            InstrumentKind::Gauge => "gauge",
            _ => unreachable!("{instrument:?}"),
        };
        let attributes = instrument.attributes.iter().map(|it| (*it).to_owned());
        let name = format!("{kind}.{}", instrument.name);
        (name, attributes.collect::<BTreeSet<_>>())
    });
    assert_eq!(emitted, table.collect::<Emitted>());
}

#[test]
fn the_executor_measures_with_its_macro_only() {
    let mut sources = sources(&executor());
    sources.retain(|source| {
        let text = fs::read_to_string(source).unwrap();
        text.contains(names::METRICS)
    });
    assert_eq!(sources, [executor().join("watch/measure.rs")]);
}

#[test]
fn measurements_are_found_in_a_source() {
    let mut emitted = Emitted::new();
    collect(
        r#"
        measure!(counter.a.b = 1_u64, agent, tenant,);
        measure!(
            histogram.c = of(1, [2, 3]),
            counter.a.b = 1_u64,
            error.r#type = failed.then(|| "a, b = c"),
        );
        "#,
        &mut emitted,
    );
    let of = |attributes: &[&str]| attributes.iter().map(|it| (*it).to_owned()).collect();
    let expected = [
        (
            "counter.a.b".to_owned(),
            of(&["error.type", "gen_ai.agent.name", "neuron.tenant"]),
        ),
        ("histogram.c".to_owned(), of(&["error.type"])),
    ];
    assert_eq!(emitted, Emitted::from(expected));
}

fn executor() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../executor/src")
}

/// Returns the files of a folder and of those below.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources.extend(self::sources(&path));
        } else {
            sources.push(path);
        }
    }
    sources
}

/// Adds what a source measures.
fn collect(source: &str, emitted: &mut Emitted) {
    for call in source.split(CALL).skip(1) {
        let fields = fields(call);
        let (instruments, attributes): (Vec<String>, Vec<String>) =
            fields.into_iter().partition(|field| {
                let (kind, _) = field.split_once('.').unwrap_or_default();
                ["counter", "histogram", "gauge"].contains(&kind)
            });
        assert!(!instruments.is_empty(), "a call measures nothing: {call}");
        for instrument in instruments {
            let all = emitted.entry(instrument).or_default();
            all.extend(attributes.iter().map(|it| attribute(it)));
        }
    }
}

/// Returns the name that a field has as an attribute.
fn attribute(field: &str) -> String {
    let mut renamed = names::RENAMED.iter();
    let renamed = renamed.find(|(from, _)| *from == field);
    renamed.map_or(field, |(_, to)| to).to_owned()
}

/// Returns the names of the fields of a call, whose text follows its bracket.
fn fields(call: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let (mut depth, mut is_text, mut is_name) = (0, false, true);
    for character in call.chars() {
        match character {
            '"' => is_text = !is_text,
            _ if is_text => {}
            ')' | ']' | '}' if depth == 0 => break,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                fields.push(String::new());
                is_name = true;
            }
            '=' => is_name = false,
            _ if is_name && depth == 0 => fields.last_mut().unwrap().push(character),
            _ => {}
        }
    }
    let names = fields.iter().map(|field| field.trim().replace("r#", ""));
    names.filter(|field| !field.is_empty()).collect()
}
