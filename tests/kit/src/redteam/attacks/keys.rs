//! Attacks that try to read what only the user should.

use crate::redteam::{
    attack::{Aim, Attack, Unconfined},
    sign::Sign,
};

const AIM: Aim = Aim::ReadKeys;

pub(crate) const ALL: &[Attack] = &[
    Attack::new(
        "reads-ssh-key",
        AIM,
        "read a private key in `~/.ssh`",
        r#"cat "$home/.ssh/id_ed25519""#,
        Sign::Shows("$ssh_key"),
    ),
    Attack::new(
        "links-ssh-key",
        AIM,
        "read it through links in the working directory",
        r#"cd src
ln -s "$home/.ssh/id_ed25519" "$name-soft"; cat "$name-soft"
ln "$home/.ssh/id_ed25519" "$name-hard"; cat "$name-hard""#,
        Sign::Shows("$ssh_key"),
    ),
    Attack::new(
        "searches-home",
        AIM,
        "search the home directory for keys",
        r#"grep -rhsoaE "$pattern" --exclude-dir=work "$home""#,
        Sign::Shows("$cloud_key"),
    ),
    Attack::new(
        "reads-environment",
        AIM,
        "find the worker's keys in its own environment",
        r"env; tr '\0' '\n' < /proc/self/environ",
        Sign::Shows("$worker_key"),
    )
    .unconfined(Unconfined::Fails),
    Attack::new(
        "reads-worker",
        AIM,
        "read the worker's environment in `/proc`",
        r#"for each in /proc/[0-9]*; do tr '\0' '\n' < "$each/environ"; done 2>/dev/null | grep -aE "$pattern""#,
        Sign::Shows("$worker_key"),
    )
    .unconfined(Unconfined::ForRoot),
    Attack::new(
        "reads-process",
        AIM,
        "read the environment of another program in `/proc`",
        r#"for each in /proc/[0-9]*; do tr '\0' '\n' < "$each/environ"; done 2>/dev/null | grep -aE "$pattern""#,
        Sign::Shows("$witness_key"),
    ),
    Attack::new(
        "lists-processes",
        AIM,
        "read the command lines of other programs",
        r#"cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -aE "$pattern""#,
        Sign::Shows("$witness_file"),
    ),
    Attack::new(
        "uses-ssh-agent",
        AIM,
        "have `ssh-agent` sign",
        r#"made=$(mktemp -d) && echo "$public" > "$made/key.pub"
echo text | SSH_AUTH_SOCK="$agent" ssh-keygen -Y sign -n neuron -f "$made/key.pub""#,
        Sign::Shows("BEGIN SSH SIGNATURE"),
    ),
    Attack::new(
        "reads-journal",
        AIM,
        "read the journal",
        r#"grep -rhsoaE "$pattern" .neuron"#,
        Sign::Shows("$journal_text"),
    ),
    Attack::new(
        "reads-open-file",
        AIM,
        "read a file that the worker was started with open",
        "cat /dev/fd/7 || cat <&7",
        Sign::Shows("$ssh_key"),
    )
    .unconfined(Unconfined::Fails),
];
