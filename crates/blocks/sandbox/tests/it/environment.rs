use neuron_sandbox::Sandbox;

use crate::place::places;

#[test]
fn commands_get_what_is_on_the_list() {
    for place in places() {
        for sandbox in [Sandbox::Workspace, Sandbox::Off] {
            let mut worker = place.worker(&sandbox, "env");
            worker
                .env("DATABASE_URL", "postgres://u:p@h")
                .env("OPENAI_API_KEY", "key")
                .env("SSH_AUTH_SOCK", "/run/agent")
                .env("TEMPORAL_ADDRESS", "localhost:7233")
                .env("LC_TIME", "C");
            let output = worker.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            for name in [
                "DATABASE_URL",
                "OPENAI_API_KEY",
                "SSH_AUTH_SOCK",
                "TEMPORAL_ADDRESS",
                "NEURON_",
                "CARGO_PKG",
            ] {
                assert!(!text.contains(name), "{text}");
            }
            for name in [
                "PATH=",
                "LC_TIME=C",
                &format!("HOME={}", place.home().display()),
            ] {
                assert!(text.contains(name), "{text}");
            }
        }
    }
}
