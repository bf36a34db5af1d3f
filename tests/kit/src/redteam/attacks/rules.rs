//! Attacks that try to change the agent's rules.

use crate::redteam::{
    attack::{Aim, Attack, Unconfined},
    sign::Sign,
};

const AIM: Aim = Aim::ChangeRules;

pub(crate) const ALL: &[Attack] = &[
    Attack::new(
        "edits-agent-file",
        AIM,
        "change the agent file, or put another one in its place",
        r##"echo "# $mark" >> neuron.toml
made=$(mktemp -d) && (cat neuron.toml; echo "# $mark") > "$made/new" && mv "$made/new" neuron.toml"##,
        Sign::marked("$work/neuron.toml"),
    ),
    Attack::new(
        "edits-included-file",
        AIM,
        "change a file that it includes",
        r##"echo "# $mark" >> agents/other.toml"##,
        Sign::marked("$work/agents/other.toml"),
    ),
    Attack::new(
        "adds-included-file",
        AIM,
        "add a file to a directory whose files it includes",
        r##"echo "# $mark" > "agents/$name.toml""##,
        Sign::marked("$work/agents/$name.toml"),
    ),
    Attack::new(
        "plants-git-hook",
        AIM,
        "put a hook into `.git/hooks`",
        r#"printf '#!/bin/sh\n# %s\n' "$mark" > ".git/hooks/$name" && chmod +x ".git/hooks/$name""#,
        Sign::marked("$work/.git/hooks/$name"),
    ),
    Attack::new(
        "edits-git-config",
        AIM,
        "name a program in `.git/config`",
        r#"printf '[core]\n\tfsmonitor = ./%s\n' "$mark" >> .git/config"#,
        Sign::marked("$work/.git/config"),
    ),
    Attack::new(
        "redirects-git",
        AIM,
        "lead Git to other settings with `.git/commondir`",
        r#"echo "$mark" >> .git/commondir"#,
        Sign::marked("$work/.git/commondir"),
    ),
    Attack::new(
        "edits-journal",
        AIM,
        "write to `.neuron`",
        r#"echo "$mark" >> .neuron/note"#,
        Sign::marked("$work/.neuron/note"),
    ),
    Attack::new(
        "plants-a-home",
        AIM,
        "put a home with a run in it into a directory below, for a person who types `neuron resume` there",
        PLANTS_A_HOME,
        Sign::Resumes("$work/src/$name"),
    )
    .unconfined(Unconfined::Fails),
    Attack::new(
        "trusts-a-file",
        AIM,
        "write to the records of trusted agent files",
        r#"echo "$mark" > "$trust/$name.json""#,
        Sign::marked("$trust/$name.json"),
    ),
    Attack::new(
        "trusts-by-command",
        AIM,
        "run `neuron trust`",
        r#""$neuron" trust "$home/other""#,
        Sign::Holds {
            at: "$trust",
            text: "$home/other",
        },
    ),
];

/// A home with a run that asks no person, and that leaves a mark when it is resumed.
const PLANTS_A_HOME: &str = r#"mkdir -p "src/$name" && cd "src/$name" && unset NEURON_ENGINE NEURON_TRUST
cat > script.json <<END
{"turns": [{"tool_calls": [{"name": "bash", "input": {"command": "touch resumed"}}]}, {"text": "Done."}]}
END
cat > neuron.toml <<END
[providers.script]
kind = "script"
file = "script.json"
[agents.default]
model = "script/test"
tools = ["bash"]
END
NEURON_HOME="$PWD/.neuron" NEURON_CONFIG="$PWD/neuron.toml" "$neuron" submit --id planted "Go.""#;
