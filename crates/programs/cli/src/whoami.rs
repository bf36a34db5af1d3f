//! The user who types the command.

use std::{env, fs};

use rustix::{process::getuid, system::uname};

/// Returns the person at this machine, as `USER@HOST`: for the record of who decided, if they give no name. The name is
/// not verified: anyone who can change the record can also write another name.
pub(crate) fn whoami() -> String {
    let uid = getuid().as_raw();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = name_of(uid, &users).map(ToOwned::to_owned);
    // A directory service knows users that the file does not.
    let user = user.or_else(|| ["LOGNAME", "USER"].into_iter().find_map(set));
    let user = user.unwrap_or_else(|| format!("uid-{uid}"));
    let host = uname();
    let host = host.nodename().to_string_lossy();
    format!("{user}@{host}")
}

/// Returns the name of a user in the text of `/etc/passwd`.
fn name_of(uid: u32, users: &str) -> Option<&str> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let is_wanted = fields.nth(1)?.parse() == Ok(uid);
        is_wanted.then_some(name)
    })
}

fn set(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_a_user_by_the_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\n# a remark\n::7::\nada:x:1000:1000::/home/ada:/bin/sh\n";
        assert_eq!(name_of(0, users), Some("root"));
        assert_eq!(name_of(1000, users), Some("ada"));
        assert_eq!(name_of(7, users), None);
        assert_eq!(name_of(100, users), None);
    }

    #[test]
    fn says_a_user_and_a_host() {
        let (user, host) = whoami()
            .split_once('@')
            .map_or((0, 0), |(user, host)| (user.len(), host.len()));
        assert!(user > 0 && host > 0);
    }
}
