//! Which agent file is used.

use std::fs;

use neuron_config::{AgentFile, AgentFileError};

use super::variables;

#[test]
fn a_file_that_is_named_is_read_or_missed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let find = || AgentFile::find(Some(&path), &variables(&[]));
    let error = find().unwrap_err();
    assert!(matches!(error, AgentFileError::NoFile { .. }));
    assert_eq!(
        error.to_string(),
        format!("there is no agent file {}", path.display())
    );
    fs::write(&path, "[agents.mine]\nmodel = \"demo/demo\"").unwrap();
    assert!(find().unwrap().definition("mine").is_ok());
}

#[test]
fn without_one_there_is_what_comes_along() {
    // The tests run in the folder of the crate, which has no agent file.
    for named in [None, Some("".as_ref())] {
        let file = AgentFile::find(named, &variables(&[])).unwrap();
        assert_eq!(file, AgentFile::builtin(&variables(&[])));
    }
}
