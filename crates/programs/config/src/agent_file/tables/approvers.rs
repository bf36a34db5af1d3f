//! The `[approvers.NAME]` tables.

use neuron_approvers::{ApproverEntry, Approvers, ApproversError};

use crate::agent_file::text::{
    keys::keys,
    kinds::{List, Words},
    table::Text,
};

const KEY: &str = "key";
const KEYS: &str = "keys";
const GROUPS: &str = "groups";

keys! {
    pub(crate) struct ApproverKeys {
        /// A public key, a line as in `authorized_keys`: `ssh-ed25519`, `ecdsa-sha2-nistp256`, or one of both in hardware,
        /// `sk-…`; options before it are rejected.
        key: Words,
        /// Several of them.
        keys: List,
        /// The groups that the person is in.
        groups: List,
    }
}

/// Reads the tables.
pub(crate) fn read(tables: &[(&str, ApproverKeys<'_>)]) -> Approvers {
    let mut approvers = Approvers::default();
    for (name, table) in tables {
        read_one(name, table, &mut approvers);
    }
    approvers
}

fn read_one(name: &str, table: &ApproverKeys<'_>, approvers: &mut Approvers) {
    let key = match (table.has(KEY), table.has(KEYS)) {
        (false, false) => {
            table.missing("key = \"ssh-ed25519 AAAA… name\", or keys for several");
            return;
        }
        (true, true) => {
            let offset = table.offset_of(KEYS);
            table.problem(KEYS, offset, "is set beside key: keep one of them");
            return;
        }
        (true, false) => KEY,
        (false, true) => KEYS,
    };
    let keys: Vec<_> = match key {
        KEY => table.key().into_iter().collect(),
        _ => table.keys(),
    };
    let groups = table.groups();
    let own = |texts: &[Text<'_>]| -> Vec<String> {
        let texts = texts.iter();
        texts.map(|text| text.value.to_owned()).collect()
    };
    let entry = ApproverEntry {
        name: name.to_owned(),
        keys: own(&keys),
        groups: own(&groups),
    };
    let Err(error) = approvers.add(entry) else {
        return;
    };
    let wrong = error.key_index().and_then(|index| keys.get(index));
    let offset = wrong.map_or_else(|| table.offset_of(key), |text| text.offset);
    match error {
        ApproversError::Key { source, .. } => {
            table.problem(key, offset, &format!("cannot be used: {source}"));
        }
        ApproversError::SameKey { owner, .. } if owner == name => {
            table.problem(key, offset, "has a key twice: remove one of them");
        }
        ApproversError::SameKey { owner, .. } => {
            let message = format!("has a key of {owner} too: a key has one owner");
            table.problem(key, offset, &message);
        }
        // A value that is not a list was noted already.
        ApproversError::NoKey { .. } if table.is_empty_list(key) => {
            let message = "names no key: write [\"ssh-ed25519 AAAA… name\"]";
            table.problem(key, offset, message);
        }
        ApproversError::NoKey { .. } => {}
        error if error.is_about_group() && table.has(GROUPS) => {
            table.problem(
                GROUPS,
                table.offset_of(GROUPS),
                &format!("cannot be used: {error}"),
            );
        }
        error => table.problems.add(table.offset, error.to_string()),
    }
}
