//! Programs in the working directory with the names of those that confine.

use std::{env, fs, os::unix::fs::PermissionsExt as _};

use neuron_sandbox::{Sandbox, SandboxRules};

use crate::place::places;

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
