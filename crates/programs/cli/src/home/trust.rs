//! Whether a home of runs is a person's own.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use neuron_config::{Environment, TrustStore, is_private, trusts_all};
use neuron_local::{HomeId, JournalError, home_files, home_is_blank};

/// Whose a home of runs is that nobody named: what lies in it decides what runs do, and in which directory.
#[derive(Debug)]
pub(crate) enum HomeTrust {
    /// The person's own, as is recorded outside of it, or the variable `NEURON_TRUST` is `1`. Its files are here.
    Own(PathBuf),
    /// Nothing is in it yet, and it could not be recorded as the person's own: for this process it is, and for others it is
    /// foreign as soon as something is in it.
    Unrecorded {
        /// The system's error; `None` where the environment names no place for records.
        source: Option<io::Error>,
    },
    /// Not known to be theirs.
    Foreign(Foreign),
}

/// Why a home is not known to be a person's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// Nobody says whose it is: somebody else's, as in a repository that was cloned, or that of an older neuron, or one that
    /// was moved.
    Unknown,
    /// It is a link, so that whoever made it chose which home it is.
    Link,
    /// It is another user's.
    AnotherUser,
    /// Others may write into it.
    Open,
}

/// What a directory says by itself about whose it may be. `None` where nothing is against it.
///
/// # Errors
///
/// The system's.
fn objection(home: &Path) -> io::Result<Option<Foreign>> {
    let found = fs::symlink_metadata(home)?;
    Ok(if found.is_symlink() {
        Some(Foreign::Link)
    } else if is_private(&found) {
        None
    } else if is_own(&found) {
        Some(Foreign::Open)
    } else {
        Some(Foreign::AnotherUser)
    })
}

fn is_own(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    found.uid() == 0 || found.uid() == rustix::process::geteuid().as_raw()
}

/// Returns where the files of a home are that is recorded as the person's own: `None` if it is not.
pub(crate) fn recorded(home: &Path, store: &TrustStore) -> Option<PathBuf> {
    if objection(home).ok()?.is_some() {
        return None;
    }
    let id = HomeId::find(home)?;
    let files = id.files(home);
    let is_ours = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| is_private(&found));
    let is_whole = is_ours(&HomeId::path(home)) && is_ours(&files) && files.is_dir();
    (is_whole && store.has_home(home, id.as_str())).then_some(files)
}

/// Finds out whose a home is, which exists. One with nothing in it is recorded as the person's own.
///
/// # Errors
///
/// The system's, where the home cannot be looked into.
pub(crate) fn trust_of(home: &Path, environment: &dyn Environment) -> io::Result<HomeTrust> {
    let mut objection = objection(home)?;
    if objection == Some(Foreign::Open) && home_is_blank(home)? {
        close(home)?;
        objection = None;
    }
    let claimed = match objection {
        None => TrustStore::find(environment).map(|store| claim(home, &store)),
        Some(_) => None,
    };
    if let Some(Ok(Some(files))) = claimed {
        return Ok(HomeTrust::Own(files));
    }
    if trusts_all(environment) {
        return Ok(HomeTrust::Own(home_files(home)));
    }
    if let Some(objection) = objection {
        return Ok(HomeTrust::Foreign(objection));
    }
    if !home_is_blank(home)? {
        return Ok(HomeTrust::Foreign(Foreign::Unknown));
    }
    Ok(HomeTrust::Unrecorded {
        source: claimed.and_then(Result::err),
    })
}

/// Records a home as the person's own if there is nothing in it yet that would decide what runs do, and returns where its files
/// are if it is. Of two commands that do this at once, one gives the home its id, and it is the other's too.
///
/// # Errors
///
/// The system's, also where others could write the record. The home has no id then.
pub(crate) fn claim(home: &Path, store: &TrustStore) -> io::Result<Option<PathBuf>> {
    if let Some(files) = recorded(home, store) {
        return Ok(Some(files));
    }
    if objection(home)?.is_none() && home_is_blank(home)? {
        // Recorded first: who finds an id finds its record.
        let new = HomeId::new();
        store.keep_home(home, new.as_str())?;
        if !new.begin(home)? {
            store.drop_home(home, new.as_str()).ok();
        }
    }
    // Another command may have been faster.
    Ok(recorded(home, store))
}

/// Records that a home, whoever made it, is the person's own from now on. It gets another id: whoever made it may know
/// the one that it has.
///
/// # Errors
///
/// The system's, [`JournalError::Busy`] where another process uses it, and [`JournalError::Home`] for a link and for another
/// user's.
pub(crate) fn take_over(home: &Path, store: &TrustStore) -> Result<(), TakeOverError> {
    if recorded(home, store).is_some() {
        return Ok(());
    }
    let refused = |words: &str| {
        TakeOverError::Home(JournalError::Home {
            path: home.to_owned(),
            source: io::Error::other(words),
        })
    };
    match objection(home).map_err(TakeOverError::Record)? {
        Some(Foreign::Link) => {
            return Err(refused("it is a link: set NEURON_HOME to where it leads"));
        }
        Some(Foreign::AnotherUser) => {
            return Err(refused(
                "it belongs to another user: set NEURON_HOME to it to use it all the same",
            ));
        }
        Some(_) => close(home).map_err(TakeOverError::Record)?,
        None => {}
    }
    let new = HomeId::new();
    store
        .keep_home(home, new.as_str())
        .map_err(TakeOverError::Record)?;
    new.take_over(home).map_err(|error| {
        store.drop_home(home, new.as_str()).ok();
        TakeOverError::Home(error)
    })
}

/// Why a home is not taken over.
#[derive(Debug)]
pub(crate) enum TakeOverError {
    /// It cannot be recorded.
    Record(io::Error),
    /// Its files stay where they are.
    Home(JournalError),
}

/// Keeps others from writing into a directory.
fn close(home: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(home, fs::Permissions::from_mode(0o700))
}
