use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::trust::{Foreign, HomeTrust, store, trust_of};

struct World {
    outer: TempDir,
}

impl World {
    fn new() -> Self {
        let outer = tempfile::tempdir().unwrap();
        Self { outer }
    }

    fn home(&self, name: &str) -> PathBuf {
        let home = self.outer.path().join(name).join(".neuron");
        fs::create_dir_all(&home).unwrap();
        home
    }

    /// Returns variables with a place for files, and this setting of `NEURON_TRUST`.
    fn variables(&self, trust: &'static str) -> impl Fn(&str) -> Option<String> + use<> {
        let state = self.outer.path().join("state");
        let state = state.to_str().unwrap().to_owned();
        move |name| match name {
            "XDG_STATE_HOME" => Some(state.clone()),
            "NEURON_TRUST" => Some(trust.to_owned()),
            _ => None,
        }
    }

    fn trust(&self, home: &Path) -> HomeTrust {
        trust_of(home, &self.variables("")).unwrap()
    }
}

#[test]
fn one_with_nothing_in_it_is_one_s_own_from_then_on() {
    let world = World::new();
    let home = world.home("one");
    let HomeTrust::Own(files) = world.trust(&home) else {
        panic!("foreign");
    };
    fs::write(home.join("neuron.db"), "planted").unwrap();
    assert!(matches!(world.trust(&home), HomeTrust::Own(again) if again == files));
    // A person who trusts everything owns its files, too.
    assert!(
        store(&world.variables("1"))
            .unwrap()
            .files_of(&home)
            .is_some()
    );
}

#[test]
fn one_with_a_database_one_that_was_moved_and_a_link_are_foreign() {
    let world = World::new();
    let home = world.home("one");
    fs::write(home.join("sessions.db"), "of somebody").unwrap();
    let foreign = |home: &Path| match world.trust(home) {
        HomeTrust::Foreign(why) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(foreign(&home), Foreign::Database);
    let trusting = trust_of(&home, &world.variables("1")).unwrap();
    assert!(matches!(trusting, HomeTrust::Own(files) if files == home));

    let own = world.home("own");
    assert!(matches!(world.trust(&own), HomeTrust::Own(_)));
    let link = world.outer.path().join("link");
    symlink(&own, &link).unwrap();
    assert_eq!(foreign(&link), Foreign::Link);
    let before = own.canonicalize().unwrap();
    fs::rename(
        world.outer.path().join("own"),
        world.outer.path().join("moved"),
    )
    .unwrap();
    let moved = world.outer.path().join("moved/.neuron");
    assert_eq!(foreign(&moved), Foreign::Moved(before));
    let files = store(&world.variables("")).unwrap();
    let trusting = trust_of(&moved, &world.variables("1")).unwrap();
    assert!(
        matches!(trusting, HomeTrust::Own(taken) if Some(&taken) == files.files_of(&moved).as_ref())
    );
}

#[test]
fn one_whose_files_cannot_be_kept_is_there_for_the_process_that_made_it() {
    let world = World::new();
    let home = world.home("one");
    let nowhere = |_: &str| None::<String>;
    let trust = trust_of(&home, &nowhere).unwrap();
    assert!(matches!(trust, HomeTrust::Unrecorded), "{trust:?}");
    let file = world.outer.path().join("state");
    fs::write(&file, "no directory").unwrap();
    // If there is a place for its files, a home begins nowhere else.
    trust_of(&home, &world.variables("")).unwrap_err();
    fs::write(home.join("neuron.db"), "runs").unwrap();
    let trust = trust_of(&home, &nowhere).unwrap();
    assert!(
        matches!(trust, HomeTrust::Foreign(Foreign::Database)),
        "{trust:?}"
    );
}
