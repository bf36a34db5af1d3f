//! Signing with a real `ssh-agent`, and with ones that misbehave.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixListener,
    path::Path,
    thread,
};

use neuron_approvers::{AgentError, ApproverKey, Approvers, Passphrase, SignError, Signer};

use crate::support::{
    RealAgent, approvers, entry, keygen, private, public_line, statement, write_key,
};

#[test]
fn an_agent_signs_with_the_key_of_an_approver() {
    let folder = tempfile::tempdir().unwrap();
    let agent = RealAgent::start(folder.path());
    let nobody = Approvers::default();
    let none = Signer::from_agent(&agent.socket, &nobody).unwrap_err();
    assert!(matches!(none, SignError::NoIdentity { wanted: 0 }));

    let stranger = folder.path().join("stranger");
    write_key(&stranger, &private(7));
    agent.add(&stranger);
    for kind in ["ed25519", "ecdsa"] {
        let folder = tempfile::tempdir().unwrap();
        let key = keygen(folder.path(), kind, "");
        let approvers = Approvers::new([entry("ada", &[public_line(&key)], &[])]).unwrap();
        let none = Signer::from_agent(&agent.socket, &approvers).unwrap_err();
        assert!(matches!(none, SignError::NoIdentity { wanted: 1 }));

        agent.add(&key);
        let signer = Signer::from_agent(&agent.socket, &approvers).unwrap();
        assert_eq!(
            signer.key(),
            &ApproverKey::parse(&public_line(&key)).unwrap()
        );
        for run in 0..20 {
            let mut statement = statement();
            statement.run = run.to_string();
            let armor = signer.sign(&statement).unwrap();
            let verified = approvers.verify(&statement, Some(&armor)).unwrap();
            assert_eq!(verified.approver, "ada");
        }
    }
    // With no approvers to choose by, its first.
    let first = Signer::from_agent(&agent.socket, &nobody).unwrap();
    assert_eq!(
        first.key().fingerprint(),
        private(7).fingerprint(Default::default()).to_string()
    );
}

#[test]
fn a_public_key_file_names_the_agents_key() {
    let folder = tempfile::tempdir().unwrap();
    let agent = RealAgent::start(folder.path());
    let key = keygen(folder.path(), "ed25519", "");
    agent.add(&key);
    let public = key.with_extension("pub");
    let ask = |_: &Path| -> std::io::Result<Passphrase> { panic!("nothing to ask") };
    let signer = Signer::from_key_file(&public, Some(&agent.socket), ask).unwrap();
    let approvers = Approvers::new([entry("ada", &[public_line(&key)], &[])]).unwrap();
    let armor = signer.sign(&statement()).unwrap();
    approvers.verify(&statement(), Some(&armor)).unwrap();
    let alone = Signer::from_key_file(&public, None, ask).unwrap_err();
    assert!(matches!(alone, SignError::NeedsAgent { .. }));
}

/// Returns what comes of an agent that answers so and hangs up.
fn answered(answer: &[u8]) -> SignError {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent");
    let listener = UnixListener::bind(&socket).unwrap();
    let answer = answer.to_vec();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut question = [0; 5];
        stream.read_exact(&mut question).unwrap();
        assert_eq!(question, [0, 0, 0, 1, 11]);
        stream.write_all(&answer).ok();
    });
    let error = Signer::from_agent(&socket, &approvers(&[("ada", &private(1))])).unwrap_err();
    server.join().unwrap();
    error
}

#[test]
fn an_agent_that_is_none_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let none = Signer::from_agent(&folder.path().join("none"), &Approvers::default());
    assert!(matches!(
        none,
        Err(SignError::Agent(AgentError::Connect { .. }))
    ));

    let cases: [(&[u8], &str); 9] = [
        (&[0, 0, 0, 1, 5], "Refused"),
        (&[0, 0, 0, 1, 14], "Malformed"),
        (&[0, 0, 0, 0, 12], "Malformed"),
        (&[0xff, 0xff, 0xff, 0xff, 12], "Malformed"),
        (&[0, 0, 0, 5, 12, 0, 0, 0, 1], "Malformed"),
        (&[0, 0, 0, 5, 12, 0xff, 0, 0, 1], "Malformed"),
        (
            &[0, 0, 0, 9, 12, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff],
            "Malformed",
        ),
        (&[0, 0, 0, 9, 12], "Io"),
        (&[], "Io"),
    ];
    for (answer, wanted) in cases {
        let error = answered(answer);
        assert!(
            format!("{error:?}").starts_with(&format!("Agent({wanted}")),
            "{answer:?}: {error:?}"
        );
    }
}

#[test]
fn keys_that_cannot_be_used_are_passed_over() {
    // One key of no known form, with no comment.
    let error = answered(&[0, 0, 0, 14, 12, 0, 0, 0, 1, 0, 0, 0, 1, 7, 0, 0, 0, 0]);
    assert!(
        matches!(error, SignError::NoIdentity { wanted: 1 }),
        "{error:?}"
    );
}
