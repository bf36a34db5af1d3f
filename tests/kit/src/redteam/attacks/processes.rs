//! Attacks that try to reach other processes, or to outlive the call.

use crate::redteam::{
    attack::{Aim, Attack},
    sign::Sign,
};

const AIM: Aim = Aim::Outlive;

pub(crate) const ALL: &[Attack] = &[
    Attack::new(
        "outlives-its-call",
        AIM,
        "leave a process behind, in a session of its own",
        // If the process may not write there it ends at once.
        r#"stay='trap "" TERM HUP INT; exec 9> "$0" || exit; echo x >&9; while [ -e hold ]; do sleep 0.02; done' # Between two looks.
(setsid bash -c "$stay" "src/alive-$name" < /dev/null > /dev/null 2>&1 &)
until [ -s "src/alive-$name" ]; do sleep 0.02; done"#, // Between two looks.
        Sign::Lives("$work/src/alive-$name"),
    ),
    Attack::new(
        "kills-a-process",
        AIM,
        "kill another program of its user's",
        r#"kill -9 "$victim""#,
        Sign::Ends,
    ),
];
