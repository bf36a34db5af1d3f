use std::{
    collections::BTreeMap,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use serde::Deserialize;
use serde_json::Value;

use crate::{outcome::Outcome, wire::Wire};

/// What one server sends, and what is right to make of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    #[serde(skip)]
    pub(crate) name: String,
    server: String,
    source: String,
    what: String,
    pub(crate) wire: Wire,
    #[serde(default = "ok")]
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(default)]
    stream: Option<Vec<Value>>,
    #[serde(default)]
    whole: Option<Value>,
    #[serde(default)]
    latin1: bool,
    /// The server gives several calls the same id.
    #[serde(default)]
    pub(crate) repeats_ids: bool,
    pub(crate) outcome: Outcome,
}

const fn ok() -> u16 {
    200
}

impl Case {
    /// The body in pieces.
    pub(crate) fn streamed(&self) -> Option<Vec<u8>> {
        let mut lines = Vec::new();
        for piece in self.stream.as_ref()? {
            match piece {
                Value::String(line) => lines.push(line.clone()),
                json => lines.extend(self.wire.event(json)),
            }
        }
        let body: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        Some(self.bytes(&body))
    }

    /// The body in one piece.
    pub(crate) fn whole(&self) -> Option<Vec<u8>> {
        Some(match self.whole.as_ref()? {
            Value::String(body) => self.bytes(body),
            json => json.to_string().into_bytes(),
        })
    }

    fn bytes(&self, body: &str) -> Vec<u8> {
        if self.latin1 {
            let letters = body.chars().map(u32::from);
            return letters
                .map(|letter| u8::try_from(letter).unwrap())
                .collect();
        }
        body.as_bytes().to_vec()
    }

    fn check(&self) {
        let name = &self.name;
        assert!(self.source.starts_with("https://"), "{name}: no source");
        assert!(!self.server.is_empty() && !self.what.is_empty(), "{name}");
        assert!(
            self.stream.is_some() || self.whole.is_some(),
            "{name}: no body"
        );
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let read = |path: &Path| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(path).unwrap();
        let case: Case =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let case = Case { name, ..case };
        case.check();
        case
    };
    paths.iter().map(|path| read(path)).collect()
}

/// Checks all cases, and names those that fail.
pub(crate) fn check_all(check: impl Fn(&Case)) {
    let cases = cases();
    let fails = |case: &&Case| catch_unwind(AssertUnwindSafe(|| check(case))).is_err();
    let failed: Vec<_> = cases.iter().filter(fails).map(|case| &case.name).collect();
    assert!(failed.is_empty(), "{failed:?}");
}
