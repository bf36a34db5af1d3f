//! The span that an attempt of a step runs in.

/// Makes the span of this name: with the run, the tree, the agent and whose the run is, with which attempt it is, with where
/// it stands in the run's trace, and with the fields of its own.
macro_rules! step_span {
    ($executor:expr, $scope:expr, $trace:expr, $name:literal, $($own:tt)*) => {
        ::tracing::info_span!(
            $name,
            trace.id = $trace.trace_id(),
            trace.span = $trace.span_id(),
            trace.parent = $trace.parent_id(),
            trace.sampled = $trace.is_sampled(),
            trace.state = $trace.state(),
            run_id = %$scope.run_id,
            root_id = %$scope.root(),
            agent = $executor.agent_of($scope),
            tenant = $scope.tags.tenant.as_deref(),
            owner = $scope.tags.owner.as_deref(),
            turn = $scope.step.turn,
            attempt = $scope.attempt,
            $($own)*
        )
    };
}

pub(super) use step_span;
