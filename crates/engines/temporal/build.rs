//! Keeps the description of Temporal's messages, with which exported histories are read.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let described = env::var("DEP_TEMPORALIO_PROTOS_DESCRIPTOR_PATH")?;
    let kept = PathBuf::from(env::var("OUT_DIR")?).join("descriptors.bin");
    fs::copy(described, kept)?;
    Ok(())
}
