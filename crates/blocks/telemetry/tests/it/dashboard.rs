//! The dashboard and the alerts of `docs/monitoring` read what is exported.

use std::{collections::BTreeSet, fs, path::Path};

use neuron_telemetry::names::{INSTRUMENTS, InstrumentKind};
use serde_json::Value;

use crate::prometheus::{Named, instrument_of, label, metric_name};

/// The variables of the dashboard, with the attribute that each chooses by.
const VARIABLES: [(&str, &str); 2] = [("tenant", "neuron.tenant"), ("agent", "gen_ai.agent.name")];

fn read(file: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs");
    fs::read_to_string(docs.join(file)).unwrap()
}

fn dashboard() -> Value {
    serde_json::from_str(&read("monitoring/grafana-dashboard.json")).unwrap()
}

/// The rules of all groups.
fn alerts() -> Vec<Value> {
    let file: Value = serde_saphyr::from_str(&read("monitoring/prometheus-alerts.yaml")).unwrap();
    let groups = list(&file, "groups");
    groups
        .iter()
        .flat_map(|group| list(group, "rules").clone())
        .collect()
}

fn list<'a>(of: &'a Value, name: &str) -> &'a Vec<Value> {
    of[name]
        .as_array()
        .unwrap_or_else(|| panic!("no {name} in {of}"))
}

fn text<'a>(of: &'a Value, name: &str) -> &'a str {
    let text = of[name].as_str();
    text.filter(|text| !text.is_empty())
        .unwrap_or_else(|| panic!("no {name} in {of}"))
}

/// The panels that show something.
fn panels(dashboard: &Value) -> Vec<&Value> {
    let panels = list(dashboard, "panels").iter();
    panels.filter(|panel| panel["type"] != "row").collect()
}

/// The names that stand between braces in a text: `{{name}}` or `{{ $labels.name }}`.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split("{{").skip(1);
    parts
        .map(|part| part.split("}}").next().unwrap().trim())
        .map(|part| part.trim_start_matches("$labels."))
}

#[test]
fn every_name_on_the_dashboard_is_exported() {
    let dashboard = dashboard();
    for panel in panels(&dashboard) {
        let title = text(panel, "title");
        for target in list(panel, "targets") {
            let named = Named::of(text(target, "expr"));
            assert_eq!(named.complaints(), [""; 0], "{title}");
            for placeholder in placeholders(text(target, "legendFormat")) {
                assert!(named.grouping.contains(placeholder), "{title}: {target}");
            }
        }
    }
}

#[test]
fn every_instrument_is_on_the_dashboard() {
    let dashboard = dashboard();
    let targets = panels(&dashboard)
        .into_iter()
        .flat_map(|panel| list(panel, "targets"));
    let shown = targets.flat_map(|target| Named::of(text(target, "expr")).instruments());
    let all = INSTRUMENTS.iter().map(|instrument| instrument.name);
    assert_eq!(shown.collect::<BTreeSet<_>>(), all.collect::<BTreeSet<_>>());
}

#[test]
fn panels_choose_by_the_variables_wherever_they_can() {
    let dashboard = dashboard();
    for panel in panels(&dashboard) {
        for target in list(panel, "targets") {
            for (series, matchers) in Named::of(text(target, "expr")).selectors {
                let (instrument, _) = instrument_of(&series).unwrap();
                for (variable, attribute) in VARIABLES {
                    let chooses = (label(attribute), format!("=~\"${variable}\""));
                    let can = instrument.attributes.contains(&attribute);
                    assert_eq!(matchers.contains(&chooses), can, "{series} in {target}");
                }
            }
        }
    }
}

#[test]
fn variables_list_what_there_is() {
    let dashboard = dashboard();
    let variables = list(&dashboard["templating"], "list");
    let find = |name: &str| {
        let mut found = variables.iter();
        found.find(|it| it["name"] == name).unwrap()
    };
    assert_eq!(find("datasource")["type"], "datasource");
    assert_eq!(find("datasource")["query"], "prometheus");
    for (name, attribute) in VARIABLES {
        let query = text(&find(name)["query"], "query");
        let arguments = query
            .strip_prefix("label_values(")
            .and_then(|it| it.strip_suffix(')'));
        let (series, of) = arguments.unwrap().rsplit_once(", ").unwrap();
        assert_eq!(of, label(attribute));
        let selector = Named::of(series);
        assert_eq!(selector.complaints(), [""; 0]);
        let (instrument, _) = instrument_of(&selector.selectors[0].0).unwrap();
        assert!(instrument.attributes.contains(&attribute));
        // Series without the label are there, too, unless one is chosen.
        assert_eq!(find(name)["allValue"], ".*");
    }
}

#[test]
fn panels_say_what_they_are_and_lie_side_by_side() {
    let dashboard = dashboard();
    let mut ids = BTreeSet::new();
    let mut taken = BTreeSet::new();
    for panel in list(&dashboard, "panels") {
        let title = text(panel, "title");
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{title}");
        let at = |name: &str| panel["gridPos"][name].as_u64().unwrap();
        assert!(at("x") + at("w") <= 24, "{title}");
        for x in at("x")..at("x") + at("w") {
            for y in at("y")..at("y") + at("h") {
                assert!(taken.insert((x, y)), "{title} lies on another");
            }
        }
    }
    for panel in panels(&dashboard) {
        text(panel, "description");
        assert_eq!(panel["datasource"]["uid"], "${datasource}");
        let mut references = BTreeSet::new();
        for target in list(panel, "targets") {
            assert!(references.insert(text(target, "refId")), "{target}");
            assert_eq!(target["datasource"]["uid"], "${datasource}");
        }
    }
}

#[test]
fn every_name_in_the_alerts_is_exported() {
    let mut names = BTreeSet::new();
    for alert in alerts() {
        let name = text(&alert, "alert");
        assert!(names.insert(name.to_owned()), "{name} is there twice");
        let named = Named::of(text(&alert, "expr"));
        assert_eq!(named.complaints(), [""; 0], "{name}");
        let severity = text(&alert["labels"], "severity");
        assert!(["warning", "critical"].contains(&severity), "{name}");
        for annotation in ["summary", "description"] {
            for placeholder in placeholders(text(&alert["annotations"], annotation)) {
                let value = placeholder.split(" | ").next().unwrap();
                let is_known = value == "$value" || named.grouping.contains(value);
                assert!(is_known, "{name}: {placeholder}");
            }
        }
    }
    assert!(!names.is_empty());
}

#[test]
fn the_book_lists_every_metric_and_alert() {
    let page = read("src/telemetry.md");
    for instrument in INSTRUMENTS {
        let kind = match instrument.kind {
            InstrumentKind::Counter => "counter",
            InstrumentKind::Histogram(_) => "histogram",
            InstrumentKind::Gauge => "gauge",
            _ => unreachable!("{instrument:?}"),
        };
        let row = format!(
            "| `{}` | {kind} | `{}` | `{}` |",
            instrument.name,
            metric_name(&instrument),
            instrument.attributes.join("`, `")
        );
        assert!(page.contains(&row), "{row}");
    }
    for alert in alerts() {
        let row = format!("| `{}` |", text(&alert, "alert"));
        assert!(page.contains(&row), "{row}");
    }
}
