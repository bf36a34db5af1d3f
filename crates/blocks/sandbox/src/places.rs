//! What every sandbox of this machine reads: the system, the directories on PATH, toolchains.

use std::{
    env, fs,
    path::{Component, Path, PathBuf},
    sync::OnceLock,
};

use crate::links::Way;

/// Directories of the system. Those that are there.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu/store",
    "/snap",
    "/home/linuxbrew/.linuxbrew",
];

/// Directories of toolchains: the variable that names one, where it is in the home directory otherwise, which parts
/// of it are read (all if none is named), and which are not.
const TOOLCHAINS: &[(&str, &str, &[&str], &[&str])] = &[
    (
        "CARGO_HOME",
        ".cargo",
        &[],
        &["credentials", "credentials.toml"],
    ),
    ("RUSTUP_HOME", ".rustup", &[], &[]),
    ("GOPATH", "go", &["bin", "pkg"], &[]),
    ("NVM_DIR", ".nvm", &[], &[]),
    ("VOLTA_HOME", ".volta", &[], &[]),
    ("PNPM_HOME", ".local/share/pnpm", &[], &[]),
    ("BUN_INSTALL", ".bun", &[], &[]),
    ("", ".deno/bin", &[], &[]),
    ("", ".local/share/fnm", &[], &[]),
    ("PYENV_ROOT", ".pyenv", &[], &[]),
    ("", ".local/share/uv", &["python", "tools"], &[]),
    ("", ".local/share/pipx", &["venvs"], &[]),
    ("", ".local/pipx", &["venvs"], &[]),
    ("", ".local/lib", &[], &[]),
    ("", "miniconda3", &[], &[]),
    ("", "anaconda3", &[], &[]),
    ("RBENV_ROOT", ".rbenv", &[], &[]),
    ("", ".rvm", &[], &[]),
    ("SDKMAN_DIR", ".sdkman", &["candidates", "bin"], &[]),
    ("JAVA_HOME", "", &[], &[]),
    ("", ".m2/repository", &[], &[]),
    ("ASDF_DATA_DIR", ".asdf", &[], &[]),
    ("MISE_DATA_DIR", ".local/share/mise", &[], &[]),
    ("", ".opam", &[], &[]),
    ("", ".ghcup", &["bin", "ghc"], &[]),
    ("", ".juliaup", &[], &[]),
    ("", ".elan", &[], &[]),
];

/// What is read on this machine whatever the working directory.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Real paths.
    pub(crate) read: Vec<PathBuf>,
    /// Credentials among them.
    pub(crate) hidden: Vec<PathBuf>,
    /// Symbolic links outside of them that lead into them, with their targets.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// How each of those that are read was found.
    ways: Vec<Way>,
    /// The home directory.
    pub(crate) home: Option<PathBuf>,
}

impl Places {
    /// Those of this process, looked up once.
    pub(crate) fn get() -> &'static Self {
        static PLACES: OnceLock<Places> = OnceLock::new();
        PLACES.get_or_init(|| {
            let path = env::var_os("PATH").unwrap_or_default();
            let home = env::home_dir().and_then(|home| home.canonicalize().ok());
            Self::find(home, env::split_paths(&path), |name| {
                env::var_os(name).map(PathBuf::from)
            })
        })
    }

    /// Those that are read, but for those that are found only through links in these directories, which commands write.
    pub(crate) fn unless_led_by(&self, write: &[PathBuf]) -> Vec<PathBuf> {
        let safe = |path: &&PathBuf| {
            let mut ways = self.ways.iter().filter(|way| way.real == **path);
            ways.any(|way| way.writable(write).is_none())
        };
        self.read.iter().filter(safe).cloned().collect()
    }

    fn find(
        home: Option<PathBuf>,
        path: impl Iterator<Item = PathBuf>,
        variable: impl Fn(&str) -> Option<PathBuf>,
    ) -> Self {
        let mut places = Self {
            home,
            ..Self::default()
        };
        for directory in SYSTEM {
            places.add(Path::new(directory));
        }
        for directory in path {
            places.add(&directory);
        }
        for (name, at, parts, secrets) in TOOLCHAINS {
            let named = Some(*name)
                .filter(|name| !name.is_empty())
                .and_then(&variable);
            let usual = places.home.as_ref().filter(|_| !at.is_empty());
            let Some(directory) = named.or_else(|| usual.map(|home| home.join(at))) else {
                continue;
            };
            if parts.is_empty() {
                places.add(&directory);
            }
            for part in *parts {
                places.add(&directory.join(part));
            }
            if *at == ".cargo" {
                places.hide_tokens(&directory);
            }
            for secret in *secrets {
                places.hide(&directory.join(secret));
            }
        }
        places
    }

    /// Adds a directory that exists, unless the home directory is in it.
    fn add(&mut self, path: &Path) {
        let parents = path.components().any(|part| part == Component::ParentDir);
        if !path.is_absolute() || parents {
            return;
        }
        let Some(way) = Way::of(path) else {
            return;
        };
        let real = way.real.clone();
        let holds_home = self
            .home
            .as_ref()
            .is_some_and(|home| home.starts_with(&real));
        if real == Path::new("/")
            || (holds_home && !SYSTEM.iter().any(|system| real == Path::new(system)))
        {
            return;
        }
        if real != path && !self.read.iter().any(|read| path.starts_with(read)) {
            self.links.push((path.to_owned(), real.clone()));
        }
        if !self.read.contains(&real) {
            self.read.push(real);
        }
        self.ways.push(way);
    }

    fn hide(&mut self, path: &Path) {
        if let Ok(real) = path.canonicalize() {
            self.hidden.push(real);
        }
    }

    /// Tokens may be in cargo's settings, too.
    fn hide_tokens(&mut self, cargo: &Path) {
        for name in ["config", "config.toml"] {
            let path = cargo.join(name);
            let text = fs::read_to_string(&path).unwrap_or_default();
            if text.contains("token") || text.contains("secret") {
                self.hide(&path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap().join("home");
        for directory in [".cargo/bin", ".ssh", ".local/bin", ".local/share/uv/python"] {
            fs::create_dir_all(home.join(directory)).unwrap();
        }
        fs::write(home.join(".cargo/credentials.toml"), "token").unwrap();
        fs::write(home.join(".cargo/config.toml"), "[net]").unwrap();
        (temp, home)
    }

    #[test]
    fn reads_of_the_home_directory_toolchains_and_what_is_on_path() {
        let (_temp, home) = place();
        let path = [
            home.join(".local/bin"),
            home.clone(),
            PathBuf::from("bin"),
            "/".into(),
        ];
        let places = Places::find(Some(home.clone()), path.into_iter(), |_| None);
        let ours: Vec<_> = places
            .read
            .iter()
            .filter(|path| path.starts_with(&home))
            .collect();
        let expected = [".local/bin", ".cargo", ".local/share/uv/python"];
        assert_eq!(
            ours,
            expected
                .map(|path| home.join(path))
                .iter()
                .collect::<Vec<_>>()
        );
        assert_eq!(places.hidden, [home.join(".cargo/credentials.toml")]);
        assert!(!places.read.contains(&PathBuf::from("/")));
    }

    #[test]
    fn a_variable_names_another_place() {
        let (_temp, home) = place();
        let elsewhere = home.join("tools/cargo");
        fs::create_dir_all(&elsewhere).unwrap();
        fs::write(elsewhere.join("config.toml"), "[registry]\ntoken = \"x\"").unwrap();
        let places = Places::find(Some(home.clone()), std::iter::empty(), |name| {
            (name == "CARGO_HOME").then(|| elsewhere.clone())
        });
        assert!(places.read.contains(&elsewhere) && !places.read.contains(&home.join(".cargo")));
        assert_eq!(places.hidden, [elsewhere.join("config.toml")]);
    }
}
