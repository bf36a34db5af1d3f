//! The records of homes of runs.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Barrier,
    thread,
};

use neuron_config::{HomeTrust, TrustStore, home_trust};
use tempfile::TempDir;

use super::variables;

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

    fn records(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.outer.path().join("state/trust")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
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
    assert!(!world.store.trusts_home(&home));
    assert!(world.store.claim_home(&home).unwrap());
    assert_eq!(mode(&home.join("id")), 0o600);
    fs::write(home.join("neuron.db"), "runs").unwrap();
    assert!(world.store.trusts_home(&home) && world.store.claim_home(&home).unwrap());
    assert_eq!(world.records().len(), 1);
    // In other words.
    assert!(world.store.trusts_home(&home.join("../.neuron/.")));
    let link = world.outer.path().join("link");
    std::os::unix::fs::symlink(&home, &link).unwrap();
    assert!(world.store.trusts_home(&link));
}

#[test]
fn one_with_something_in_it_is_foreign_until_it_is_trusted() {
    let world = World::new();
    for name in ["neuron.db", "sessions.db", "locks", "engines", "id"] {
        let home = world.home(name);
        fs::write(home.join(name), "of somebody").unwrap();
        assert!(!world.store.claim_home(&home).unwrap(), "{name}");
        assert!(!world.store.trusts_home(&home), "{name}");
        world.store.trust_home(&home).unwrap();
        assert!(world.store.trusts_home(&home), "{name}");
    }
}

#[test]
fn one_that_was_moved_copied_or_has_another_id_is_foreign() {
    let world = World::new();
    let home = world.home("one");
    assert!(world.store.claim_home(&home).unwrap());
    let id = fs::read_to_string(home.join("id")).unwrap();

    let copy = world.home("two");
    fs::copy(home.join("id"), copy.join("id")).unwrap();
    assert!(!world.store.claim_home(&copy).unwrap());

    let moved = world.outer.path().join("three");
    fs::rename(world.outer.path().join("one"), &moved).unwrap();
    assert!(!world.store.claim_home(&moved.join(".neuron")).unwrap());

    // Another one in its place, as of a repository that is cloned once more.
    let home = world.home("one");
    let other = uuid_like(&id);
    fs::write(home.join("id"), other).unwrap();
    assert!(!world.store.claim_home(&home).unwrap());
    fs::write(home.join("id"), &id).unwrap();
    assert!(world.store.trusts_home(&home));
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
    world.store.trust_home(&home).unwrap();
    let id = fs::read_to_string(home.join("id")).unwrap();
    assert_ne!(id, known);
    // Once is enough.
    world.store.trust_home(&home).unwrap();
    assert_eq!(fs::read_to_string(home.join("id")).unwrap(), id);
    fs::write(home.join("id"), known).unwrap();
    assert!(!world.store.trusts_home(&home));
}

#[test]
fn an_id_that_is_a_link_is_replaced_and_not_followed() {
    let world = World::new();
    let home = world.home("one");
    let victim = world.outer.path().join("victim");
    fs::write(&victim, "kept").unwrap();
    std::os::unix::fs::symlink(&victim, home.join("id")).unwrap();
    assert!(!world.store.claim_home(&home).unwrap());
    world.store.trust_home(&home).unwrap();
    assert!(world.store.trusts_home(&home));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");
}

#[test]
fn what_others_could_have_written_says_nothing() {
    let world = World::new();
    let home = world.home("one");
    assert!(world.store.claim_home(&home).unwrap());
    let folder = world.outer.path().join("state/trust");
    let [record] = world.records().try_into().unwrap();
    for open in [folder, record, home.join("id")] {
        let before = mode(&open);
        chmod(&open, before | 0o022);
        assert!(!world.store.trusts_home(&home), "{open:?}");
        chmod(&open, before);
        assert!(world.store.trusts_home(&home));
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
                let is_own = world.store.claim_home(&home).unwrap();
                fs::write(home.join("neuron.db"), "runs").unwrap();
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
    let trust = home_trust(&home, &variables(&[])).unwrap();
    assert!(matches!(trust, HomeTrust::Unrecorded { source: None }));
    let file = world.outer.path().join("file");
    fs::write(&file, "").unwrap();
    let person = file.to_str().unwrap().to_owned();
    let nowhere = |name: &str| (name == "HOME").then(|| person.clone());
    let trust = home_trust(&home, &nowhere).unwrap();
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
    } = home_trust(&home, &open).unwrap()
    else {
        panic!("recorded where others may write");
    };
    assert!(error.to_string().contains("others may write"), "{error}");

    fs::write(home.join("neuron.db"), "runs").unwrap();
    for environment in [&[][..], &[("NEURON_TRUST", "")]] {
        let trust = home_trust(&home, &variables(environment)).unwrap();
        assert!(matches!(trust, HomeTrust::Foreign), "{trust:?}");
    }
    let trust = home_trust(&home, &variables(&[("NEURON_TRUST", "1")])).unwrap();
    assert!(matches!(trust, HomeTrust::Own), "{trust:?}");
}
