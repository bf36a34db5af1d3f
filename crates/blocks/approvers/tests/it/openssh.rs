//! What OpenSSH signs is taken here, and what is signed here OpenSSH takes.

use std::{fs, path::Path};

use neuron_approvers::Approvers;

use crate::support::{entry, keygen, public_line, run, run_well, signer_of, statement};

const KINDS: [&str; 2] = ["ed25519", "ecdsa"];

fn keygen_sign(key: &Path, options: &[&str], message: &[u8]) -> String {
    let file = key.with_extension("txt");
    let signature = key.with_extension("txt.sig");
    fs::write(&file, message).unwrap();
    fs::remove_file(&signature).ok();
    let (key, file) = (key.to_str().unwrap(), file.to_str().unwrap());
    run_well(
        "ssh-keygen",
        &[&["-Y", "sign", "-q", "-f", key], options, &[file]].concat(),
        b"",
    );
    fs::read_to_string(signature).unwrap()
}

#[test]
fn what_ssh_keygen_signs_is_taken() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let key = keygen(folder.path(), kind, "");
        let approvers = Approvers::new([entry("ada", &[public_line(&key)], &[])]).unwrap();
        let statement = statement();
        let message = statement.canonical();
        let listed = run_well("ssh-keygen", &["-l", "-f", key.to_str().unwrap()], b"").stdout;
        let listed = String::from_utf8(listed).unwrap();
        for options in [
            ["-n", "neuron"].as_slice(),
            &["-n", "neuron", "-O", "hashalg=sha256"],
        ] {
            let armor = keygen_sign(&key, options, &message);
            let verified = approvers.verify(&statement, Some(&armor)).unwrap();
            assert_eq!(verified.approver, "ada");
            assert!(listed.contains(&verified.key), "{listed}");
        }
        for (options, message, reason) in [
            (["-n", "file"], message.clone(), "namespace"),
            (
                ["-n", "neuron"],
                [message.as_slice(), b"\n"].concat(),
                "mismatch",
            ),
        ] {
            let armor = keygen_sign(&key, &options, &message);
            let error = approvers.verify(&statement, Some(&armor)).unwrap_err();
            assert_eq!(error.reason(), reason);
        }
    }
}

#[test]
fn ssh_keygen_takes_what_is_signed_here() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let key = keygen(folder.path(), kind, "");
        let statement = statement();
        let signed = folder.path().join("signature");
        fs::write(&signed, signer_of(&key).sign(&statement).unwrap()).unwrap();
        let allowed = folder.path().join("allowed_signers");
        fs::write(
            &allowed,
            format!("ada namespaces=\"neuron\" {}", public_line(&key)),
        )
        .unwrap();
        let (allowed, signed) = (allowed.to_str().unwrap(), signed.to_str().unwrap());
        let args = [
            "-Y", "verify", "-f", allowed, "-I", "ada", "-n", "neuron", "-s", signed,
        ];
        run_well("ssh-keygen", &args, &statement.canonical());
        let changed = [statement.canonical().as_slice(), b" "].concat();
        assert!(!run("ssh-keygen", &args, &changed).status.success());
    }
}
