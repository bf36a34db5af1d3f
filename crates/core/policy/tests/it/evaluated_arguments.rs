//! Rules about commands of the shell's own that evaluate what is quoted, beside what Bash makes of these.

use std::process::Stdio;

use std::collections::BTreeMap;

use neuron_policy::{ArgumentKind, CallPattern, Certainty, JudgedCall};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::json;

/// What a command writes that should not be executed.
const MARK: &str = "pwned";

/// Simple commands that execute what is in single quotes.
const EXECUTING: [&str; 45] = [
    "test -v 'x[$(touch pwned)]'",
    "test -v 'x[`touch pwned`]'",
    "test -v x[\\$\\(touch\\ pwned\\)]",
    "test ! -v 'x[$(touch pwned)]'",
    "test -v x -o -v 'x[$(touch pwned)]'",
    "[ -v 'x[$(touch pwned)]' ]",
    "[[ -v 'x[$(touch pwned)]' ]]",
    "[[ 'x[$(touch pwned)]' -gt 0 ]]",
    "[[ 1 -eq 'x[$(touch pwned)]' ]]",
    "read 'x[$(touch pwned)]'",
    "read -r y 'x[$(touch pwned)]'",
    "let 'x[$(touch pwned)]'",
    "let 'x=y[$(touch pwned)]'",
    "printf -v 'x[$(touch pwned)]' a",
    "printf '-vx[$(touch pwned)]' a",
    "declare 'x[$(touch pwned)]=1'",
    "declare -i 'x=y[$(touch pwned)]'",
    "declare -i 'x+=y[$(touch pwned)]'",
    "declare -a 'x=([$(touch pwned)]=1)'",
    "declare -a 'x=($(touch pwned))'",
    "declare -A 'x=($(touch pwned) 1)'",
    "declare -a x='($(touch pwned))'",
    "declare -r 'x[$(touch pwned)]=3'",
    "typeset 'x[$(touch pwned)]=1'",
    "typeset -a 'x=($(touch pwned))'",
    "readonly -a 'x=($(touch pwned))'",
    "unset 'DIRSTACK[$(touch pwned)]'",
    "trap 'touch pwned' EXIT",
    "eval 'touch pwned'",
    "eval touch pwned",
    "compgen -W '$(touch pwned)'",
    "compgen -W '$(touch pwned)' x",
    "compgen -C 'touch pwned'",
    "mapfile -c 1 -C 'touch pwned;' x",
    "readarray -c1 -C'touch pwned;' x",
    "command test -v 'x[$(touch pwned)]'",
    "command -p test -v 'x[$(touch pwned)]'",
    "builtin test -v 'x[$(touch pwned)]'",
    "command builtin eval 'touch pwned'",
    "builtin trap 'touch pwned' EXIT",
    "time test -v 'x[$(touch pwned)]'",
    "\\test -v 'x[$(touch pwned)]'",
    "'te'st -\"v\" 'x[$(touch pwned)]'",
    "builtin compgen -C 'touch pwned'",
    "command let 'x[$(touch pwned)]'",
];

/// Scripts that execute what is in single quotes.
const EXECUTING_SCRIPTS: [&str; 29] = [
    "x='y[$(touch pwned)]'; [[ $x -gt 0 ]]",
    "x='y[$(touch pwned)]'; [[ x -gt 0 ]]",
    "[[ a == b || 'x[$(touch pwned)]' -gt 0 ]]",
    "[[ ! ( a == b && b == c ) && 'x[$(touch pwned)]' -gt 0 && a ]]",
    "x='y[$(touch pwned)]'; while [[ x -lt 0 ]]; do :; done",
    "x='y[$(touch pwned)]'; echo $((x))",
    "x='y[$(touch pwned)]'; echo $[x]",
    "x='y[$(touch pwned)]'; ((x))",
    "(( 'x[$(touch pwned)]' ))",
    "x='y[$(touch pwned)]'; for ((i=x;i<1;i++)); do :; done",
    "x='y[$(touch pwned)]'; echo ${PATH:x}",
    "x='y[$(touch pwned)]'; echo ${PATH[@]:x:1}",
    "x='y[$(touch pwned)]'; echo \"${!x}\"",
    "x='y[$(touch pwned)]'; a[x]=1",
    "x='y[$(touch pwned)]'; echo ${a[x]}",
    "x='y[$(touch pwned)]'; exec {a[x]}>/dev/null",
    "x='y[$(touch pwned)]'; test -v \"$x\"",
    "x='y[$(touch pwned)]'; let x",
    "x='y[$(touch pwned)]'; declare -i z=$x",
    "x='y[$(touch pwned)]'; declare -n r=$x; echo $r",
    "x='($(touch pwned))'; declare -a \"z=$x\"",
    "x='$(touch pwned)'; echo \"${x@P}\"",
    "PS4='$(touch pwned)'; set -x; ls",
    "export BASH_ENV='$(touch pwned)'; bash -c :",
    "sleep 0 & wait -n -p 'x[$(touch pwned)]'", // The shell waits for nothing.
    "source /dev/stdin <<< 'touch pwned'",
    ". /dev/stdin <<< 'touch pwned'",
    "read -r x <<< 'y[$(touch pwned)]'; [[ x -gt 0 ]]",
    "read -r x <<'E'\ny[$(touch pwned)]\nE\n((x))",
];

/// What is done every day, and evaluates nothing twice.
const HARMLESS: [&str; 35] = [
    "find . -name bind",
    "env printf -v 'x[$(touch pwned)]'",
    "test -d src",
    "test -n '$x'",
    "test 3 -gt 2",
    "test -v HOME",
    "test src/a -nt src/*.rs",
    "[ -f x ]",
    "[ -f *.rs ]",
    "[ 'a[1]' = b ]",
    "[ 3 -gt 2 ]",
    "[[ -d src ]]",
    "[[ 3 -gt 2 ]]",
    "[[ a == [a-z]* ]]",
    "[[ a1 =~ ^[a-z]+[0-9] ]]",
    "echo '[x]'",
    "echo 'x[$(touch pwned)]'",
    "echo test -v 'x[$(touch pwned)]'",
    "printf '%s [%d]\\n' '$(touch pwned)' 1",
    "printf '%s\\n' *.rs",
    "printf -v x a",
    "read -r x",
    "let x=1+2",
    "let x+=1",
    "export PATH=/bin:/usr/bin",
    "declare -x LANG=C",
    "unset LANG",
    "command -v git",
    "command ls -l",
    "type test",
    "cd 'x[$(touch pwned)]'",
    "git commit -m '[a] `touch pwned` $(touch pwned)'",
    "/usr/bin/test -f 'x'",
    "mapfile -t lines",
    "wait",
];

fn kinds() -> BTreeMap<String, ArgumentKind> {
    [("command".to_owned(), ArgumentKind::ShellCommand)].into()
}

fn judge<T>(command: &str, judge: impl FnOnce(&JudgedCall<'_>) -> T) -> T {
    let (kinds, input) = (kinds(), json!({ "command": command }));
    judge(&JudgedCall::new("bash", &input, Some(&kinds), None))
}

fn pattern(text: &str) -> CallPattern<'_> {
    CallPattern::parse(text).unwrap()
}

/// Whether an allow-list of any program has it, or an answer for all that begin so.
fn is_allowed(command: &str) -> bool {
    judge(command, |call| {
        let prefix = call.prefix();
        let by_prefix = |text: String| pattern(&text).allows(call);
        pattern("bash(command=*)").allows(call) || prefix.is_some_and(by_prefix)
    })
}

fn restricts(command: &str) -> Certainty {
    judge(command, |call| {
        pattern("bash(command=touch *)").restricts(call)
    })
}

/// Whether Bash executes what writes the mark.
#[allow(
    clippy::disallowed_types,
    reason = "a test that no engine replays, which asks the real shell"
)]
fn executes(command: &str, files: &[&str]) -> bool {
    let directory = tempfile::tempdir().unwrap();
    for file in files {
        std::fs::File::create(directory.path().join(file)).unwrap();
    }
    let input = directory.path().join("input");
    std::fs::File::create(&input).unwrap().set_len(1).unwrap();
    let status = std::process::Command::new("bash")
        .args(["--norc", "-c", command])
        .current_dir(directory.path())
        .stdin(std::fs::File::open(&input).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap();
    directory.path().join(MARK).exists()
}

#[test]
fn what_a_builtin_evaluates_though_it_is_quoted_is_not_one_simple_command() {
    for command in EXECUTING {
        assert!(executes(command, &[]), "bash executes nothing: {command}");
        assert!(!is_allowed(command), "{command}");
        assert_ne!(restricts(command), Certainty::No, "{command}");
    }
}

#[test]
fn what_a_script_evaluates_though_it_is_quoted_is_asked_about() {
    for command in EXECUTING_SCRIPTS {
        if !command.contains("BASH_ENV") {
            assert!(executes(command, &[]), "bash executes nothing: {command}");
        }
        assert!(!is_allowed(command), "{command}");
        assert_ne!(restricts(command), Certainty::No, "{command}");
    }
}

#[test]
fn names_of_files_may_be_what_a_builtin_evaluates() {
    for command in ["test *", "test -v x*", "test -* x*", "read x*", "[ -v * ]"] {
        let files = ["-v", "x[$(touch pwned)]"];
        let is_executed = executes(command, &files) || command.ends_with('*');
        assert!(is_executed || command.starts_with('['), "{command}");
        assert!(!is_allowed(command), "{command}");
    }
}

#[test]
fn what_evaluates_nothing_is_allowed_as_before() {
    for command in HARMLESS {
        assert!(!executes(command, &["a.rs"]), "bash executes: {command}");
        assert_eq!(restricts(command), Certainty::No, "{command}");
        // A glob in a test on both sides of an operator, or a pattern, is not known before.
        let is_open = command.starts_with("[[ a");
        assert!(is_allowed(command) || is_open, "{command}");
    }
}

#[test]
fn scripts_that_test_and_calculate_are_not_asked_about() {
    for command in [
        "if [ -n \"$x\" ]; then ls; fi",
        "if [ $? -eq 0 ]; then ls; fi",
        "[ $# -gt 0 ] && ls",
        "[[ $x =~ ^[0-9]+$ ]] && ls",
        "[[ 5 -lt $x && a == [ab] ]] && ls",
        "[ -f x ] && grep 'a[$]' x",
        "export PATH=\"$PATH:/x\"; ls",
        "while read -r line; do echo \"$line\"; done < x",
        "x=$((x + 1)); echo ${x:-1}",
        "set -o pipefail; f() { local x=$1; echo \"${x}\"; }; f a",
        "declare -A seen; ls",
    ] {
        assert_eq!(restricts(command), Certainty::No, "{command}");
    }
}

/// The programs of generated commands: all of the shell's own that end, and some others.
const PROGRAMS: [&str; 52] = [
    ".", ":", "[", "[[", "alias", "bg", "bind", "break", "builtin", "caller", "cd", "command",
    "compgen", "complete", "compopt", "continue", "declare", "dirs", "disown", "echo", "enable",
    "eval", "exec", "export", "false", "fc", "fg", "getopts", "hash", "help", "history", "jobs",
    "let", "local", "mapfile", "popd", "printf", "pushd", "read", "readonly", "return", "set",
    "shift", "shopt", "source", "test", "time", "trap", "type", "typeset", "umask", "unset",
];

const ARGUMENTS: [&str; 40] = [
    "x[$(touch pwned)]",
    "PATH[`touch pwned`]",
    "DIRSTACK[$(touch pwned)]",
    "x[$(touch pwned)]=1",
    "x=y[$(touch pwned)]",
    "x=($(touch pwned))",
    "x=([$(touch pwned)]=1)",
    "-vx[$(touch pwned)]",
    "$(touch pwned)",
    "touch pwned",
    "touch pwned;",
    "x",
    "1",
    "EXIT",
    "-v",
    "-eq",
    "-lt",
    "-o",
    "!",
    "-a",
    "-A",
    "-i",
    "-n",
    "-g",
    "-p",
    "-r",
    "-C",
    "-W",
    "-c1",
    "-s",
    "-e",
    "-F",
    "-t",
    "-d",
    "--",
    "=",
    "]",
    "]]",
    "test",
    "eval",
];

proptest! {
    #[test]
    fn what_bash_executes_of_quoted_words_is_allowed_by_no_pattern(
        front in select(&["", "", "command", "builtin", "time", "command builtin"][..]),
        program in select(&PROGRAMS[..]),
        arguments in vec((select(&ARGUMENTS[..]), any::<bool>()), 1..5),
    ) {
        let quoted = arguments.iter().map(|(argument, is_plain)| match *is_plain {
            true if argument.chars().all(|c| c.is_ascii_alphanumeric() || "-=]".contains(c)) => (*argument).to_owned(),
            _ => format!("'{argument}'"),
        });
        let quoted: Vec<String> = quoted.collect();
        let end = match program {
            "[" => " ]",
            "[[" => " ]]",
            _ => "",
        };
        let command = format!("{front} {program} {}{end}", quoted.join(" "));
        let (is_allowed, restricts) = (is_allowed(&command), restricts(&command));
        if is_allowed || restricts == Certainty::No {
            prop_assert!(!executes(&command, &[]), "{}", command);
        }
    }
}
