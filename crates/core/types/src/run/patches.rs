//! Changes of a workflow in which runs that began before have no part.

/// The patches of the agents' loop: every door declares them for every run, beside those of the run's workflow.
///
/// See [`DurableContext::patched`](crate::DurableContext::patched).
pub const LOOP_PATCHES: &[&str] = &[];

/// Returns what the first step of a segment journals: the patches of the loop, and these of its workflow, each once.
#[must_use]
pub fn declared_patches(of_workflow: &[&str]) -> Vec<String> {
    let mut declared: Vec<String> = Vec::new();
    for id in LOOP_PATCHES.iter().chain(of_workflow) {
        if !declared.iter().any(|known| known == id) {
            declared.push((*id).to_owned());
        }
    }
    declared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_declared_once() {
        let own = ["greet-first", "ask-twice", "greet-first"];
        let declared = declared_patches(&own);
        let own: Vec<_> = declared.iter().skip(LOOP_PATCHES.len()).collect();
        assert_eq!(own, ["greet-first", "ask-twice"]);
    }
}
