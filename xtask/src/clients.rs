//! The official Python clients of the model APIs and llmock, in an environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use crate::command;
use crate::digest;
use crate::error::Error;
use crate::fetch::{create, failed, remove};

/// The name of the environment among the engines.
pub(crate) const NAME: &str = "clients";

/// The file with the digest of the requirements that an environment was made from.
const MARK: &str = ".sha256";

/// The path of Python in an environment.
const PYTHON: &str = "bin/python";

/// An environment that may have been made already.
#[derive(Debug)]
pub(crate) struct Clients {
    requirements: PathBuf,
    digest: String,
    versions: PathBuf,
}

impl Clients {
    /// Returns the environment of these requirements, kept in a folder under `store`.
    ///
    /// # Errors
    ///
    /// Returns an error if the requirements cannot be read.
    pub(crate) fn new(requirements: PathBuf, store: &Path) -> Result<Self, Error> {
        let digest = digest::of_file(&requirements)
            .map_err(|source| failed(&requirements, "read", source))?;
        Ok(Self {
            requirements,
            digest,
            versions: store.join(NAME),
        })
    }

    /// Returns the environment's Python, if it was made earlier.
    pub(crate) fn find(&self) -> Option<PathBuf> {
        let mark = fs::read_to_string(self.home().join(MARK)).ok()?;
        let python = self.home().join(PYTHON);
        (mark == self.digest && python.is_file()).then_some(python)
    }

    /// Makes the environment and returns its Python. Every package is checked against the digests of the requirements.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no Python here, or if pip fails.
    pub(crate) fn make(&self) -> Result<PathBuf, Error> {
        let python = python()?;
        // As with fetched programs, an incomplete environment is never at the place of a complete one.
        let work = self
            .versions
            .with_file_name(format!(".making-{NAME}-{}", process::id()));
        remove(&work)?;
        let outcome = self.make_in(&work, python);
        remove(&work)?;
        outcome
    }

    fn make_in(&self, work: &Path, python: &str) -> Result<PathBuf, Error> {
        create(work)?;
        command::quiet(Command::new(python).args(["-m", "venv"]).arg(work))?;
        command::quiet(
            Command::new(work.join(PYTHON))
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                ])
                .args(["--require-hashes", "--only-binary=:all:", "--requirement"])
                .arg(&self.requirements),
        )?;
        let mark = work.join(MARK);
        fs::write(&mark, &self.digest).map_err(|source| failed(&mark, "written", source))?;

        // Another process may have been faster, and tests may use its environment already.
        if let Some(python) = self.find() {
            return Ok(python);
        }
        remove(&self.versions)?;
        create(&self.versions)?;
        let home = self.home();
        fs::rename(work, &home).map_err(|source| failed(&home, "created", source))?;
        Ok(home.join(PYTHON))
    }

    fn home(&self) -> PathBuf {
        let short = self.digest.get(..16).unwrap_or(&self.digest);
        self.versions.join(short)
    }
}

fn python() -> Result<&'static str, Error> {
    ["python3", "python"]
        .into_iter()
        .find(|name| {
            command::ask(Command::new(name).args(["-c", "import venv, ensurepip"])).is_some()
        })
        .ok_or_else(|| Error::ClientMissing {
            name: NAME.to_owned(),
            client: "Python 3",
            install: "Python 3 with its venv module",
            instead: String::new(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn finds_only_what_these_requirements_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let requirements = folder.path().join("clients.txt");
        fs::write(&requirements, "anthropic==1").expect("a file");
        let clients = Clients::new(requirements.clone(), folder.path()).expect("clients");
        assert_eq!(clients.find(), None);

        let home = clients.home();
        fs::create_dir_all(home.join("bin")).expect("a folder");
        fs::write(home.join(PYTHON), "").expect("a program");
        assert_eq!(clients.find(), None, "it is not marked as whole");
        fs::write(home.join(MARK), &clients.digest).expect("a mark");
        assert_eq!(clients.find(), Some(home.join(PYTHON)));

        fs::write(&requirements, "anthropic==2").expect("a file");
        let newer = Clients::new(requirements, folder.path()).expect("clients");
        assert_eq!(newer.find(), None);
    }

    #[test]
    fn the_committed_requirements_are_pinned_by_version_and_digest() {
        let text = fs::read_to_string(workspace::root().join("xtask/clients.txt")).expect("a file");
        let requirements = text
            .replace("\\\n", " ")
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>();

        for line in &requirements {
            assert!(
                line.contains("==") && line.contains("--hash=sha256:"),
                "{line}"
            );
        }
        for client in [
            "anthropic==",
            "openai==",
            "ollama==",
            "llmock==",
            "oteltap==",
        ] {
            assert!(
                requirements.iter().any(|line| line.starts_with(client)),
                "{client}"
            );
        }
    }
}
