//! That a tool be confined, whatever it is set to.

use crate::sandbox::{Sandbox, SandboxRules};

/// The demand that a tool's processes reach no more than these rules allow, whatever sandbox the tool has.
///
/// It is a setting of a tool, beside [`Sandbox`]: a tool that takes it does all that a call does in processes which are
/// confined, or fails. A tool that does something in this process, or leaves it to another process elsewhere, does not
/// take it. [`Sandbox::Off`] cannot be demanded.
///
/// ```
/// use neuron_sandbox::{Confine, Sandbox, SandboxRules};
///
/// let confine = Confine::to(SandboxRules::new());
/// // A tool that is confined further stays as it is.
/// assert_eq!(confine.narrowed(&Sandbox::ReadOnly).wider_than(&Sandbox::ReadOnly), None);
/// // One that is not gets these rules.
/// assert_eq!(confine.narrowed(&Sandbox::Off), Sandbox::Custom(SandboxRules::new()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confine(SandboxRules);

impl Confine {
    /// Returns the demand for these rules.
    #[must_use]
    pub fn to(rules: SandboxRules) -> Self {
        Self(rules)
    }

    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &SandboxRules {
        &self.0
    }

    /// Returns the sandbox for a tool that has one of its own: that one's rules if they certainly allow no more than these,
    /// else these. The back end is the one that is named here, if one is. Never [`Sandbox::Off`].
    #[must_use]
    pub fn narrowed(&self, own: &Sandbox) -> Sandbox {
        let asked = Sandbox::Custom(self.0.clone());
        let Some(own) = own.rules() else {
            return asked;
        };
        let backend = self.0.backend.or(own.backend);
        // What a back end promises matters only to a caller that names one: the rules are compared without it.
        let same_backend = SandboxRules {
            backend: self.0.backend,
            ..own
        };
        if Sandbox::Custom(same_backend.clone())
            .wider_than(&asked)
            .is_some()
        {
            return asked;
        }
        Sandbox::Custom(SandboxRules {
            backend,
            ..same_backend
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::{option, prelude::*};

    use super::*;
    use crate::kind::Backend;

    fn rules() -> impl Strategy<Value = SandboxRules> {
        let paths = || prop::collection::vec(prop::sample::select(vec![".", "a", "b"]), 0..3);
        let backends = prop::sample::select(vec![Backend::Bubblewrap, Backend::Landlock]);
        let keys = (
            paths(),
            option::of(paths()),
            any::<bool>(),
            option::of(1..3_u64),
            option::of(1..3_u64),
            option::of(backends),
        );
        keys.prop_map(
            |(read, write, network, memory, processes, backend)| SandboxRules {
                read: read.into_iter().map(Into::into).collect(),
                write: write.map(|paths| paths.into_iter().map(Into::into).collect()),
                network,
                memory,
                processes,
                backend,
            },
        )
    }

    fn without_backend(sandbox: &Sandbox) -> Sandbox {
        let rules = sandbox.rules().unwrap();
        Sandbox::Custom(SandboxRules {
            backend: None,
            ..rules
        })
    }

    proptest! {
        #[test]
        fn nothing_is_confined_less_than_demanded(asked in rules(), own in option::of(rules())) {
            let own = own.map_or(Sandbox::Off, Sandbox::Custom);
            let narrowed = Confine::to(asked.clone()).narrowed(&own);
            prop_assert!(!narrowed.is_off());
            let limit = without_backend(&Sandbox::Custom(asked.clone()));
            prop_assert_eq!(without_backend(&narrowed).wider_than(&limit), None);
            if asked.backend.is_some() {
                prop_assert_eq!(narrowed.rules().unwrap().backend, asked.backend);
            }
        }

        #[test]
        fn a_narrower_sandbox_stays_as_it_is(own in rules()) {
            let most = SandboxRules { backend: None, ..own.clone() };
            let own = Sandbox::Custom(own);
            prop_assert_eq!(Confine::to(most).narrowed(&own), own);
        }
    }

    #[test]
    fn a_tool_that_only_reads_gets_no_right_to_write() {
        let read_only = Sandbox::ReadOnly.with_backend(Backend::Landlock);
        let workspace = Confine::to(SandboxRules::new().network(true));
        assert_eq!(workspace.narrowed(&read_only), read_only);
    }
}
