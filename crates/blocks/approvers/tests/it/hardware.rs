//! Hardware keys, which an agent of the test plays: a signature is over the application, flags, a counter and the message.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    thread,
};

use neuron_approvers::{Approvers, SignError, Signer, Statement};
use sha2::{Digest as _, Sha256};
use ssh_key::{
    HashAlg, LineEnding, PrivateKey, PublicKey, Signature, SigningKey, SshSig,
    public::{KeyData, SkEcdsaSha2NistP256, SkEd25519},
};

use crate::support::{entry, keygen, private, run_well, statement};

const APPLICATION: &str = "ssh:";
const TOUCHED: u8 = 1;
const COUNTER: [u8; 4] = [0, 0, 1, 2];

/// A key in hardware whose secret is known here.
#[derive(Clone)]
struct Hardware {
    secret: PrivateKey,
    public: PublicKey,
    flags: u8,
}

impl Hardware {
    fn new(secret: PrivateKey, flags: u8) -> Self {
        let public: KeyData = match secret.public_key().key_data() {
            KeyData::Ed25519(key) => SkEd25519::new(*key, APPLICATION).into(),
            KeyData::Ecdsa(ssh_key::public::EcdsaPublicKey::NistP256(key)) => {
                SkEcdsaSha2NistP256::new(*key, APPLICATION).into()
            }
            other => panic!("{other:?}"),
        };
        Self {
            secret,
            public: public.into(),
            flags,
        }
    }

    fn both(flags: u8) -> [Self; 2] {
        let folder = tempfile::tempdir().unwrap();
        let ecdsa = keygen(folder.path(), "ecdsa", "");
        let ecdsa = PrivateKey::read_openssh_file(&ecdsa).unwrap();
        [private(1), ecdsa].map(|secret| Self::new(secret, flags))
    }

    fn approvers(&self) -> Approvers {
        let line = self.public.to_openssh().unwrap();
        Approvers::new([entry("ada", &[line], &[])]).unwrap()
    }

    /// The signature as an agent gives it.
    fn sign(&self, data: &[u8]) -> Vec<u8> {
        let (application, data) = (Sha256::digest(APPLICATION), Sha256::digest(data));
        let message = [application.as_slice(), &[self.flags], &COUNTER, &data];
        let made = raw(&self.secret, &message.concat());
        let algorithm = self.public.algorithm();
        let mut blob = field(algorithm.as_str().as_bytes());
        blob.extend(field(made.as_bytes()));
        blob.push(self.flags);
        blob.extend(COUNTER);
        blob
    }

    /// Answers so many connections.
    fn serve(&self, socket: &Path, connections: usize) -> thread::JoinHandle<()> {
        let listener = UnixListener::bind(socket).unwrap();
        let own = self.clone();
        thread::spawn(move || {
            for _ in 0..connections {
                let (stream, _) = listener.accept().unwrap();
                own.answer(stream);
            }
        })
    }

    fn answer(&self, mut stream: UnixStream) {
        let mut size = [0; 4];
        stream.read_exact(&mut size).unwrap();
        let mut question = vec![0; u32::from_be_bytes(size) as usize];
        stream.read_exact(&mut question).unwrap();
        let blob = field(&self.public.to_bytes().unwrap());
        let answer = match question[0] {
            11 => [
                &[12, 0, 0, 0, 1],
                blob.as_slice(),
                &field("my key".as_bytes()),
            ]
            .concat(),
            13 => {
                let rest = question[1..].strip_prefix(blob.as_slice()).unwrap();
                let data = &rest[4..rest.len() - 4];
                [&[14], field(&self.sign(data)).as_slice()].concat()
            }
            other => panic!("question {other}"),
        };
        stream.write_all(&field(&answer)).unwrap();
    }
}

fn raw<K: SigningKey>(key: &K, message: &[u8]) -> Signature {
    key.try_sign(message).unwrap()
}

fn field(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    [length.to_be_bytes().as_slice(), bytes].concat()
}

/// Returns what comes of signing with the agent.
fn signed(key: &Hardware, statement: &Statement) -> Result<String, SignError> {
    let folder = tempfile::tempdir().unwrap();
    let socket: PathBuf = folder.path().join("agent");
    let server = key.serve(&socket, 2);
    let signer = Signer::from_agent(&socket, &key.approvers()).unwrap();
    assert!(signer.key().is_hardware());
    let signed = signer.sign(statement);
    server.join().unwrap();
    signed
}

#[test]
fn keys_that_were_touched_sign_through_the_agent() {
    for key in Hardware::both(TOUCHED) {
        let statement = statement();
        let armor = signed(&key, &statement).unwrap();
        let verified = key.approvers().verify(&statement, Some(&armor)).unwrap();
        assert_eq!(verified.approver, "ada");
        let other = Statement {
            run: "q4".into(),
            ..statement.clone()
        };
        let error = key.approvers().verify(&other, Some(&armor)).unwrap_err();
        assert_eq!(error.reason(), "mismatch");

        // OpenSSH takes it too.
        let folder = tempfile::tempdir().unwrap();
        let (allowed, file) = (
            folder.path().join("allowed"),
            folder.path().join("signature"),
        );
        fs::write(
            &allowed,
            format!("ada {}\n", key.public.to_openssh().unwrap()),
        )
        .unwrap();
        fs::write(&file, armor).unwrap();
        let (allowed, file) = (allowed.to_str().unwrap(), file.to_str().unwrap());
        let args = [
            "-Y", "verify", "-f", allowed, "-I", "ada", "-n", "neuron", "-s", file,
        ];
        run_well("ssh-keygen", &args, &statement.canonical());
    }
}

#[test]
fn keys_that_were_not_touched_do_not_count() {
    // The other flag says that a PIN was given.
    for flags in [0, 4] {
        for key in Hardware::both(flags) {
            let error = signed(&key, &statement()).unwrap_err();
            assert!(matches!(error, SignError::Untouched { .. }), "{error:?}");
        }
        let key = Hardware::new(private(1), flags);
        let message = statement().canonical();
        let data = SshSig::signed_data("neuron", HashAlg::Sha512, &message).unwrap();
        let made = Signature::try_from(key.sign(&data).as_slice()).unwrap();
        let public = key.public.key_data().clone();
        let armor = SshSig::new(public, "neuron", HashAlg::Sha512, made).unwrap();
        let armor = armor.to_pem(LineEnding::LF).unwrap();
        let error = key
            .approvers()
            .verify(&statement(), Some(&armor))
            .unwrap_err();
        assert_eq!(error.reason(), "untouched");
    }
}

#[test]
fn a_touch_cannot_be_claimed_afterwards() {
    let key = Hardware::new(private(1), 0);
    let message = statement().canonical();
    let data = SshSig::signed_data("neuron", HashAlg::Sha512, &message).unwrap();
    let mut made = key.sign(&data);
    let flags = made.len() - 5;
    made[flags] = TOUCHED;
    let made = Signature::try_from(made.as_slice()).unwrap();
    let public = key.public.key_data().clone();
    let armor = SshSig::new(public, "neuron", HashAlg::Sha512, made).unwrap();
    let armor = armor.to_pem(LineEnding::LF).unwrap();
    let error = key
        .approvers()
        .verify(&statement(), Some(&armor))
        .unwrap_err();
    assert_eq!(error.reason(), "mismatch");
}

#[test]
fn the_secret_outside_of_its_hardware_is_another_key() {
    let key = Hardware::new(private(1), TOUCHED);
    let armor = private(1).sign("neuron", HashAlg::Sha512, &statement().canonical());
    let armor = armor.unwrap().to_pem(LineEnding::LF).unwrap();
    let error = key
        .approvers()
        .verify(&statement(), Some(&armor))
        .unwrap_err();
    assert_eq!(error.reason(), "stranger");
}
