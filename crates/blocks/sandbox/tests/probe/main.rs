//! What the tests start: a worker that runs one command, and what a command tries.

use std::{
    env,
    io::{Read as _, Write as _},
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram, UnixStream},
    },
    process::exit,
};

use neuron_sandbox::{Confinement, Sandbox};

fn main() {
    neuron_sandbox::dispatch();
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match *args.as_slice() {
        ["run", sandbox, script] => run(sandbox, script),
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

#[tokio::main(flavor = "current_thread")]
async fn run(sandbox: &str, script: &str) -> std::io::Result<()> {
    let sandbox: Sandbox = serde_json::from_str(sandbox)?;
    let set = env::var("PROBE_SETS").ok();
    if let Some(libraries) = env::var_os("PROBE_PLANTS") {
        for library in std::fs::read_dir(libraries)?.flatten() {
            std::fs::copy(library.path(), library.file_name())?;
        }
    }
    if let Some(path) = env::var_os("PROBE_HIDES") {
        neuron_sandbox::hide(path);
    }
    let confinement = Confinement::builder(sandbox).build();
    let mut command = confinement.command("bash", &env::current_dir()?)?;
    command.args(["-c", script]);
    if let Some((name, value)) = set.as_deref().and_then(|text| text.split_once('=')) {
        command.env(name, value);
    }
    if let Some(odd) = env::var_os("PROBE_ODD") {
        command.env("ODD", odd);
    }
    if env::var_os("PROBE_STDIN").is_some() {
        command.stdin(std::process::Stdio::inherit());
    }
    let status = command.spawn()?.wait().await?;
    // Its temporary directory goes with it.
    drop(confinement);
    exit(status.code().unwrap_or(255));
}
