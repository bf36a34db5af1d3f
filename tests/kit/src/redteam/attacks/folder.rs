//! Attacks that try to write beyond the working directory.

use crate::redteam::{
    attack::{Aim, Attack, Unconfined},
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
        "poisons-cache",
        AIM,
        "write to the home directory of another MCP server",
        r#"for other in "$home"/.cache/neuron/mcp/*; do [ "$other" = "$HOME" ] || echo "$mark" > "$other/$name"; done"#,
        Sign::marked("$home/.cache/neuron/mcp/other-0123/$name"),
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
    Attack::new(
        "writes-open-file",
        AIM,
        "write to a file that the worker was started with open",
        r#"echo "$mark" >&8"#,
        Sign::marked("$outside/open"),
    )
    .unconfined(Unconfined::Fails),
    Attack::new(
        "plants-library",
        AIM,
        "put a library where `LD_LIBRARY_PATH` leads, for what confines the next call",
        PLANTS_LIBRARY,
        Sign::marked("$home/$name-loaded"),
    ),
];

/// Each library does what the real one does: a copy of the real one is beside it under another name. When the library
/// is loaded, it copies the marks to the outside. In a program that a person starts again, by `resume`, it copies
/// nothing, as that program is outside of any sandbox.
const PLANTS_LIBRARY: &str = r#"cd "$libraries" && echo "$mark" > "$name-loaded" && made=$(mktemp -d "$PWD/made-XXXXXX") || exit
cat > "$made/planted.c" <<END
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void planted(int count, char **words) {
    if (count < 2 || strcmp(words[1], "resume")) system(
        "LD_LIBRARY_PATH= cp '$libraries'/*-loaded '$home' 2> /dev/null");
}
END
for program in bwrap "$neuron"; do
    for library in libcap.so.2 libgcc_s.so.1; do
        real=$(LD_LIBRARY_PATH= ldd "$(command -v "$program")" | awk -v name="$library" '$1 == name { print $3 }')
        [ -n "$real" ] || continue
        other="ly${library#li}"
        LC_ALL=C sed "s/$library/$other/g" "$real" > "$made/$other" && mv "$made/$other" "$other"
        cc -shared -fPIC -Wl,--no-as-needed -o "$made/$library" "$made/planted.c" "./$other" &&
            mv "$made/$library" "$library"
    done
done
"$neuron" --version"#;
