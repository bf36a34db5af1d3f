//! What makes a home directory private to its owner, and keeps it out of commits.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    journal::store::error::JournalError,
    owner_files::{make_dir, options},
};

/// The files of a home directory. A directory with anything else in it is shared with other programs or people.
const OURS: [&str; 6] = ["neuron.db", "sessions.db", "locks", "engines", "id", IGNORE];

/// The home directory that neuron creates by itself.
const HOME: &str = ".neuron";

const IGNORE: &str = ".gitignore";

/// Creates the home directory if it is missing, for its owner alone, and keeps it out of commits: a `.gitignore` in it
/// ignores everything, unless there is one already or the directory has files that are not neuron's.
///
/// # Errors
///
/// [`JournalError::Home`] if it cannot be created, [`JournalError::Exposed`] if all users may write into it.
pub fn prepare_home(home: &Path) -> Result<(), JournalError> {
    let unusable = |source| JournalError::Home {
        path: home.to_path_buf(),
        source,
    };
    make_dir(home).map_err(unusable)?;
    let others = mode(&fs::metadata(home).map_err(unusable)?);
    if others & 0o002 != 0 {
        return Err(JournalError::Exposed {
            path: home.to_path_buf(),
        });
    }
    if others & 0o020 != 0 {
        tracing::warn!(
            home = %home.display(),
            "the group may write into the home directory, and so change what runs do"
        );
    }
    if let Err(error) = keep_out_of_commits(home) {
        tracing::debug!(%error, home = %home.display(), "the home directory has no .gitignore");
    }
    Ok(())
}

/// Writes a whole file, for its owner alone, in place of an existing one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Returns whether a file or directory is this person's, or the administrator's, and no other user may write to it.
pub(crate) fn is_private(found: &fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;

        let is_own = found.uid() == 0 || found.uid() == rustix::process::geteuid().as_raw();
        is_own && found.mode() & 0o022 == 0
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        true
    }
}

/// Makes the files of a database accessible to the owner alone, also existing ones. SQLite creates its further files
/// with the rights of the database.
pub(crate) fn tighten(database: &Path) {
    // An existing file is not opened: closing it would release the locks that SQLite has on it in this process. SQLite
    // reports why a file cannot be created.
    drop(options().create_new(true).open(database));
    for end in ["", "-wal", "-shm", "-journal"] {
        let mut path = database.as_os_str().to_owned();
        path.push(end);
        let path = PathBuf::from(path);
        if let Err(error) = take_from_others(&path) {
            tracing::warn!(%error, path = %path.display(), "the file may be read by others");
        }
    }
}

#[cfg(unix)]
fn take_from_others(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let found = match fs::metadata(path) {
        Ok(found) if found.is_file() => found,
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let (has, wanted) = (mode(&found), mode(&found) & 0o700);
    if has == wanted {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(wanted))
}

#[cfg(not(unix))]
fn take_from_others(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn mode(found: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> u32 {
    0
}

fn keep_out_of_commits(home: &Path) -> io::Result<()> {
    let path = home.join(IGNORE);
    if path.try_exists()? || !is_ours(home)? {
        return Ok(());
    }
    // Not through a link that another user put there.
    let mut file = options().create_new(true).open(&path)?;
    file.write_all(b"*\n")
}

/// Returns whether no other person keeps anything here, which the file would hide from them.
fn is_ours(home: &Path) -> io::Result<bool> {
    if home.file_name().is_some_and(|name| name == HOME) {
        return Ok(true);
    }
    for entry in fs::read_dir(home)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let is_database = name.starts_with("neuron.db-") || name.starts_with("sessions.db-");
        if !is_database && !OURS.contains(&name.as_ref()) {
            return Ok(false);
        }
    }
    Ok(true)
}
