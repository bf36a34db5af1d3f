//! The order in which workers get tasks.

use temporalio_common::Priority;

/// The longest key that the server takes.
const LONGEST: usize = 64;

/// Returns the priority of a task of this tenant, from 1 to 5 if it has one. Workers get tasks of all tenants in turns
/// if the server has fairness.
pub(crate) fn priority(key: Option<u32>, tenant: Option<&str>) -> Priority {
    Priority::builder()
        .maybe_priority_key(key)
        .maybe_fairness_key(tenant.map(beginning))
        .build()
}

/// Returns as much of a tenant's name as fits a key. Tenants whose names begin alike share a key.
fn beginning(tenant: &str) -> String {
    let ends = tenant.char_indices().map(|(at, char)| at + char.len_utf8());
    let end = ends.take_while(|end| *end <= LONGEST).last();
    let (beginning, _) = tenant.split_at(end.unwrap_or_default());
    beginning.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_tenant_as_far_as_the_server_takes_it() {
        let key = |tenant: &str| priority(None, Some(tenant)).fairness_key;
        assert_eq!(key("acme").as_deref(), Some("acme"));
        assert_eq!(key(&"ä".repeat(33)), Some("ä".repeat(32)));
        assert_eq!(
            key(&format!("a{}", "ä".repeat(32))),
            Some(format!("a{}", "ä".repeat(31)))
        );
        assert_eq!(priority(None, None), Priority::default());
        assert_eq!(priority(Some(2), None).priority_key, Some(2));
    }
}
