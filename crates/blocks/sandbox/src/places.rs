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

/// The parts of the system that only its administrator may read. A process that may not read them need not be kept from
/// them.
const SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/security/opasswd",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/letsencrypt",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/NetworkManager/system-connections",
    "/etc/wpa_supplicant",
    "/etc/ppp",
    "/etc/kubernetes",
    "/etc/rancher",
];

/// Where the keys of the machine's SSH server are.
const HOST_KEYS: &str = "/etc/ssh";

/// Where a toolchain is, and what of it is read.
struct Toolchain {
    /// The variable that names its directory; empty for none.
    variable: &'static str,
    /// Where it is in the home directory otherwise; empty for nowhere.
    at: &'static str,
    /// What of it is read, all if nothing is named.
    parts: &'static [&'static str],
    /// Whether a person works in the rest, which is hidden otherwise wherever the directory is.
    shared: bool,
}

const fn toolchain(
    variable: &'static str,
    at: &'static str,
    parts: &'static [&'static str],
) -> Toolchain {
    Toolchain {
        variable,
        at,
        parts,
        shared: false,
    }
}

const CARGO: &str = ".cargo";

/// What conda installs, without its settings, which may hold tokens.
const CONDA: &[&str] = &[
    "bin",
    "compiler_compat",
    "conda-meta",
    "condabin",
    "envs",
    "etc",
    "include",
    "lib",
    "lib64",
    "libexec",
    "pkgs",
    "sbin",
    "share",
    "shell",
    "ssl",
    "x86_64-conda-linux-gnu",
    "aarch64-conda-linux-gnu",
];

const TOOLCHAINS: &[Toolchain] = &[
    toolchain(
        "CARGO_HOME",
        CARGO,
        &["bin", "config", "config.toml", "env", "git", "registry"],
    ),
    toolchain("RUSTUP_HOME", ".rustup", &["settings.toml", "toolchains"]),
    Toolchain {
        shared: true,
        ..toolchain("GOPATH", "go", &["bin", "pkg"])
    },
    toolchain(
        "NVM_DIR",
        ".nvm",
        &["alias", "nvm-exec", "nvm.sh", "versions"],
    ),
    toolchain("VOLTA_HOME", ".volta", &[]),
    toolchain("PNPM_HOME", ".local/share/pnpm", &[]),
    toolchain("BUN_INSTALL", ".bun", &["bin", "install"]),
    toolchain("", ".deno", &["bin"]),
    toolchain("", ".local/share/fnm", &[]),
    toolchain(
        "PYENV_ROOT",
        ".pyenv",
        &["bin", "libexec", "plugins", "shims", "version", "versions"],
    ),
    toolchain("", ".local/share/uv", &["python", "tools"]),
    toolchain("", ".local/share/pipx", &["venvs"]),
    toolchain("", ".local/pipx", &["venvs"]),
    toolchain("", ".local/lib", &[]),
    toolchain("", "miniconda3", CONDA),
    toolchain("", "anaconda3", CONDA),
    toolchain(
        "RBENV_ROOT",
        ".rbenv",
        &["bin", "libexec", "plugins", "shims", "version", "versions"],
    ),
    toolchain("", ".rvm", &[]),
    toolchain("SDKMAN_DIR", ".sdkman", &["bin", "candidates"]),
    toolchain("JAVA_HOME", "", &[]),
    toolchain("", ".m2", &["repository"]),
    toolchain("ASDF_DATA_DIR", ".asdf", &[]),
    toolchain("MISE_DATA_DIR", ".local/share/mise", &[]),
    toolchain("", ".opam", &[]),
    toolchain("", ".ghcup", &["bin", "ghc"]),
    toolchain("", ".juliaup", &[]),
    toolchain("", ".elan", &["bin", "settings.toml", "toolchains"]),
];

/// In the directory of a person's state, what neuron records of it: which agent files are trusted.
const RECORDS: &str = "neuron";

/// What is read on this machine whatever the working directory.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Real paths.
    pub(crate) read: Vec<PathBuf>,
    /// Credentials among them.
    pub(crate) hidden: Vec<PathBuf>,
    /// Directories of toolchains in which only what is read by itself is read, wherever they are. Real paths.
    pub(crate) closed: Vec<PathBuf>,
    /// Where it is recorded what a person trusts, as the environment names it, whether it is there or not.
    pub(crate) records: Option<PathBuf>,
    /// Symbolic links outside of them that lead into them, with their targets.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// How each of those that are read was found.
    ways: Vec<Way>,
    /// The home directory.
    pub(crate) home: Option<PathBuf>,
}

impl Places {
    /// Returns the places of this process, looked up once.
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

    /// Returns the places that are read, except those that are found only through links in these directories, which
    /// commands write.
    pub(crate) fn unless_led_by(&self, write: &[PathBuf]) -> Vec<PathBuf> {
        let safe = |path: &&PathBuf| {
            let mut ways = self.ways.iter().filter(|way| way.real == **path);
            ways.any(|way| way.writable(write).is_none())
        };
        self.read.iter().filter(safe).cloned().collect()
    }

    pub(crate) fn find(
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
        for toolchain in TOOLCHAINS {
            let Toolchain {
                variable: name,
                at,
                parts,
                shared,
            } = *toolchain;
            let named = Some(name)
                .filter(|name| !name.is_empty())
                .and_then(&variable);
            let usual = places.home.as_ref().filter(|_| !at.is_empty());
            let Some(directory) = named.or_else(|| usual.map(|home| home.join(at))) else {
                continue;
            };
            if parts.is_empty() {
                places.add(&directory);
            } else if !shared {
                places.close(&directory);
            }
            for part in parts {
                places.add(&directory.join(part));
            }
            if at == CARGO {
                places.hide_tokens(&directory);
            }
        }
        for secret in SECRETS {
            places.hide_readable(Path::new(secret));
        }
        let keys = fs::read_dir(HOST_KEYS).into_iter().flatten().flatten();
        for key in keys.filter(|entry| is_host_key(entry.file_name().as_encoded_bytes())) {
            places.hide_readable(&key.path());
        }
        let state = variable("XDG_STATE_HOME").filter(|path| path.is_absolute());
        let usual = || Some(places.home.as_ref()?.join(".local/state"));
        places.records = state.or_else(usual).map(|state| state.join(RECORDS));
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

    /// Hides what this process may read.
    fn hide_readable(&mut self, path: &Path) {
        let readable = match path.is_dir() {
            true => fs::read_dir(path).is_ok(),
            false => fs::File::open(path).is_ok(),
        };
        if readable {
            self.hide(path);
        }
    }

    /// Closes a directory: only what is added by itself is read in it.
    fn close(&mut self, path: &Path) {
        let holds_home = |real: &PathBuf| {
            self.home
                .as_ref()
                .is_some_and(|home| home.starts_with(real))
        };
        if let Some(real) = path.canonicalize().ok().filter(|real| !holds_home(real)) {
            self.closed.push(real);
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

fn is_host_key(name: &[u8]) -> bool {
    name.starts_with(b"ssh_host_") && name.ends_with(b"_key")
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
        let expected = [
            ".local/bin",
            ".cargo/bin",
            ".cargo/config.toml",
            ".local/share/uv/python",
        ];
        assert_eq!(
            ours,
            expected
                .map(|path| home.join(path))
                .iter()
                .collect::<Vec<_>>()
        );
        let closed = [".cargo", ".local/share/uv"].map(|path| home.join(path));
        assert_eq!(places.closed, closed);
        let records = Some(home.join(".local/state/neuron"));
        assert_eq!(places.records, records);
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
        let reads = |path: PathBuf| places.read.contains(&path);
        assert!(reads(elsewhere.join("config.toml")) && !reads(home.join(".cargo/config.toml")));
        assert!(places.hidden.contains(&elsewhere.join("config.toml")));
    }

    #[test]
    fn the_book_lists_what_is_read() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/src/sandbox.md");
        let page = fs::read_to_string(page).unwrap();
        let (_, list) = page.split_once("### What is read by default").unwrap();
        let named = |entry: &str| -> Vec<String> {
            let (_, text) = list.split_once(&format!("- **{entry}**")).unwrap();
            let text = text.split("\n- **").next().unwrap();
            let text = text.split("\n\n").next().unwrap();
            let quoted = text.split('`').skip(1).step_by(2);
            quoted.map(str::to_owned).collect()
        };
        assert_eq!(&named("The system")[..SYSTEM.len()], SYSTEM);
        let parts = |toolchain: &Toolchain| {
            let Toolchain { at, parts, .. } = *toolchain;
            let whole: &[&str] = if parts.is_empty() { &[""] } else { parts };
            let paths = whole.iter().map(move |part| format!("~/{at}/{part}"));
            paths
                .map(|path| path.trim_end_matches('/').to_owned())
                .collect::<Vec<_>>()
        };
        let is_conda = |toolchain: &&Toolchain| toolchain.at.ends_with("conda3");
        let others = TOOLCHAINS
            .iter()
            .filter(|each| !is_conda(each) && !each.at.is_empty());
        assert_eq!(
            named("Toolchains"),
            others.flat_map(parts).collect::<Vec<_>>()
        );
        let conda = TOOLCHAINS.iter().filter(is_conda);
        let conda: Vec<_> = conda.map(|each| format!("~/{}", each.at)).collect();
        let conda = conda
            .iter()
            .map(String::as_str)
            .chain(CONDA.iter().copied());
        assert_eq!(named("Conda"), conda.collect::<Vec<_>>());
        let keys = format!("{HOST_KEYS}/ssh_host_*_key");
        let never = SECRETS.iter().copied().chain([keys.as_str()]);
        assert_eq!(named("Never"), never.collect::<Vec<_>>());
    }
}
