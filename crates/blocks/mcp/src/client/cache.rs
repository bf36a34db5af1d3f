//! The directory that is `HOME` for the program of a server: what one writes there, only the same one reads.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use neuron_sandbox::Sandbox;
use neuron_types::hex;
use sha2::{Digest as _, Sha256};

/// What the digest begins with, so that it is no other digest of the same texts.
const DIGESTS: &str = "neuron mcp cache 2";

/// The most characters of a server's name that a directory's name begins with.
const MAX_NAME_CHARS: usize = 40;

/// How many bytes of the digest a directory's name ends with.
const DIGEST_BYTES: usize = 16;

/// What decides which program runs, what it gets, and on whose word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity<'a> {
    /// The server's name.
    pub(crate) name: &'a str,
    /// The agent file that has the server; `None` for one of a program.
    pub(crate) configured_in: Option<&'a Path>,
    /// Where the program works.
    pub(crate) cwd: &'a Path,
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    /// Of these only the names count: a key that is renewed begins no other cache.
    pub(crate) environment: &'a BTreeMap<String, String>,
    pub(crate) sandbox: &'a Sandbox,
}

/// Returns the user's cache directory, and where in it the directory of a server is; `None` where that is not known.
pub(crate) fn directory(identity: &Identity<'_>) -> Option<(PathBuf, PathBuf)> {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let caches = named.or_else(|| env::home_dir().map(|home| home.join(".cache")));
    let caches = caches.filter(|path| path.is_absolute())?;
    let below = Path::new("neuron").join("mcp").join(identity.folder());
    Some((caches, below))
}

impl Identity<'_> {
    /// Returns the directory's name: the server's, and a digest of all that it is.
    fn folder(&self) -> String {
        let mut hash = Sha256::new();
        // Each with its length before it, so that no two identities are the same bytes.
        let mut add = |bytes: &[u8]| {
            hash.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(bytes);
        };
        add(DIGESTS.as_bytes());
        add(self.name.as_bytes());
        match self.configured_in {
            Some(file) => {
                add(b"file");
                add(real(file).as_os_str().as_encoded_bytes());
            }
            None => add(b"program"),
        }
        // `npx` and a shell read what is there, whatever their words name.
        add(real(self.cwd).as_os_str().as_encoded_bytes());
        add(self.command.as_bytes());
        add(&self.args.len().to_le_bytes());
        self.args.iter().for_each(|word| add(word.as_bytes()));
        add(&self.environment.len().to_le_bytes());
        let names = self.environment.keys();
        names.for_each(|name| add(name.as_bytes()));
        add(format!("{:?}", self.sandbox.rules()).as_bytes());
        let digest = hash.finalize();
        let digest = digest.get(..DIGEST_BYTES).unwrap_or(&digest);
        format!("{}-{}", shown(self.name), hex(digest))
    }
}

/// Returns the part of a name that leads nowhere else.
fn shown(name: &str) -> String {
    let plain = name.chars().map(|it| match it {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => it,
        _ => '_',
    });
    plain.take(MAX_NAME_CHARS).collect()
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use neuron_sandbox::SandboxRules;

    use super::*;

    fn variables(names: &[&str]) -> BTreeMap<String, String> {
        let pairs = names.iter().map(|name| ((*name).to_owned(), String::new()));
        pairs.collect()
    }

    #[test]
    fn everything_that_decides_what_runs_begins_another_directory() {
        let (none, token) = (variables(&[]), variables(&["TOKEN"]));
        let (words, network) = (
            ["x".to_owned()],
            Sandbox::Custom(SandboxRules::new().network(true)),
        );
        let (joined, apart) = (["ab".to_owned()], ["a".to_owned(), "b".to_owned()]);
        let base = Identity {
            name: "github",
            configured_in: Some(Path::new("/one/neuron.toml")),
            cwd: Path::new("/one"),
            command: "server",
            args: &[],
            environment: &none,
            sandbox: &Sandbox::Workspace,
        };
        let others = [
            Identity {
                name: "gitlab",
                ..base
            },
            Identity {
                configured_in: Some(Path::new("/two/neuron.toml")),
                ..base
            },
            Identity {
                configured_in: None,
                ..base
            },
            Identity {
                cwd: Path::new("/two"),
                ..base
            },
            Identity {
                configured_in: None,
                cwd: Path::new("/two"),
                ..base
            },
            Identity {
                command: "other",
                ..base
            },
            Identity {
                args: &words,
                ..base
            },
            Identity {
                args: &joined,
                ..base
            },
            Identity {
                args: &apart,
                ..base
            },
            Identity {
                environment: &token,
                ..base
            },
            Identity {
                sandbox: &network,
                ..base
            },
        ];
        let mut folders: Vec<_> = others.iter().map(Identity::folder).collect();
        folders.push(base.folder());
        let all = folders.len();
        folders.sort();
        folders.dedup();
        assert_eq!(folders.len(), all, "{folders:?}");
        assert!(base.folder().starts_with("github-"));
    }

    #[test]
    fn a_renewed_key_keeps_the_directory() {
        let renewed = BTreeMap::from([("TOKEN".to_owned(), "another".to_owned())]);
        let old = variables(&["TOKEN"]);
        let base = Identity {
            name: "github",
            configured_in: None,
            cwd: Path::new("/one"),
            command: "server",
            args: &[],
            environment: &old,
            sandbox: &Sandbox::Workspace,
        };
        let after = Identity {
            environment: &renewed,
            ..base
        };
        assert_eq!(base.folder(), after.folder());
    }

    #[test]
    fn a_working_directory_has_its_own_whatever_the_command_line_names() {
        let none = variables(&[]);
        let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let commands = [
            ("npx", words(&["-y", "@example/server"])),
            ("uvx", words(&["server"])),
            ("sh", words(&["-c", "exec ./start"])),
            ("python3", words(&["server.py"])),
            ("/usr/bin/server", words(&[])),
        ];
        for (command, args) in &commands {
            let at = |cwd| Identity {
                name: "github",
                configured_in: Some(Path::new("/home/neuron.toml")),
                cwd: Path::new(cwd),
                command,
                args,
                environment: &none,
                sandbox: &Sandbox::Workspace,
            };
            assert_ne!(at("/one").folder(), at("/two").folder(), "{command}");
        }
    }

    #[test]
    fn a_working_directory_is_the_same_through_a_link() {
        let root = tempfile::tempdir().unwrap();
        let link = root.path().join("link");
        symlink(root.path(), &link).unwrap();
        let none = variables(&[]);
        let at = |cwd| Identity {
            name: "github",
            configured_in: None,
            cwd,
            command: "server",
            args: &[],
            environment: &none,
            sandbox: &Sandbox::Workspace,
        };
        assert_eq!(at(root.path()).folder(), at(&link).folder());
    }

    #[test]
    fn a_file_is_the_same_through_a_link() {
        let root = tempfile::tempdir().unwrap();
        let (file, link) = (root.path().join("neuron.toml"), root.path().join("link"));
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        let none = variables(&[]);
        let by = |file| Identity {
            name: "github",
            configured_in: Some(file),
            cwd: root.path(),
            command: "server",
            args: &[],
            environment: &none,
            sandbox: &Sandbox::Workspace,
        };
        assert_eq!(by(&file).folder(), by(&link).folder());
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        assert_eq!(shown("../../x y"), "______x_y");
        assert_eq!(shown(&"n".repeat(500)).len(), MAX_NAME_CHARS);
    }
}
