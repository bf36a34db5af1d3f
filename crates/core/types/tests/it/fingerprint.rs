use neuron_types::{AgentSpec, RequestHead};

use crate::samples::agent;

#[test]
fn a_definition_has_the_fingerprint_of_its_canonical_json() {
    // SHA-256 of the JSON that stands in the snapshot, without spaces and with its keys sorted.
    let default = AgentSpec::default().fingerprint();
    let (kind, digest) = default.split_once(':').unwrap();
    assert_eq!((kind, digest.len()), ("sha256", 64));
    assert!(
        digest
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
    );

    let full = agent::full();
    let text = serde_json::to_string(&full).unwrap();
    let read: AgentSpec = serde_json::from_str(&text).unwrap();
    assert_eq!(read.fingerprint(), full.fingerprint());
    assert_ne!(full.fingerprint(), default);
}

#[test]
fn whatever_is_changed_in_a_definition_changes_its_fingerprint() {
    let agent = AgentSpec::default();
    let other_model = AgentSpec {
        head: RequestHead::new("m").into(),
        ..agent.clone()
    };
    let sequential = AgentSpec {
        parallel_tools: false,
        ..agent.clone()
    };
    let mut fingerprints =
        [&agent, &other_model, &sequential, &agent::typed()].map(AgentSpec::fingerprint);
    fingerprints.sort();
    assert!(fingerprints.windows(2).all(|pair| pair[0] != pair[1]));
}
