//! Keys, statements and OpenSSH's programs.

use std::{
    fs,
    io::{BufRead as _, BufReader, ErrorKind, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use neuron_approvers::{ApproverEntry, Approvers, DecisionContent, Signer, Statement};
use serde_json::json;
use ssh_key::{LineEnding, PrivateKey, private::Ed25519Keypair};

/// A decision with a value for every key.
pub(crate) fn statement() -> Statement {
    Statement {
        place: "temporal:default".into(),
        run: "q3".into(),
        nonce: "5f1c7c1e-65a4-4bc2-a4c8-33ccd2dbe2a8".into(),
        ticket: "t2-1".into(),
        digest: "8ed7f00d".into(),
        definition: "sha256:09ab".into(),
        at: "2026-11-23T16:27:58.123Z".into(),
        content: DecisionContent {
            verdict: Some("approve".into()),
            args: Some(json!({"command": "cargo test", "n": 1.0})),
            text: Some("blue".into()),
            choice: Some("retry".into()),
            output: Some(json!([1, 2])),
            comment: Some("fine, Köchel".into()),
            always: Some("call".into()),
        },
    }
}

/// A key in which only the number is random.
pub(crate) fn private(seed: u8) -> PrivateKey {
    PrivateKey::from(Ed25519Keypair::from_seed(&[seed; 32]))
}

pub(crate) fn line(private: &PrivateKey) -> String {
    private.public_key().to_openssh().unwrap()
}

pub(crate) fn entry(name: &str, keys: &[String], groups: &[&str]) -> ApproverEntry {
    ApproverEntry {
        name: name.into(),
        keys: keys.to_vec(),
        groups: groups.iter().map(|&group| group.into()).collect(),
    }
}

/// Those who have one key each.
pub(crate) fn approvers(names: &[(&str, &PrivateKey)]) -> Approvers {
    let entries = names.iter();
    Approvers::new(entries.map(|(name, key)| entry(name, &[line(key)], &[]))).unwrap()
}

pub(crate) fn write_key(path: &Path, key: &PrivateKey) {
    key.write_openssh_file(path, LineEnding::LF).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

pub(crate) fn signer(key: &PrivateKey) -> Signer {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("id");
    write_key(&path, key);
    signer_of(&path)
}

pub(crate) fn signer_of(path: &Path) -> Signer {
    Signer::from_key_file(path, None, |_| panic!("it has no passphrase")).unwrap()
}

/// Runs one of OpenSSH's programs, with this on its standard input.
pub(crate) fn run(program: &str, args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(program);
    command.args(args).env_remove("SSH_AUTH_SOCK");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{program} of the package openssh-client: {error}"));
    match child.stdin.take().unwrap().write_all(input) {
        // It may have ended without reading: what it says counts.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        written => written.unwrap(),
    }
    child.wait_with_output().unwrap()
}

pub(crate) fn run_well(program: &str, args: &[&str], input: &[u8]) -> Output {
    let output = run(program, args, input);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {said}");
    output
}

/// Has `ssh-keygen` make a key, and returns its file.
pub(crate) fn keygen(folder: &Path, kind: &str, passphrase: &str) -> PathBuf {
    let path = folder.join("key");
    let text = path.to_str().unwrap();
    // One in 256 of ECDSA keys cannot be read by the library.
    for _ in 0..8 {
        let args = [
            "-q",
            "-t",
            kind,
            "-N",
            passphrase,
            "-C",
            "ada@laptop",
            "-f",
            text,
        ];
        run_well("ssh-keygen", &args, b"y\n");
        if PrivateKey::read_openssh_file(&path).is_ok() {
            return path;
        }
        fs::remove_file(&path).unwrap();
    }
    panic!("no {kind} key can be read");
}

pub(crate) fn public_line(key: &Path) -> String {
    fs::read_to_string(key.with_extension("pub")).unwrap()
}

/// A real `ssh-agent`, which ends with the test.
pub(crate) struct RealAgent {
    child: Child,
    pub(crate) socket: PathBuf,
}

impl RealAgent {
    pub(crate) fn start(folder: &Path) -> Self {
        let socket = folder.join("agent");
        let mut child = Command::new("ssh-agent")
            .args(["-D", "-a", socket.to_str().unwrap()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("ssh-agent of the package openssh-client");
        // It says where it listens when it does.
        let mut said = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut said).unwrap();
        assert!(said.contains("SSH_AUTH_SOCK"), "{said}");
        Self { child, socket }
    }

    pub(crate) fn add(&self, key: &Path) {
        let added = Command::new("ssh-add")
            .args(["-q", key.to_str().unwrap()])
            .env("SSH_AUTH_SOCK", &self.socket)
            .stdin(Stdio::null())
            .status();
        assert!(added.unwrap().success());
    }
}

impl Drop for RealAgent {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
