//! The records of trust.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use neuron_config::{AgentFile, TrustStore, check_trust};

use super::{parse, variables};

const AGENT: &str = "[agents.default]\nmodel = \"demo/demo\"\ntools = [\"bash\"]\n";

/// Returns a file that includes another and has its instructions in a third.
fn project(folder: &Path) -> AgentFile {
    fs::create_dir_all(folder.join("agents")).unwrap();
    let text =
        format!("include = [\"agents/*.toml\"]\n{AGENT}instructions = {{ file = \"a.md\" }}\n");
    fs::write(folder.join("neuron.toml"), text).unwrap();
    fs::write(folder.join("a.md"), "Be kind.\n").unwrap();
    let other = "[agents.other]\nmodel = \"demo/demo\"\n";
    fs::write(folder.join("agents/other.toml"), other).unwrap();
    load(folder)
}

fn load(folder: &Path) -> AgentFile {
    AgentFile::load(folder.join("neuron.toml")).unwrap()
}

#[test]
fn a_file_is_trusted_as_it_was_and_where_it_was() {
    let outer = tempfile::tempdir().unwrap();
    let store = TrustStore::new(outer.path().join("state/trust"));
    let folder = outer.path().join("one");
    let file = project(&folder);
    assert!(!store.trusts(&file));
    store.trust(&file).unwrap();
    assert!(store.trusts(&file));
    // By another path, from another reader.
    let roundabout = folder.join("../one/./neuron.toml");
    assert!(store.trusts(&AgentFile::load(roundabout).unwrap()));

    let elsewhere = project(&outer.path().join("two"));
    assert_eq!(elsewhere.digest(), file.digest());
    assert!(!store.trusts(&elsewhere));

    for part in ["neuron.toml", "agents/other.toml", "a.md"] {
        let path = folder.join(part);
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{before}\n#\n")).unwrap();
        assert!(!store.trusts(&load(&folder)), "{part}");
        fs::write(&path, before).unwrap();
        assert!(store.trusts(&load(&folder)), "{part}");
    }
}

#[test]
fn a_link_to_a_trusted_file_is_another_file() {
    let outer = tempfile::tempdir().unwrap();
    let store = TrustStore::new(outer.path().join("trust"));
    let (one, two) = (outer.path().join("one"), outer.path().join("two"));
    for folder in [&one, &two] {
        fs::create_dir(folder).unwrap();
    }
    fs::write(one.join("neuron.toml"), AGENT).unwrap();
    std::os::unix::fs::symlink(one.join("neuron.toml"), two.join("neuron.toml")).unwrap();
    store.trust(&load(&one)).unwrap();
    assert!(!store.trusts(&load(&two)));
}

#[test]
fn a_record_is_its_owners_and_says_nothing_where_others_could_have_written_it() {
    let outer = tempfile::tempdir().unwrap();
    let path = outer.path().join("trust");
    let store = TrustStore::new(&path);
    let file = project(&outer.path().join("one"));
    store.trust(&file).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let records: Vec<_> = fs::read_dir(&path).unwrap().map(Result::unwrap).collect();
    let [record] = records.as_slice() else {
        panic!("one record, and nothing half written: {records:?}");
    };
    assert_eq!((mode(&path), mode(&record.path())), (0o700, 0o600));

    for open in [&path, &record.path()] {
        let before = mode(open);
        let opened = fs::Permissions::from_mode(before | 0o022);
        fs::set_permissions(open, opened).unwrap();
        assert!(!store.trusts(&file), "{open:?}");
        fs::set_permissions(open, fs::Permissions::from_mode(before)).unwrap();
        assert!(store.trusts(&file));
    }
    fs::write(record.path(), "{").unwrap();
    assert!(!store.trusts(&file));
}

#[test]
fn records_are_in_the_state_directory_of_the_person() {
    let outer = tempfile::tempdir().unwrap();
    let state = outer.path().to_str().unwrap().to_owned();
    let file = project(&outer.path().join("project"));
    let of = |name: &'static str, value: String| {
        TrustStore::find(&move |asked: &str| (asked == name).then(|| value.clone()))
    };
    of("XDG_STATE_HOME", state.clone())
        .unwrap()
        .trust(&file)
        .unwrap();
    assert!(TrustStore::new(outer.path().join("neuron/trust")).trusts(&file));
    of("HOME", state).unwrap().trust(&file).unwrap();
    assert!(TrustStore::new(outer.path().join(".local/state/neuron/trust")).trusts(&file));
    assert!(of("XDG_STATE_HOME", "in/the/project".to_owned()).is_none());
}

#[test]
fn a_file_that_is_named_needs_no_record() {
    let file = parse(AGENT).unwrap();
    assert!(!file.is_found() && !file.wants().is_empty());
    check_trust(&file, &variables(&[])).unwrap();
}
