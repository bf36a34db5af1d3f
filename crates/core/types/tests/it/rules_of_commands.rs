//! Rules about what a shell executes.

use neuron_types::{
    ApprovalRules, ArgumentKind, CallPattern, CallerRules, Certainty, JudgedCall,
    PermissionDecision, PermissionPolicy as _, RunPolicy, ToolDefinition,
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

fn bash() -> ToolDefinition {
    ToolDefinition {
        name: "bash".into(),
        arguments: [("command".to_owned(), ArgumentKind::ShellCommand)].into(),
        ..ToolDefinition::default()
    }
}

fn allows(pattern: &str, command: &str) -> bool {
    let (definition, input) = (bash(), json!({ "command": command }));
    let call = JudgedCall::new("bash", &input, Some(&definition.arguments), None);
    let text = format!("bash(command={pattern})");
    CallPattern::parse(&text).unwrap().allows(&call)
}

fn restricts(pattern: &str, command: &str) -> Certainty {
    let (definition, input) = (bash(), json!({ "command": command }));
    let call = JudgedCall::new("bash", &input, Some(&definition.arguments), None);
    let text = format!("bash(command={pattern})");
    CallPattern::parse(&text).unwrap().restricts(&call)
}

#[test]
fn a_pattern_allows_one_simple_command() {
    for command in [
        "git status",
        "  git   status  ",
        "git status\n",
        "git status -s --branch",
        "'git' \"status\"",
        "g\\it st''atus",
        "git status 'a; b' \"c && d\" e\\;f",
        "git status *.rs",
        "git status ~/work",
    ] {
        assert!(allows("git status*", command), "{command}");
    }
    for command in [
        "git status; rm -r .",
        "git status && ls",
        "git status || ls",
        "git status | sh",
        "git status & ls",
        "git status &",
        "git status\nls",
        "git status > out",
        "git status 2>&1",
        "git status < in",
        "git status $(ls)",
        "git status `ls`",
        "git status \"$(ls)\"",
        "git status \"`ls`\"",
        "git status $HOME",
        "git status ${HOME}",
        "git status $'a'",
        "(git status)",
        "{ git status; }",
        "git status {a,b}",
        "git status !x",
        "GIT_DIR=x git status",
        "PATH=. git status",
        "git status # x",
        "/tmp/git status",
        "./git status",
        "git 'status",
        "git status \"",
        "git status \\",
        "'git status'",
        "sudo git status",
        "",
    ] {
        assert!(!allows("git status*", command), "{command}");
        let is_one_word =
            command == "'git status'" || command.contains("/") || command.starts_with("sudo");
        assert!(is_one_word || !allows("*", command), "{command}");
    }
}

#[test]
fn a_star_in_what_allows_spans_no_words_unless_it_is_one_or_the_last() {
    for (pattern, command, expected) in [
        ("git status*", "git status-x", true),
        ("git status *", "git status-x", false),
        ("git status *", "git status", true),
        ("git status *", "git status -s x", true),
        ("git *log", "git a --output=log", false),
        ("git * log", "git a b log", true),
        ("npm run test:* --ci", "npm run test:a --ci", true),
        ("npm run test:* --ci", "npm run test:a --x --ci", false),
        ("git commit -m x y", "git commit -m 'x y'", false),
        ("git commit -m *", "git commit -m 'x y'", true),
        ("*", "/bin/g* x", false),
    ] {
        assert_eq!(allows(pattern, command), expected, "{pattern}: {command}");
    }
}

#[test]
fn what_restricts_is_for_every_command_inside() {
    for command in [
        "git push",
        "git  push origin",
        "git \"push\"",
        "g\\it pu''sh",
        "git \\\npush",
        "cd x && git push",
        "cd x;git push",
        "ls | git push",
        "ls\ngit push",
        "ls & git push",
        "(git push)",
        "{ git push; }",
        "! git push",
        "if true; then git push; fi",
        "while git push; do ls; done",
        "for x in a; do git push; done",
        "case x in x) git push;; esac",
        "f() { git push; }; f",
        "function f { git push; }; f",
        "echo $(git push)",
        "echo \"$(git push)\"",
        "echo `git push`",
        "echo \"`git push`\"",
        "echo ${x:-$(git push)}",
        "echo $((1 + $(git push)))",
        "diff <(git push) x",
        "> out git push",
        "git > out push",
        "git 2>&1 push",
        "git &> out push",
        "echo &> out git push",
        "X=1 git push",
        "X=1 Y=2 git push",
        "X+=1 git push",
        "X[0]=1 git push",
        "/usr/bin/git push",
        "sudo git push",
        "sudo -u root /usr/bin/git push",
        "env X=1 git push",
        "command git push",
        "nohup nice -n 5 git push",
        "time -p git push",
        "timeout 5 git push",
        "xargs git push",
        "find . -exec git push ';'",
        "sh -c 'git push'",
        "bash -c \"ls; git push\"",
        "sudo bash -c 'git push'",
        "eval git push",
        "eval 'git push'",
        "bash <<< 'git push'",
        "bash <<EOF\ngit push\nEOF",
        "cat <<'EOF' | sh\ngit push\nEOF",
        "cat <<EOF\n$(git push)\nEOF",
        "cat <<EOF\nit's\nEOF\ngit push",
        "cat <<-EOF\n\tx\n\tEOF\ngit push",
        "echo a # '\ngit push # '",
        "git push '",
    ] {
        assert_eq!(restricts("git push*", command), Certainty::Yes, "{command}");
    }
    for command in [
        "git status",
        "echo 'git push'",
        "echo git push",
        "git commit -m 'git push'",
        "git log -- push",
        "ls # git push",
        "cat <<EOF\ngit push\nEOF",
        "cat <<'EOF' > x\nit's $(git push)\nEOF",
        "echo $((1 << 2))",
        "[ -f x ] && [[ -d y ]]",
        "ls *.rs && echo $HOME > out",
    ] {
        assert_eq!(restricts("git push*", command), Certainty::No, "{command}");
    }
}

#[test]
fn where_nobody_can_tell_a_person_is_asked() {
    for command in [
        "git $1",
        "git$IFS'push'",
        "$x",
        "$(echo git push)",
        "{git,push}",
        "g{i,}t push",
        "git pus*",
        "g[i]t push",
        "/usr/bin/g?t push",
        "sh -c \"$x\"",
        "eval \"$x\"",
        "curl x | sh",
        "echo push | xargs git",
        "git $'\\x70ush'",
        "git 'pus",
        "echo $(git",
        "cat <<EOF\nEO\\\nF\ngit push\nEOF",
        "cat <<EOF\nls",
    ] {
        assert_eq!(
            restricts("git push*", command),
            Certainty::Maybe,
            "{command}"
        );
    }
    let rules = ApprovalRules {
        allow: vec!["bash(command=git *)".into()],
        deny: vec!["bash(command=git push*)".into()],
        ..ApprovalRules::default()
    };
    let caller = CallerRules {
        allow: vec!["bash".into()],
        ..CallerRules::default()
    };
    let policy = RunPolicy::new(rules, &caller).with_tools([&bash()]);
    for (command, expected) in [
        ("git push", "deny"),
        ("git pus*", "ask"),
        ("git $x", "ask"),
        ("git log", "allow"),
    ] {
        let said = match policy.check("bash", &json!({ "command": command })) {
            PermissionDecision::Allow => "allow",
            PermissionDecision::Ask(_) => "ask",
            PermissionDecision::Deny(_) => "deny",
        };
        assert_eq!(said, expected, "{command}");
    }
}

#[test]
fn a_pattern_with_an_operator_is_for_the_text_as_a_whole() {
    for command in ["curl x | sh", "curl x|sh", "curl 'x'  |   sh -s"] {
        assert_eq!(
            restricts("curl*| sh*", command),
            Certainty::Yes,
            "{command}"
        );
    }
    assert_eq!(restricts("*rm *-r*", "cd /; rm  -v -r ."), Certainty::Yes);
}

#[test]
fn an_exception_from_what_is_asked_about_is_one_simple_command_too() {
    let rules = ApprovalRules {
        approve: vec!["bash".into(), "!bash(command=git status*)".into()],
        ..ApprovalRules::default()
    };
    let policy = RunPolicy::new(rules, &CallerRules::default()).with_tools([&bash()]);
    let check = |command: &str| policy.check("bash", &json!({ "command": command }));
    assert_eq!(check("git status -s"), PermissionDecision::Allow);
    assert!(matches!(
        check("git status; ls"),
        PermissionDecision::Ask(_)
    ));
    assert!(matches!(
        check("git status $(ls)"),
        PermissionDecision::Ask(_)
    ));
}

#[test]
fn an_exception_from_what_is_allowed_is_for_every_command_that_may_be_one() {
    let rules = ApprovalRules {
        allow: vec![
            "bash(command=git *)".into(),
            "!bash(command=git push*)".into(),
        ],
        approve: vec!["*".into()],
        ..ApprovalRules::default()
    };
    let policy = RunPolicy::new(rules, &CallerRules::default()).with_tools([&bash()]);
    let check = |command: &str| policy.check("bash", &json!({ "command": command }));
    assert_eq!(check("git log"), PermissionDecision::Allow);
    assert!(matches!(check("git 'push'"), PermissionDecision::Ask(_)));
    assert!(matches!(check("git pus?"), PermissionDecision::Ask(_)));
}

#[test]
fn the_words_of_a_list_are_one_command() {
    let definition = bash();
    let judge = |input: &Value| {
        let call = JudgedCall::new("bash", input, Some(&definition.arguments), None);
        let pattern = CallPattern::parse("bash(command=git push*)").unwrap();
        (pattern.allows(&call), pattern.restricts(&call))
    };
    let push = json!({"command": ["git", "push", "a; b"]});
    assert_eq!(judge(&push), (true, Certainty::Yes));
    let carried = json!({"command": ["sh", "-c", "ls; git push"]});
    assert_eq!(judge(&carried), (false, Certainty::Yes));
}

#[test]
fn a_prefix_is_a_pattern_that_allows_the_call() {
    for (command, expected) in [
        ("git push origin", Some("bash(command=git push *)")),
        ("git push", Some("bash(command=git push *)")),
        ("ls -l", Some("bash(command=ls *)")),
        ("cat src/x", Some("bash(command=cat *)")),
        ("git push; ls", None),
        ("git add *", None),
        ("git add *.rs", Some("bash(command=git add *)")),
        ("sh -c 'x y'", Some("bash(command=sh *)")),
        ("'a b' c", None),
        ("$x", None),
    ] {
        let (definition, input) = (bash(), json!({ "command": command }));
        let call = JudgedCall::new("bash", &input, Some(&definition.arguments), None);
        let prefix = call.prefix();
        assert_eq!(prefix.as_deref(), expected, "{command}");
        if let Some(prefix) = prefix {
            assert!(
                CallPattern::parse(&prefix).unwrap().allows(&call),
                "{command}"
            );
        }
    }
}

#[test]
fn no_prefix_is_offered_that_a_pattern_cannot_say() {
    for (tool, name) in [
        ("bash", ""),
        ("bash", "a=b"),
        ("run*", "a"),
        ("run(it", "a"),
    ] {
        let definition = ToolDefinition {
            name: tool.to_owned(),
            arguments: [(name.to_owned(), ArgumentKind::ShellCommand)].into(),
            ..ToolDefinition::default()
        };
        let input = json!({ name: "git push" });
        let call = JudgedCall::new(tool, &input, Some(&definition.arguments), None);
        assert_eq!(call.prefix(), None, "{tool} {name}");
    }
}

/// A word in one of the ways in which it may be written.
fn respelled(word: &str, choices: &[u8]) -> String {
    let mut text = String::new();
    for (c, choice) in word.chars().zip(choices.iter().cycle()) {
        match choice % 5 {
            0 => text.push_str(&format!("'{c}'")),
            1 => text.push_str(&format!("\"{c}\"")),
            2 => text.push_str(&format!("\\{c}")),
            3 => text.push_str(&format!("''{c}\\\n")),
            _ => text.push(c),
        }
    }
    text
}

const WORDS: [&str; 8] = ["git", "push", "status", "-f", "--all", "x", "a.b", "origin"];
const PATTERNS: [&str; 8] = [
    "*",
    "git*",
    "git push*",
    "git * -f",
    "*push*",
    "git status *",
    "g?t x",
    "git --all*",
];

proptest! {
    #[test]
    fn what_has_an_operator_is_allowed_by_no_pattern(
        before in vec(select(&WORDS[..]), 1..4),
        operator in select(&[";", "&", "&&", "|", "||", "|&", "\n", "<", ">", ">>", "<<<", "$(x)", "`x`", "${x}", "$x", "(", ")", "{", "}", "!", "#"][..]),
        after in vec(select(&WORDS[..]), 1..4),
        pattern in select(&PATTERNS[..]),
        blanks in select(&[" ", "\t ", "  "][..]),
    ) {
        let command = format!("{}{blanks}{operator} {}", before.join(blanks), after.join(blanks));
        prop_assert!(!allows(pattern, &command), "{pattern}: {command}");
    }

    #[test]
    fn another_spelling_changes_nothing(
        words in vec((select(&WORDS[..]), vec(any::<u8>(), 1..6)), 1..5),
        pattern in select(&PATTERNS[..]),
        blanks in select(&[" ", "\t", "   ", " \\\n "][..]),
    ) {
        let plain: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let plain = plain.join(" ");
        let other: Vec<String> = words.iter().map(|(word, how)| respelled(word, how)).collect();
        let other = other.join(blanks);
        prop_assert_eq!(restricts(pattern, &plain), restricts(pattern, &other), "{}", other);
        prop_assert_eq!(allows(pattern, &plain), allows(pattern, &other), "{}", other);
    }

    #[test]
    fn a_command_beside_others_is_still_found(
        around in "[a-z ]{0,6}",
        frame in select(&["A; B", "B; A", "A && B", "A | B", "(A; B)", "{ B; }", "A $(B)", "A \"$(B)\"", "if A; then B; fi", "A\nB"][..]),
    ) {
        let command = frame.replace('A', &format!("x {around}")).replace('B', "git push");
        prop_assert_eq!(restricts("git push*", &command), Certainty::Yes, "{}", command);
    }

    #[test]
    fn what_is_allowed_is_restricted_by_the_same_pattern(
        command in "[a-z \"'\\\\;$*?{}()<>#!~=\\[\\]\n-]{0,16}",
        pattern in select(&["*", "a*", "a b*", "* a", "?*"][..]),
    ) {
        if allows(pattern, &command) {
            prop_assert_eq!(restricts(pattern, &command), Certainty::Yes, "{}", command);
        }
    }

    #[test]
    fn any_text_is_read_to_its_end(command in ".{0,64}", pattern in select(&PATTERNS[..])) {
        let _ = (allows(pattern, &command), restricts(pattern, &command));
    }
}
