//! What the tests start: a worker that runs commands, and what a command tries.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{Read as _, Write as _},
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            ffi::OsStrExt as _,
            net::{SocketAddr, UnixDatagram, UnixStream},
        },
    },
    process::exit,
};

use neuron_sandbox::{Confinement, Sandbox};

/// What the names of variables begin with that are set for the commands, without this.
const FOR_COMMANDS: &[u8] = b"PROBE_SETS_";

fn main() {
    // Some programs do not know the helper.
    if env::var_os("PROBE_IS_NO_HELPER").is_none() {
        neuron_sandbox::dispatch();
    }
    if let Some(helper) = env::var_os("PROBE_HELPER") {
        neuron_sandbox::use_helper(helper);
    }
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match *args.as_slice() {
        ["run", sandbox, ref scripts @ ..] => {
            let commands: Vec<_> = scripts.iter().map(|text| ["bash", "-c", text]).collect();
            let commands: Vec<_> = commands.iter().map(|words| words.as_slice()).collect();
            start(sandbox, &commands)
        }
        ["start", sandbox, ref words @ ..] => start(sandbox, &[words]),
        ["unix", path] => UnixStream::connect(path).map(drop),
        ["abstract", name] => SocketAddr::from_abstract_name(name)
            .and_then(|address| UnixStream::connect_addr(&address))
            .map(drop),
        ["pair"] => UnixStream::pair().and_then(|(mut one, mut other)| {
            one.write_all(b"x")?;
            other.read_exact(&mut [0])
        }),
        ["datagrams"] => UnixDatagram::pair().map(drop),
        _ => exit(64),
    };
    if let Err(error) = outcome {
        println!("{error}");
        exit(1);
    }
}

/// Starts commands one after the other, in one sandbox, and ends as the last one does.
#[tokio::main(flavor = "current_thread")]
async fn start(sandbox: &str, commands: &[&[&str]]) -> std::io::Result<()> {
    let sandbox: Sandbox = serde_json::from_str(sandbox)?;
    if let Some(path) = env::var_os("PROBE_HIDES") {
        neuron_sandbox::hide(path);
    }
    let confinement = Confinement::builder(sandbox).build();
    let mut code = None;
    for words in commands {
        let Some((program, args)) = words.split_first() else {
            exit(64);
        };
        let mut command = confinement.command(program, &env::current_dir()?)?;
        command.args(args).envs(set_for_commands());
        code = command.spawn()?.wait().await?.code();
    }
    // Its temporary directory goes with it.
    drop(confinement);
    exit(code.unwrap_or(255));
}

fn set_for_commands() -> impl Iterator<Item = (OsString, OsString)> {
    env::vars_os().filter_map(|(name, value)| {
        let name = name.as_bytes().strip_prefix(FOR_COMMANDS)?;
        Some((OsStr::from_bytes(name).to_owned(), value))
    })
}
