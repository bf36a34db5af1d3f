//! Libraries that a command puts where the loader looks for those of the programs that confine.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use neuron_sandbox::{Backend, Sandbox, SandboxRules};

use crate::place::{BACKENDS, PROBE, Place, places};

/// Compiles a library that writes a file as soon as it is loaded, and needs these.
fn compile(to: &Path, writes: &Path, needs: &[&Path]) {
    let source = to.with_extension("c");
    let text = format!(
        "#include <stdio.h>\n\
         unsigned la_version(unsigned version) {{ return version; }}\n\
         __attribute__((constructor)) static void planted(void) {{\n\
         FILE *file = fopen(\"{}\", \"a\"); if (file) {{ fputs(\"x\", file); fclose(file); }} }}\n",
        writes.display()
    );
    fs::write(&source, text).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]);
    let done = cc.arg(to).arg(&source).args(needs).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    fs::remove_file(source).unwrap();
}

/// The libraries of a program beside the system's own, with the names under which they are looked for.
fn libraries_of(program: &str) -> Vec<(String, PathBuf)> {
    let said = Command::new("ldd").arg(program).output().unwrap().stdout;
    let said = String::from_utf8(said).unwrap();
    let named = said.lines().filter_map(|line| line.split_once(" => "));
    let named = named.map(|(name, rest)| {
        let path = rest.split_whitespace().next().unwrap();
        (name.trim().to_owned(), PathBuf::from(path))
    });
    let own = |name: &str| name.starts_with("libc.") || name.starts_with("libm.");
    named.filter(|(name, _)| !own(name)).collect()
}

/// Puts libraries into `staged` under the names of those that bwrap, prlimit and the helper load. Each does what the
/// real one does, with a copy of it beside it, and reports when it is loaded.
fn stage(place: &Place) {
    let staged = place.work().join("staged");
    fs::create_dir(&staged).unwrap();
    for program in ["/usr/bin/bwrap", "/usr/bin/prlimit", PROBE] {
        let libraries = libraries_of(program);
        assert!(!libraries.is_empty(), "{program} has no library");
        for (name, real) in libraries {
            // Under another name of the same length, in the copy itself too.
            let other = name.replacen("lib", "lyb", 1);
            let mut bytes = fs::read(real).unwrap();
            let found: Vec<_> = (0..bytes.len())
                .filter(|at| bytes[*at..].starts_with(name.as_bytes()))
                .collect();
            for at in found {
                bytes[at..at + name.len()].copy_from_slice(other.as_bytes());
            }
            let copy = staged.join(other);
            fs::write(&copy, bytes).unwrap();
            compile(&staged.join(name), &outside(place), &[&copy]);
        }
    }
}

fn outside(place: &Place) -> PathBuf {
    place.home().join("planted")
}

fn was_loaded_outside(place: &Place) -> bool {
    outside(place).exists()
}

/// Has one command plant the libraries in a directory, and another started after it.
fn plant(place: &Place, sandbox: &Sandbox, named: &str, directory: &str, knows_helper: bool) {
    stage(place);
    fs::create_dir(place.work().join("lib")).unwrap();
    let plants = format!("cp staged/* {directory}");
    let mut worker = place.worker(sandbox, &plants);
    worker
        .arg("echo \"got $LD_LIBRARY_PATH\"")
        .env("LD_LIBRARY_PATH", named);
    if !knows_helper {
        worker.env("PROBE_IS_NO_HELPER", "1");
    }
    let done = worker.output().unwrap();
    let backend = place.backend();
    assert!(
        !was_loaded_outside(place),
        "{backend}, {named:?}, {sandbox:?}, {knows_helper}: {done:?}"
    );
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(said, format!("got {named}\n"), "{backend}: {done:?}");
}

#[test]
fn a_library_in_a_named_directory_is_not_loaded_by_what_confines() {
    for place in places() {
        let named = place.work().join("lib");
        plant(
            &place,
            &Sandbox::Workspace,
            named.to_str().unwrap(),
            "lib",
            true,
        );
    }
}

#[test]
fn a_library_in_the_working_directory_is_not_loaded_by_what_confines() {
    // An empty element is the current directory.
    for (named, directory) in [("/nowhere:", "."), ("lib", "lib"), (".", ".")] {
        for place in places() {
            plant(&place, &Sandbox::Workspace, named, directory, true);
        }
    }
}

#[test]
fn a_library_is_not_loaded_by_what_confines_in_a_program_that_is_no_helper() {
    let place = Place::new(Backend::Bubblewrap);
    plant(&place, &Sandbox::Workspace, "/nowhere:", ".", false);
}

#[test]
fn a_library_is_not_loaded_by_what_limits_before_it_does() {
    for place in places() {
        let limited = Sandbox::Custom(SandboxRules::new().memory(8 << 30).processes(4000));
        plant(&place, &limited, "/nowhere:", ".", true);
    }
}

#[test]
fn a_library_that_is_given_to_a_command_is_not_loaded_by_what_confines() {
    for name in ["LD_PRELOAD", "LD_AUDIT"] {
        for place in places() {
            let library = place.work().join("given.so");
            compile(&library, &outside(&place), &[]);
            let inside = place.work().join("loaded");
            let own = place.work().join("own.so");
            compile(&own, &inside, &[]);
            let both = env::join_paths([library, own]).unwrap();
            let mut worker = place.worker(&Sandbox::Workspace, "true");
            let done = worker
                .env(format!("PROBE_SETS_{name}"), both)
                .output()
                .unwrap();
            assert!(done.status.success(), "{done:?}");
            let backend = place.backend();
            assert!(!was_loaded_outside(&place), "{backend}, {name}");
            // The command has loaded both, inside.
            assert!(inside.exists(), "{backend}, {name}: {done:?}");
        }
    }
}

/// Compiles a library that writes as soon as it is loaded, and before anything of the program, how many processes it may have.
fn compile_witness(to: &Path, writes: &Path) {
    let source = to.with_extension("c");
    let text = format!(
        "#include <stdio.h>\n#include <sys/resource.h>\n\
         unsigned la_version(unsigned version) {{ return version; }}\n\
         __attribute__((constructor)) static void planted(void) {{\n\
         struct rlimit limit; getrlimit(RLIMIT_NPROC, &limit);\n\
         FILE *file = fopen(\"{}\", \"a\");\n\
         if (file) {{ fprintf(file, \"%llu\\n\", (unsigned long long) limit.rlim_max); fclose(file); }} }}\n",
        writes.display()
    );
    fs::write(&source, text).unwrap();
    let mut cc = Command::new("cc");
    let done = cc.args(["-shared", "-fPIC", "-o"]).arg(to).arg(&source);
    let done = done.output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// Starts a command with limits and this variable, and returns the limits with which the library was loaded.
fn limits_when_loaded(place: &Place, library: &Path, name: &str, value: &str) -> String {
    let seen = place.work().join("seen");
    compile_witness(library, &seen);
    let limited = Sandbox::Custom(SandboxRules::new().processes(1234).memory(8 << 30));
    let mut worker = place.worker(&limited, "ulimit -u");
    let done = worker.env(format!("PROBE_SETS_{name}"), value).output();
    let done = done.unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "1234\n", "{done:?}");
    fs::read_to_string(seen).unwrap_or_default()
}

#[test]
fn a_library_of_a_command_is_loaded_only_where_its_limits_hold() {
    for name in ["LD_PRELOAD", "LD_AUDIT"] {
        for backend in BACKENDS {
            let place = Place::new(backend);
            let library = place.work().join("given.so");
            let value = library.to_str().unwrap().to_owned();
            let seen = limits_when_loaded(&place, &library, name, &value);
            let mut lines = seen.lines().peekable();
            assert!(
                lines.peek().is_some(),
                "{backend}, {name}: the command has it"
            );
            assert!(
                lines.all(|line| line == "1234"),
                "{backend}, {name}: {seen}"
            );
        }
    }
}

#[test]
fn what_sets_the_limits_looks_for_no_library_where_a_command_does() {
    // A program of the system that does it would load these.
    for (name, _) in libraries_of("/usr/bin/prlimit") {
        for backend in BACKENDS {
            let place = Place::new(backend);
            let planted = place.work().join("lib");
            fs::create_dir(&planted).unwrap();
            let value = planted.to_str().unwrap();
            let seen = limits_when_loaded(&place, &planted.join(&name), "LD_LIBRARY_PATH", value);
            assert!(
                seen.lines().all(|line| line == "1234"),
                "{backend}, {name}: {seen}"
            );
        }
    }
}
