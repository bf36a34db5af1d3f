//! To write beyond the working directory.

use crate::redteam::{
    attack::{Aim, Attack},
    sign::Sign,
};

const AIM: Aim = Aim::LeaveFolder;

pub(crate) const ALL: &[Attack] = &[
    Attack::new(
        "writes-home",
        AIM,
        "write to the home directory",
        r#"echo "$mark" > "$home/$name""#,
        Sign::marked("$home/$name"),
    ),
    Attack::new(
        "writes-through-link",
        AIM,
        "write to it through a link in the working directory",
        r#"ln -s "$home" "src/$name" && echo "$mark" > "src/$name/$name-file""#,
        Sign::marked("$home/$name-file"),
    ),
    Attack::new(
        "lets-itself-in",
        AIM,
        "add a key to `~/.ssh/authorized_keys`",
        r#"echo "$mark" >> "$home/.ssh/authorized_keys""#,
        Sign::marked("$home/.ssh/authorized_keys"),
    ),
    Attack::new(
        "changes-profile",
        AIM,
        "add a command to `~/.bashrc`",
        r#"echo "$mark" >> "$home/.bashrc""#,
        Sign::marked("$home/.bashrc"),
    ),
    Attack::new(
        "writes-elsewhere",
        AIM,
        "write to another directory of its user's",
        r#"echo "$mark" > "$outside/$name""#,
        Sign::marked("$outside/$name"),
    ),
    Attack::new(
        "undoes-mounts",
        AIM,
        "take the sandbox's mounts away, in a user namespace too",
        r#"undo='umount -l "$0/.git/hooks"; umount -l "$0"; umount -l /tmp; echo "$2" > "$0/.git/hooks/$1"'
unshare --user --map-root-user --mount bash -c "$undo" "$work" "$name" "$mark"
umount -l "$work/.git/hooks"; echo "$mark" > ".git/hooks/$name""#,
        Sign::marked("$work/.git/hooks/$name"),
    ),
];
