//! The homes of runs that are recorded as a person's own, wherever they are.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::Deserialize;

/// In the directory of what neuron records: a file for each.
const FOLDER: &str = "trust";

const PREFIX: &[u8] = b"home-";

/// What was read of records. Their names are digests of what they say, so that none says anything else later.
static KNOWN: Mutex<BTreeMap<OsString, Option<PathBuf>>> = Mutex::new(BTreeMap::new());

/// What one says, as far as it matters here.
#[derive(Deserialize)]
struct Record {
    home: PathBuf,
}

/// Those that are where their record says, by their real paths. Made anew at each call: a home may be made while a worker
/// runs.
pub(crate) fn homes(records: &Path) -> Vec<PathBuf> {
    let folder = records.join(FOLDER);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut homes = Vec::new();
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !name.as_encoded_bytes().starts_with(PREFIX) {
            continue;
        }
        let home = known.entry(name).or_insert_with(|| read(&entry.path()));
        homes.extend(home.clone());
    }
    homes.retain(|home| {
        home.canonicalize()
            .is_ok_and(|real| real == *home && real.is_dir())
    });
    homes
}

fn read(record: &Path) -> Option<PathBuf> {
    let text = fs::read(record).ok()?;
    let record: Record = serde_json::from_slice(&text).ok()?;
    record.home.is_absolute().then_some(record.home)
}
