//! What confines obeys nothing that it inherits, and hands nothing on.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use neuron_sandbox::{Backend, Sandbox};

use crate::place::{PROBE, Place, eventually, places};

/// The libraries that are planted, each with a program that is linked with it.
const LIBRARIES: [(&str, &str); 2] = [("libcap.so.2", "/usr/bin/bwrap"), ("libgcc_s.so.1", PROBE)];

/// Compiles a library that writes a file wherever it is loaded, and that the loader takes for what a program is linked
/// with: it has the same names in the same versions.
fn library(path: &Path, program: &str, marker: &Path) {
    let listed = Command::new("nm")
        .args(["-D", "--undefined-only", program])
        .output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    let names = listed
        .lines()
        .filter_map(|line| line.split_whitespace().last());
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in names {
        let (name, version) = name.split_once('@').unwrap_or((name, ""));
        let is_ours = match version {
            "" => name.starts_with("cap_"),
            version => version.starts_with("GCC_"),
        };
        if is_ours {
            versions.entry(version).or_default().push(name);
        }
    }
    let all = versions.values().flatten();
    let stubs: String = all
        .map(|name| format!("void {name}(void) {{}}\n"))
        .collect();
    let code = format!(
        "#include <fcntl.h>\n#include <unistd.h>\n\
         __attribute__((constructor)) static void loaded(void) {{\n\
         int file = open(\"{}\", O_WRONLY | O_CREAT, 0600);\n\
         if (file >= 0) close(file);\n}}\n{stubs}",
        marker.display()
    );
    let (source, script) = (path.with_extension("c"), path.with_extension("map"));
    fs::write(&source, code).unwrap();
    let nodes = versions
        .iter()
        .filter(|(version, _)| !version.is_empty())
        .map(|(version, names)| format!("{version} {{ global: {}; }};\n", names.join("; ")));
    let nodes: String = nodes.collect();
    fs::write(&script, &nodes).unwrap();
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-nostdlib", "-o"]);
    compile.args([path, &source]);
    if !nodes.is_empty() {
        compile.arg(format!("-Wl,--version-script={}", script.display()));
    }
    assert!(compile.status().unwrap().success());
}

/// A place, and a directory of libraries, which a command is to put into the working directory.
fn planted(backend: Backend) -> (Place, PathBuf, PathBuf) {
    let place = Place::new(backend);
    let marker = place.home().join("loaded-outside");
    let made = place.home().join("made");
    fs::create_dir(&made).unwrap();
    for (name, program) in LIBRARIES {
        library(&made.join(name), program, &marker);
    }
    (place, made, marker)
}

#[test]
fn a_library_that_a_command_planted_is_not_loaded_by_what_confines_the_next() {
    for backend in [Backend::Bubblewrap, Backend::Landlock] {
        let (place, made, marker) = planted(backend);
        let work = place.work().display().to_string();
        let relative = "/usr/local/cuda/lib64:".to_owned();
        let there = made.join(LIBRARIES[0].0).display().to_string();
        for (name, value) in [
            ("LD_LIBRARY_PATH", work.clone()),
            ("LD_LIBRARY_PATH", relative),
            ("LD_LIBRARY_PATH", ".".to_owned()),
            // Set for the command itself.
            ("PROBE_SETS", format!("LD_PRELOAD={there}")),
            ("PROBE_SETS", format!("LD_AUDIT={there}")),
        ] {
            let mut worker = place.worker(&Sandbox::Workspace, "true");
            // It is planted when the program that has such a variable is under way.
            worker.env(name, &value).env("PROBE_PLANTS", &made);
            let output = worker.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(place.work().join(LIBRARIES[0].0).exists(), "{said}");
            assert!(!marker.exists(), "{backend} {name}={value}: {said}");
            for (name, _) in LIBRARIES {
                fs::remove_file(place.work().join(name)).unwrap();
            }
        }
    }
}

#[test]
fn commands_have_the_variables_that_they_are_to_have_whatever_is_in_them() {
    let odd = OsString::from_vec(b"a\nb=c \xff\"'".to_vec());
    for place in places() {
        let mut worker = place.worker(
            &Sandbox::Workspace,
            r#"printf '%s|%s' "$ODD" "$LD_LIBRARY_PATH""#,
        );
        worker
            .env("PROBE_ODD", &odd)
            .env("PROBE_SETS", "LD_LIBRARY_PATH=/nowhere");
        let output = worker.output().unwrap();
        let mut wanted = odd.clone().into_vec();
        wanted.extend_from_slice(b"|/nowhere");
        assert_eq!(output.stdout, wanted, "{output:?}");
    }
}

#[test]
fn no_list_of_processes_has_a_variable() {
    for place in places() {
        let mut worker = place.worker(&Sandbox::Workspace, "echo > started; cat > /dev/null");
        worker
            .env("PROBE_SETS", "TOKEN=a-token-of-this-test")
            .env("PROBE_STDIN", "1")
            .stdin(Stdio::piped());
        let mut worker = worker.spawn().unwrap();
        eventually("the command has started", || {
            place.work().join("started").exists()
        });
        let lines = fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|process| {
                let line = fs::read(process.path().join("cmdline")).ok()?;
                Some(String::from_utf8_lossy(&line).into_owned())
            });
        let shown: Vec<String> = lines
            .filter(|line| line.contains("a-token-of-this-test"))
            .filter(|line| !line.contains(PROBE))
            .collect();
        assert!(shown.is_empty(), "{shown:?}");
        drop(worker.stdin.take());
        worker.wait().unwrap();
    }
}

#[test]
fn commands_inherit_no_descriptor_beside_their_input_and_outputs() {
    for place in places() {
        let secret = place.home().join("secret");
        let outside = place.home().join("outside");
        fs::write(&secret, "the secret").unwrap();
        for sandbox in [Sandbox::Workspace, Sandbox::Off] {
            // As a supervisor or a shell leaves them to the program that confines.
            let worker = place.worker(
                &sandbox,
                "cat <&7; echo x >&8; ls -l /proc/self/fd /proc/$$/fd 2>&1",
            );
            let mut words = vec![worker.get_program().to_owned()];
            words.extend(worker.get_args().map(ToOwned::to_owned));
            let mut shell = Command::new("bash");
            shell
                .args([
                    "-c",
                    r#"exec 7<"$1" 8>>"$2" 3<"$1"; shift 2; exec "$@""#,
                    "-",
                ])
                .args([&secret, &outside])
                .args(words)
                .current_dir(place.work())
                .env("HOME", place.home())
                .stdin(Stdio::null());
            let output = shell.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(!text.contains("the secret"), "{sandbox:?}: {text}");
            assert_eq!(fs::read_to_string(&outside).unwrap(), "", "{sandbox:?}");
            assert!(!text.contains("memfd"), "{sandbox:?}: {text}");
        }
    }
}
