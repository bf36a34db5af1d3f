use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    sync::Barrier,
    thread,
};

use neuron_config::TrustStore;
use neuron_local::HomeId;
use tempfile::TempDir;

use super::trust::{self, Foreign, HomeTrust, TakeOverError};

struct World {
    outer: TempDir,
    store: TrustStore,
}

impl World {
    fn new() -> Self {
        let outer = tempfile::tempdir().unwrap();
        let store = TrustStore::new(outer.path().join("state/trust"));
        Self { outer, store }
    }

    fn home(&self, name: &str) -> PathBuf {
        let home = self.outer.path().join(name).join(".neuron");
        fs::create_dir_all(&home).unwrap();
        home
    }

    fn trusts(&self, home: &Path) -> bool {
        trust::recorded(home, &self.store).is_some()
    }

    fn claim(&self, home: &Path) -> bool {
        trust::claim(home, &self.store).unwrap().is_some()
    }

    fn take_over(&self, home: &Path) {
        trust::take_over(home, &self.store).unwrap();
    }

    fn records(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.outer.path().join("state/trust")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Where the files of a home are that has an id.
fn files(home: &Path) -> PathBuf {
    HomeId::find(home).unwrap().files(home)
}

/// The variables of an environment.
fn variables(
    set: &'static [(&'static str, &'static str)],
) -> impl Fn(&str) -> Option<String> + Sync {
    move |name| {
        let found = set.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn one_with_nothing_in_it_is_recorded_by_its_path_and_a_private_id() {
    let world = World::new();
    let home = world.home("one");
    fs::write(home.join(".gitignore"), "*\n").unwrap();
    assert!(!world.trusts(&home));
    assert!(world.claim(&home));
    assert_eq!(mode(&home.join("id")), 0o600);
    fs::write(files(&home).join("neuron.db"), "runs").unwrap();
    assert!(world.trusts(&home) && world.claim(&home));
    assert_eq!(world.records().len(), 1);
    // In other words.
    assert!(world.trusts(&home.join("../.neuron/.")));
}

#[test]
fn one_with_something_in_it_is_foreign_until_it_is_trusted() {
    let world = World::new();
    for name in ["neuron.db", "sessions.db", "locks", "engines", "id"] {
        let home = world.home(name);
        fs::write(home.join(name), "of somebody").unwrap();
        assert!(!world.claim(&home), "{name}");
        assert!(!world.trusts(&home), "{name}");
        world.take_over(&home);
        assert!(world.trusts(&home), "{name}");
    }
}

#[test]
fn one_that_was_moved_copied_or_has_another_id_is_foreign() {
    let world = World::new();
    let home = world.home("one");
    assert!(world.claim(&home));
    let id = fs::read_to_string(home.join("id")).unwrap();

    let copy = world.home("two");
    fs::copy(home.join("id"), copy.join("id")).unwrap();
    assert!(!world.claim(&copy));

    let moved = world.outer.path().join("three");
    fs::rename(world.outer.path().join("one"), &moved).unwrap();
    assert!(!world.claim(&moved.join(".neuron")));

    // Another one in its place, as of a repository that is cloned once more.
    let home = world.home("one");
    let other = uuid_like(&id);
    fs::write(home.join("id"), other).unwrap();
    assert!(!world.claim(&home));
    fs::write(home.join("id"), &id).unwrap();
    assert!(!world.trusts(&home), "without the directory of its files");
    fs::create_dir(home.join(&id)).unwrap();
    assert!(world.trusts(&home));
}

/// Another id of the same form.
fn uuid_like(id: &str) -> String {
    let last = if id.ends_with('0') { "1" } else { "0" };
    format!("{}{last}", id.get(..35).unwrap())
}

#[test]
fn trusting_one_takes_the_id_away_that_its_maker_knows() {
    let world = World::new();
    let home = world.home("one");
    let known = "6f1c1f0e-6d1f-4f5e-9f44-0123456789ab";
    fs::write(home.join("id"), known).unwrap();
    chmod(&home.join("id"), 0o600);
    world.take_over(&home);
    let id = fs::read_to_string(home.join("id")).unwrap();
    assert_ne!(id, known);
    // Once is enough.
    world.take_over(&home);
    assert_eq!(fs::read_to_string(home.join("id")).unwrap(), id);
    fs::write(home.join("id"), known).unwrap();
    assert!(!world.trusts(&home));
}

#[test]
fn an_id_that_is_a_link_is_replaced_and_not_followed() {
    let world = World::new();
    let home = world.home("one");
    let victim = world.outer.path().join("victim");
    fs::write(&victim, "kept").unwrap();
    symlink(&victim, home.join("id")).unwrap();
    assert!(!world.claim(&home));
    world.take_over(&home);
    assert!(world.trusts(&home));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");
}

#[test]
fn what_others_could_have_written_says_nothing() {
    let world = World::new();
    let home = world.home("one");
    assert!(world.claim(&home));
    let folder = world.outer.path().join("state/trust");
    let [record] = world.records().try_into().unwrap();
    for open in [folder, record, home.join("id"), files(&home), home.clone()] {
        let before = mode(&open);
        chmod(&open, before | 0o022);
        assert!(!world.trusts(&home), "{open:?}");
        chmod(&open, before);
        assert!(world.trusts(&home));
    }
}

#[test]
fn several_commands_that_make_one_at_once_have_it_all() {
    const COMMANDS: usize = 8;
    let world = World::new();
    for round in 0..20 {
        let home = world.home(&round.to_string());
        let barrier = Barrier::new(COMMANDS);
        thread::scope(|scope| {
            let each = || {
                barrier.wait();
                let is_own = world.claim(&home);
                fs::write(files(&home).join("neuron.db"), "runs").unwrap();
                is_own
            };
            let claims: Vec<_> = (0..COMMANDS).map(|_| scope.spawn(each)).collect();
            for claim in claims {
                assert!(claim.join().unwrap());
            }
        });
    }
    assert_eq!(world.records().len(), 20, "no record of an id that lost");
}

#[test]
fn one_that_cannot_be_recorded_is_there_for_the_process_that_made_it() {
    let world = World::new();
    let home = world.home("one");
    let trust = trust::trust_of(&home, &variables(&[])).unwrap();
    assert!(matches!(trust, HomeTrust::Unrecorded { source: None }));
    let file = world.outer.path().join("file");
    fs::write(&file, "").unwrap();
    let person = file.to_str().unwrap().to_owned();
    let nowhere = |name: &str| (name == "HOME").then(|| person.clone());
    let trust = trust::trust_of(&home, &nowhere).unwrap();
    assert!(
        matches!(trust, HomeTrust::Unrecorded { source: Some(_) }),
        "{trust:?}"
    );

    let open = world.outer.path().join("open");
    fs::create_dir_all(open.join("neuron/trust")).unwrap();
    chmod(&open.join("neuron/trust"), 0o777);
    let person = open.to_str().unwrap().to_owned();
    let open = |name: &str| (name == "XDG_STATE_HOME").then(|| person.clone());
    let HomeTrust::Unrecorded {
        source: Some(error),
    } = trust::trust_of(&home, &open).unwrap()
    else {
        panic!("recorded where others may write");
    };
    assert!(error.to_string().contains("others may write"), "{error}");

    fs::write(home.join("neuron.db"), "runs").unwrap();
    for environment in [&[][..], &[("NEURON_TRUST", "")]] {
        let trust = trust::trust_of(&home, &variables(environment)).unwrap();
        assert!(
            matches!(trust, HomeTrust::Foreign(Foreign::Unknown)),
            "{trust:?}"
        );
    }
    let trust = trust::trust_of(&home, &variables(&[("NEURON_TRUST", "1")])).unwrap();
    assert!(matches!(trust, HomeTrust::Own(_)), "{trust:?}");
}

#[test]
fn the_files_of_one_that_is_taken_over_go_along_and_what_is_planted_later_does_not() {
    let world = World::new();
    let home = world.home("one");
    for name in ["neuron.db", "sessions.db"] {
        fs::write(home.join(name), "no database").unwrap();
    }
    fs::create_dir_all(home.join("engines/restate")).unwrap();
    world.take_over(&home);
    let first = files(&home);
    for name in ["neuron.db", "sessions.db", "engines/restate"] {
        assert!(
            first.join(name).exists() && !home.join(name).exists(),
            "{name}"
        );
    }
    // By its maker, who knows the names of before.
    fs::write(home.join("neuron.db"), "planted").unwrap();
    assert_eq!(trust::recorded(&home, &world.store), Some(first.clone()));

    let moved = world.outer.path().join("moved");
    fs::rename(world.outer.path().join("one"), &moved).unwrap();
    let home = moved.join(".neuron");
    assert!(!world.trusts(&home));
    world.take_over(&home);
    let second = files(&home);
    assert_ne!(second.file_name(), first.file_name());
    let kept = fs::read_to_string(second.join("neuron.db")).unwrap();
    assert_eq!(kept, "no database");
    assert!(second.join("engines/restate").is_dir());
    assert!(!home.join(first.file_name().unwrap()).exists());
}

#[test]
fn one_that_another_process_uses_is_not_taken_over() {
    let world = World::new();
    let home = world.home("one");
    let path = home.join("neuron.db");
    let used = rusqlite_with_log(&path);
    let Err(TakeOverError::Home(error)) = trust::take_over(&home, &world.store) else {
        panic!("taken over");
    };
    assert!(error.to_string().contains("another process"), "{error}");
    assert!(path.exists() && !world.trusts(&home) && HomeId::find(&home).is_none());
    drop(used);
    world.take_over(&home);
    assert!(files(&home).join("neuron.db").exists());
}

/// A database with a log that nothing of it is copied from yet.
fn rusqlite_with_log(path: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
        .unwrap();
    connection.execute_batch("CREATE TABLE t (x)").unwrap();
    connection
}

#[test]
fn a_link_is_no_home_that_is_found() {
    let world = World::new();
    let own = world.home("one");
    assert!(world.claim(&own));
    for (name, target) in [("to-own", own.clone()), ("to-blank", world.home("blank"))] {
        let link = world.outer.path().join(name);
        symlink(&target, &link).unwrap();
        assert!(!world.trusts(&link) && !world.claim(&link));
        let trust = trust::trust_of(&link, &variables(&[])).unwrap();
        assert!(
            matches!(trust, HomeTrust::Foreign(Foreign::Link)),
            "{trust:?}"
        );
        let Err(TakeOverError::Home(error)) = trust::take_over(&link, &world.store) else {
            panic!("taken over");
        };
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains("it is a link"), "{source}");
    }
    // Nor is one a link in it to the files.
    let (home, before) = (world.home("two"), files(&own));
    fs::copy(own.join("id"), home.join("id")).unwrap();
    symlink(&before, home.join(before.file_name().unwrap())).unwrap();
    assert!(trust::take_over(&home, &world.store).is_err());
    assert!(before.is_dir());
}

#[test]
fn one_with_nothing_in_it_that_others_may_write_into_is_closed_to_them_and_another_is_not_taken() {
    let world = World::new();
    let blank = world.home("blank");
    chmod(&blank, 0o777);
    let state = world
        .outer
        .path()
        .join("state")
        .to_str()
        .unwrap()
        .to_owned();
    let environment = move |name: &str| (name == "XDG_STATE_HOME").then(|| state.clone());
    let trust = trust::trust_of(&blank, &environment).unwrap();
    assert!(matches!(trust, HomeTrust::Own(_)), "{trust:?}");
    assert_eq!(mode(&blank), 0o700);

    let home = world.home("one");
    fs::write(home.join("neuron.db"), "no database").unwrap();
    chmod(&home, 0o770);
    let trust = trust::trust_of(&home, &environment).unwrap();
    assert!(
        matches!(trust, HomeTrust::Foreign(Foreign::Open)),
        "{trust:?}"
    );
    world.take_over(&home);
    assert_eq!(mode(&home), 0o700);
    assert!(world.trusts(&home));
}

#[test]
fn what_belongs_to_another_user_is_not_one_s_own() {
    let world = World::new();
    let home = world.home("one");
    // Only the administrator gives files away; for anybody else theirs are another's that they cannot give away.
    if home.metadata().unwrap().uid() != 0 {
        return;
    }
    let stranger = Some(12_345);
    assert!(world.claim(&home));
    let records = world.outer.path().join("state/trust");
    for given in [home.clone(), home.join("id"), files(&home), records] {
        chown(&given, stranger, None).unwrap();
        assert!(!world.trusts(&home), "{given:?}");
        chown(&given, Some(0), None).unwrap();
        assert!(world.trusts(&home));
    }
    let blank = world.home("blank");
    chown(&blank, stranger, None).unwrap();
    assert!(!world.claim(&blank));
    let trust = trust::trust_of(&blank, &variables(&[])).unwrap();
    assert!(
        matches!(trust, HomeTrust::Foreign(Foreign::AnotherUser)),
        "{trust:?}"
    );
    assert!(trust::take_over(&blank, &world.store).is_err());
}
