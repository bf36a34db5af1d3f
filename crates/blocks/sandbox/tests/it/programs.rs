//! Programs in the working directory with the names of those that confine.

use std::{env, fs, os::unix::fs::PermissionsExt as _, process::Command};

use neuron_sandbox::{Backend, Sandbox, SandboxRules};

use crate::place::{PROBE, Place, places};

#[test]
fn a_program_of_the_working_directory_does_not_confine() {
    for place in places() {
        for name in ["bwrap", "prlimit"] {
            let name = format!("tools/{name}");
            place.write(
                &name,
                "#!/bin/sh\necho x > \"$HOME/unconfined\"\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n",
            );
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(place.work().join(&name), mode).unwrap();
        }
        let before = env::var_os("PATH").unwrap();
        let path = [place.work().join("tools")].into_iter();
        let path = env::join_paths(path.chain(env::split_paths(&before))).unwrap();
        let limited = SandboxRules::new().memory(4 << 30);
        let script = "ulimit -v; cat ../.ssh/id";
        let mut worker = place.worker(&Sandbox::Custom(limited), script);
        let output = worker.env("PATH", path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "4194304\n", "{:?}", place.backend());
        assert!(!place.home().join("unconfined").exists());
    }
}

#[test]
fn a_bwrap_that_needs_privileges_is_not_taken() {
    let place = Place::new(Backend::Landlock);
    let bwrap = fs::canonicalize("/usr/bin/bwrap").unwrap();
    let (own, real) = (place.home().join("bwrap"), place.home().join("real"));
    fs::copy(&bwrap, &real).unwrap();
    // As one with the set-user-ID bit where users get no namespaces: it works unless its process gets no new privileges.
    let text = format!(
        "#!/bin/sh\nif grep -q 'NoNewPrivs:.*1' /proc/self/status; then\n\
         echo 'no permission for a namespace' >&2; exit 1\nfi\nexec {} \"$@\"\n",
        real.display()
    );
    fs::write(&own, text).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    // It is the system's own, in a namespace of files.
    let mounts = "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";
    let sandbox = serde_json::to_string(&Sandbox::Workspace).unwrap();
    let done = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", mounts])
        .args([&own, &bwrap])
        .args([PROBE, "run", &sandbox, "echo confined; cat ../.ssh/id"])
        .current_dir(place.work())
        .env("HOME", place.home())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&done.stdout),
        "confined\n",
        "{done:?}"
    );
}
