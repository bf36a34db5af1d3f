//! The files of a person's homes of runs.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    sync::Barrier,
    thread,
};

use neuron_local::{
    HomeStore, Journal, JournalError, LocalClient, SqliteSessionStorage, home_has_files,
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::journal::{input, run_id};

struct World {
    outer: TempDir,
    store: HomeStore,
}

impl World {
    fn new() -> Self {
        let outer = tempfile::tempdir().unwrap();
        let store = HomeStore::new(outer.path().join("state/homes"));
        Self { outer, store }
    }

    fn home(&self, name: &str) -> PathBuf {
        let home = self.outer.path().join(name).join(".neuron");
        fs::create_dir_all(&home).unwrap();
        home
    }

    fn folder(&self) -> PathBuf {
        self.outer.path().join("state/homes")
    }

    /// Returns the number of directories of files.
    fn kept(&self) -> usize {
        let entries = fs::read_dir(self.folder()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names.filter(|name| name != ".lock").count()
    }

    /// Makes the home the person's own with what is in it.
    fn adopt(&self, home: &Path) -> Result<PathBuf, JournalError> {
        self.store.adopt(home, home)
    }
}

/// Returns a journal with a run in this directory.
async fn with_run(directory: &Path, id: &str) -> Journal {
    let journal = Journal::open(directory).await.unwrap();
    let run = run_id(id);
    journal.create_run(&run, input(), "local").await.unwrap();
    journal
}

async fn runs(files: &Path) -> usize {
    let journal = Journal::open(files).await.unwrap();
    journal.directories().await.unwrap().len()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn why(error: &JournalError) -> String {
    neuron_types::causes(error).collect::<Vec<_>>().join(": ")
}

#[test]
fn one_that_is_claimed_has_its_files_elsewhere_and_only_their_name_in_it() {
    let world = World::new();
    let home = world.home("one");
    fs::write(home.join(".gitignore"), "!*\n").unwrap();
    assert_eq!(world.store.files_of(&home), None);
    let files = world.store.claim(&home).unwrap();
    assert_eq!(files.parent(), Some(world.folder().as_path()));
    assert_eq!(world.store.files_of(&home).as_ref(), Some(&files));
    assert_eq!(world.store.claim(&home).unwrap(), files);
    let id = fs::read_to_string(home.join("id")).unwrap();
    assert_eq!(files.file_name().unwrap(), id.as_str());
    assert_eq!((mode(&home.join("id")), mode(&files)), (0o600, 0o700));
    // The same path, written differently.
    assert_eq!(
        world.store.files_of(&home.join("../.neuron/.")),
        Some(files)
    );
}

#[test]
fn whatever_is_done_to_the_id_a_home_has_the_same_files() {
    let world = World::new();
    let known = "6f1c1f0e-6d1f-4f5e-9f44-0123456789ab";
    for (number, text) in [known, "../../../../../../../../../../tmp/xx", ""]
        .iter()
        .enumerate()
    {
        let (home, text) = (world.home(&number.to_string()), *text);
        // The id came with the home, and proves nothing.
        fs::write(home.join("id"), text).unwrap();
        assert_eq!(world.store.files_of(&home), None);
        assert_eq!(world.store.moved_from(&home), None);
        let files = world.store.claim(&home).unwrap();
        assert_ne!(files.file_name().unwrap(), known);
        assert_eq!(world.store.files_of(&home).as_ref(), Some(&files));
        // Another store may use it.
        let kept = fs::read_to_string(home.join("id")).unwrap();
        assert_eq!(kept == known, text == known);
        for change in [
            |id: &Path| fs::remove_file(id),
            |id: &Path| fs::create_dir(id),
            |id: &Path| fs::remove_dir(id).and_then(|()| symlink("nowhere", id)),
        ] {
            change(&home.join("id")).unwrap();
            assert_eq!(world.store.files_of(&home).as_ref(), Some(&files));
            assert_eq!(world.store.claim(&home).unwrap(), files);
        }
    }
    let home = world.home("with-a-directory");
    fs::create_dir(home.join("id")).unwrap();
    let files = world.store.claim(&home).unwrap();
    assert_eq!(files.parent(), Some(world.folder().as_path()));
}

#[test]
fn files_of_somebody_say_that_a_home_is_in_use() {
    let world = World::new();
    for name in ["neuron.db", "sessions.db", "locks", "engines"] {
        let home = world.home(name);
        assert!(!home_has_files(&home));
        symlink("nowhere", home.join(name)).unwrap();
        assert!(home_has_files(&home));
    }
}

#[tokio::test]
async fn what_is_put_into_a_home_later_is_not_its() {
    let world = World::new();
    let home = world.home("one");
    let files = world.store.claim(&home).unwrap();
    drop(with_run(&files, "mine").await);
    drop(with_run(&home, "theirs").await);
    let journal = Journal::open(world.store.files_of(&home).unwrap()).await;
    let journal = journal.unwrap();
    assert!(journal.status(&run_id("mine")).await.is_ok());
    assert!(journal.status(&run_id("theirs")).await.is_err());
}

#[tokio::test]
async fn one_that_was_moved_is_taken_up_with_its_files_and_a_copy_gets_its_own() {
    let world = World::new();
    let home = world.home("one");
    let files = world.store.claim(&home).unwrap();
    drop(with_run(&files, "r1").await);

    let copy = world.home("copy");
    fs::copy(home.join("id"), copy.join("id")).unwrap();
    let real = home.canonicalize().unwrap();
    assert_eq!(world.store.files_of(&copy), None);
    assert_eq!(world.store.moved_from(&copy), Some(real.clone()));
    let copied = world.store.adopt(&copy, &files).unwrap();
    assert_ne!(copied, files);
    assert_eq!((runs(&copied).await, runs(&files).await), (1, 1));
    assert_eq!(world.store.files_of(&home).as_ref(), Some(&files));

    fs::rename(
        world.outer.path().join("one"),
        world.outer.path().join("two"),
    )
    .unwrap();
    let moved = world.outer.path().join("two/.neuron");
    assert_eq!(world.store.files_of(&moved), None);
    assert_eq!(world.store.moved_from(&moved), Some(real));
    assert_eq!(world.store.adopt(&moved, &files).unwrap(), files);
    assert_eq!(world.store.files_of(&moved), Some(files));
    // Another home in its place is not the same.
    let home = world.home("one");
    fs::copy(moved.join("id"), home.join("id")).unwrap();
    assert_eq!(world.store.files_of(&home), None);
}

#[tokio::test]
async fn one_that_is_adopted_keeps_what_it_has_and_its_databases_are_copied() {
    let world = World::new();
    let home = world.home("one");
    // It is open, so that all of it is in its log.
    let journal = with_run(&home, "r1").await;
    let sessions = SqliteSessionStorage::open(home.join("sessions.db")).await;
    drop(sessions.unwrap());
    fs::create_dir(home.join("engines")).unwrap();
    symlink("nowhere", home.join("engines/temporal.log")).unwrap();
    let files = world.adopt(&home).unwrap();
    assert_eq!(runs(&files).await, 1);
    assert!(files.join("sessions.db").is_file() && !files.join("engines").exists());
    assert_eq!(runs(&home).await, 1);
    assert_eq!(world.store.files_of(&home).as_ref(), Some(&files));
    // A home in its place later is not.
    drop(journal);
    drop(with_run(&home, "r2").await);
    assert_eq!(runs(&files).await, 1);
    assert_eq!(mode(&files.join("neuron.db")), 0o600);
}

#[tokio::test]
async fn one_whose_runs_a_process_executes_is_not_adopted() {
    let world = World::new();
    let home = world.home("one");
    let journal = with_run(&home, "r1").await;
    let (directory, run) = (Path::new("/"), run_id("r2"));
    let claim = journal
        .claim_run(directory, &run, input(), "local")
        .await
        .unwrap();
    let error = world.adopt(&home).unwrap_err();
    assert!(
        why(&error).contains("a process executes its runs"),
        "{error}"
    );
    assert_eq!((world.store.files_of(&home), world.kept()), (None, 0));
    drop(claim);
    world.adopt(&home).unwrap();
}

#[tokio::test]
async fn a_database_that_does_more_than_keep_is_neither_looked_at_nor_adopted() {
    let world = World::new();
    for (name, script) in [
        (
            "trigger",
            "CREATE TRIGGER x AFTER INSERT ON entries BEGIN DELETE FROM signals; END",
        ),
        (
            "view",
            "DROP TABLE statuses; CREATE VIEW statuses AS \
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS run FROM n",
        ),
        ("table", "CREATE TABLE more (x)"),
        (
            "virtual",
            "DROP TABLE chapters; PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES \
             ('table', 'chapters', 'chapters', 0, 'CREATE VIRTUAL TABLE chapters USING x')",
        ),
    ] {
        let home = world.home(name);
        drop(with_run(&home, "r1").await);
        let database = Connection::open(home.join("neuron.db")).unwrap();
        database.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        database.execute_batch(script).unwrap();
        drop(database);
        let into = tempfile::tempdir().unwrap();
        let looked = Journal::open_copy(&home, into.path()).await;
        let adopted = world.adopt(&home);
        for error in [looked.err(), adopted.err()] {
            let error = error.unwrap();
            assert!(
                matches!(error, JournalError::Foreign { .. }),
                "{name}: {error:?}"
            );
        }
        assert_eq!((world.store.files_of(&home), world.kept()), (None, 0));
    }
}

#[tokio::test]
async fn a_trigger_in_an_open_journal_does_nothing() {
    let home = tempfile::tempdir().unwrap();
    drop(with_run(home.path(), "r1").await);
    let database = Connection::open(home.path().join("neuron.db")).unwrap();
    let trigger = "CREATE TRIGGER x AFTER INSERT ON runs BEGIN DELETE FROM statuses; END";
    database.execute_batch(trigger).unwrap();
    let journal = with_run(home.path(), "r2").await;
    assert!(journal.status(&run_id("r1")).await.is_ok());
}

#[tokio::test]
async fn a_status_that_says_that_it_is_another_run_s_is_not_shown_as_that() {
    let home = tempfile::tempdir().unwrap();
    let journal = with_run(home.path(), "evil").await;
    let database = Connection::open(home.path().join("neuron.db")).unwrap();
    let change = "UPDATE statuses SET status = json_set(status, '$.run_id', 'benign')";
    database.execute(change, []).unwrap();
    let client = LocalClient::from(journal);
    let filter = neuron_engine::RunFilter::all();
    let page = neuron_engine::PageRequest::first(10);
    let listed = neuron_engine::RunClient::list(&client, &filter, page)
        .await
        .unwrap();
    assert!(listed.runs.is_empty());
    assert!(listed.incomplete.unwrap().contains("evil"));
}

#[tokio::test]
async fn links_and_journals_of_changes_are_refused() {
    let world = World::new();
    let outside = world.outer.path().join("outside");
    fs::write(&outside, "kept").unwrap();
    for name in [
        "neuron.db",
        "neuron.db-wal",
        "neuron.db-journal",
        "sessions.db",
    ] {
        let home = world.home(name);
        if name.ends_with("-journal") {
            fs::write(home.join(name), "naming another file").unwrap();
        } else {
            symlink(&outside, home.join(name)).unwrap();
        }
        let into = tempfile::tempdir().unwrap();
        let looked = Journal::open_copy(&home, into.path()).await;
        for error in [looked.err(), world.adopt(&home).err()] {
            let why = why(&error.unwrap());
            assert!(why.contains("neuron"), "{name}: {why}");
        }
        assert_eq!((world.store.files_of(&home), world.kept()), (None, 0));
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "kept");
}

#[tokio::test]
async fn one_that_would_fill_the_disk_is_not_copied() {
    let world = World::new();
    let home = world.home("one");
    let file = fs::File::create(home.join("sessions.db")).unwrap();
    file.set_len(1 << 40).unwrap();
    let into = tempfile::tempdir().unwrap();
    let looked = Journal::open_copy(&home, into.path()).await;
    for error in [looked.err(), world.adopt(&home).err()] {
        let why = why(&error.unwrap());
        assert!(why.contains("it has 1099511627776 bytes"), "{why}");
    }
}

#[test]
fn a_link_is_no_home_of_a_person() {
    let world = World::new();
    let own = world.home("one");
    let files = world.store.claim(&own).unwrap();
    let link = world.outer.path().join("link");
    symlink(&own, &link).unwrap();
    assert_eq!(world.store.files_of(&link), None);
    let error = world.adopt(&link).unwrap_err();
    assert!(why(&error).contains("it is a link"), "{error}");
    // Nor are files behind a link.
    let kept = world.outer.path().join("kept");
    fs::rename(&files, &kept).unwrap();
    symlink(&kept, &files).unwrap();
    assert_eq!(world.store.files_of(&own), None);
}

#[test]
fn what_others_could_have_written_says_nothing() {
    let world = World::new();
    let home = world.home("one");
    let files = world.store.claim(&home).unwrap();
    for open in [world.folder(), files.clone()] {
        chmod(&open, 0o722);
        assert_eq!(world.store.files_of(&home), None, "{open:?}");
        // It does not begin anew, as if there were no files.
        for error in [world.store.claim(&home), world.adopt(&home)] {
            let why = why(&error.unwrap_err());
            assert!(why.contains("others may write to it"), "{why}");
        }
        chmod(&open, 0o700);
        assert!(world.store.files_of(&home).is_some());
    }
    // Only the administrator gives files away.
    if home.metadata().unwrap().uid() == 0 {
        for given in [world.folder(), files] {
            chown(&given, Some(12_345), None).unwrap();
            assert_eq!(world.store.files_of(&home), None, "{given:?}");
            chown(&given, Some(0), None).unwrap();
        }
    }
}

#[test]
fn several_processes_that_claim_one_at_once_get_the_same() {
    const PROCESSES: usize = 8;
    let world = World::new();
    for round in 0..20 {
        let home = world.home(&round.to_string());
        let barrier = Barrier::new(PROCESSES);
        let claimed: Vec<_> = thread::scope(|scope| {
            let each = || {
                barrier.wait();
                world.store.claim(&home).unwrap()
            };
            let claims: Vec<_> = (0..PROCESSES).map(|_| scope.spawn(each)).collect();
            let claims = claims.into_iter().map(|claim| claim.join().unwrap());
            claims.collect()
        });
        assert!(claimed.iter().all(|files| *files == claimed[0]));
    }
    assert_eq!(world.kept(), 20);
}
