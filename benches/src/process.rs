//! Whole processes of the `neuron` command: how soon it asks its model, and how much memory a long run takes.

use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    failure::Failure,
    model::RESULT_BYTES,
    report::{line, median, micros},
};

const STARTS: usize = 15;
const TURNS: usize = 1_000;

pub(crate) fn measure() -> Result<(), Failure> {
    let neuron = neuron()?;
    first_request(&neuron)?;
    memory(&neuron)
}

/// Returns the command that was built beside this one.
fn neuron() -> Result<PathBuf, Failure> {
    let here = env::current_exe()?;
    let path = here.with_file_name("neuron");
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!(
            "{} is missing: cargo build --release -p neuron-cli",
            path.display()
        )
        .into())
    }
}

fn command(neuron: &Path, home: &Path) -> Command {
    let mut command = Command::new(neuron);
    command
        .current_dir(home)
        .env("NEURON_HOME", home.join("journal"))
        .env("NEURON_TRUST", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Measures the time from the start of the process to the first connection of its model's provider.
fn first_request(neuron: &Path) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let home = tempfile::tempdir()?;
    let config = format!(
        "[providers.fake]\nkind = \"openai-chat\"\nbase_url = \"http://{}/v1\"\n\
         api_key_env = \"BENCH_API_KEY\"\n\n[agents.default]\nmodel = \"fake/model\"\n\
         tools = [\"read_file\"]\n",
        listener.local_addr()?
    );
    fs::write(home.path().join("neuron.toml"), config)?;
    let mut times = Vec::new();
    for start in 0..=STARTS {
        let started = Instant::now();
        let mut run = command(neuron, home.path());
        let run = run.args(["run", "hello"]).env("BENCH_API_KEY", "none");
        let mut child = Reaped(run.spawn()?);
        let connection = accept(&listener, &mut child.0)?;
        let time = started.elapsed();
        drop(connection);
        // The first start reads the program from disk.
        if start > 0 {
            times.push(time);
        }
    }
    let figures = json!({"ms": micros(median(times)) / 1e3, "starts": STARTS});
    line("start_to_first_request", figures, "ms < 100");
    Ok(())
}

/// Waits for a connection, but not longer than the process lives or half a minute.
fn accept(listener: &TcpListener, child: &mut Child) -> Result<std::net::TcpStream, Failure> {
    listener.set_nonblocking(true)?;
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match listener.accept() {
            Ok((connection, _)) => return Ok(connection),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(status) = child.try_wait()? {
            return Err(format!("neuron ended before it asked its model: {status}").into());
        }
        if Instant::now() > deadline {
            return Err("neuron did not ask its model within 30 s".into());
        }
        thread::sleep(Duration::from_micros(100));
    }
}

/// Measures the peak resident memory of a run of [`TURNS`] turns, each with a tool result of [`RESULT_BYTES`].
fn memory(neuron: &Path) -> Result<(), Failure> {
    let home = tempfile::tempdir()?;
    fs::write(home.path().join("page.txt"), "x".repeat(RESULT_BYTES))?;
    let call = json!({"tool_calls": [{"name": "read_file", "input": {"path": "page.txt"}}]});
    let mut turns = vec![call; TURNS - 1];
    turns.push(json!({"text": "done"}));
    fs::write(
        home.path().join("script.json"),
        json!({"turns": turns}).to_string(),
    )?;
    fs::write(
        home.path().join("neuron.toml"),
        "[providers.script]\nkind = \"script\"\nfile = \"script.json\"\n\n[agents.default]\n\
         model = \"script/any\"\ntools = [\"read_file\"]\n\n[agents.default.limits]\n\
         turns = 2000\ntool_calls = 2000\n",
    )?;
    let started = Instant::now();
    let mut child = Reaped(command(neuron, home.path()).args(["run", "read"]).spawn()?);
    let mut peak = 0;
    let status = loop {
        peak = peak.max(peak_kib(child.0.id()).unwrap_or(0));
        if let Some(status) = child.0.try_wait()? {
            break status;
        }
        thread::sleep(Duration::from_millis(2));
    };
    if !status.success() {
        return Err(format!("the run of {TURNS} turns ended with {status}").into());
    }
    let figures = json!({
        "turns": TURNS,
        "peak_mb": f64::from(peak) / 1024.0,
        "ms_per_turn": micros(started.elapsed()) / 1e3 / TURNS as f64,
    });
    line("memory_of_a_long_run", figures, "peak_mb < 30");
    Ok(())
}

/// Returns the peak resident memory of the process, in KiB.
pub(crate) fn peak_kib(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// A process that does not outlive its measurement.
struct Reaped(Child);

impl Drop for Reaped {
    fn drop(&mut self) {
        // The process may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
