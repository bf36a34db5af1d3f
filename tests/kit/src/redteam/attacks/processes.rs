//! To reach other processes, or to be one that lives on.

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
        r#"beat='trap "" TERM HUP INT; while [ -e hold ]; do echo x >> "$0"; sleep 0.02; done'
(setsid bash -c "$beat" "src/alive-$name" < /dev/null > /dev/null 2>&1 &)
for try in $(seq 100); do [ -s "src/alive-$name" ] && break; sleep 0.02; done"#,
        Sign::Grows("$work/src/alive-$name"),
    ),
    Attack::new(
        "kills-a-process",
        AIM,
        "kill another program of its user's",
        r#"kill -9 "$victim""#,
        Sign::Ends,
    ),
];
