//! The span that an attempt of a step runs in.

/// Makes the span of this name: with the run, the tree, the agent and whose the run is, with which attempt it is, and with
/// the fields of its own.
macro_rules! step_span {
    ($executor:expr, $scope:expr, $name:literal, $($own:tt)*) => {
        ::tracing::info_span!(
            $name,
            run_id = %$scope.run_id,
            root_id = %$scope.root(),
            agent = $scope.agent.as_deref().or_else(|| $executor.agent()),
            tenant = $scope.tags.tenant.as_deref(),
            owner = $scope.tags.owner.as_deref(),
            turn = $scope.step.turn,
            attempt = $scope.attempt,
            $($own)*
        )
    };
}

pub(super) use step_span;
