use neuron_context::{
    ContextSection, InjectionRule, InjectionTrigger, NoCompaction, PersistentContext, Strategy,
    SystemInjector,
};
use neuron_types::{
    ContextPolicy, ContextStrategy, Milestone, Reminder, ReminderTrigger, RequestHead, SystemBlock,
    SystemPrompt,
};

/// What is due between two milestones.
fn due(when: ReminderTrigger, before: [u64; 3], now: [u64; 3]) -> bool {
    let milestone = |[turns, calls, tokens]: [u64; 3]| Milestone {
        turns: u32::try_from(turns).unwrap(),
        tool_calls: u32::try_from(calls).unwrap(),
        tokens,
    };
    when.is_due(&milestone(before), &milestone(now))
}

#[test]
fn turns_and_calls_are_due_once_for_each_multiple_that_is_passed() {
    let turns = ReminderTrigger::EveryTurns(3);
    assert!(!due(turns, [0, 0, 0], [2, 9, 9]));
    assert!(due(turns, [2, 0, 0], [3, 0, 0]));
    assert!(!due(turns, [3, 0, 0], [3, 9, 9]));
    assert!(due(turns, [3, 0, 0], [7, 0, 0]));
    let calls = ReminderTrigger::EveryToolCalls(4);
    assert!(due(calls, [0, 3, 0], [1, 6, 0]));
    assert!(!due(calls, [0, 4, 0], [1, 7, 0]));
    assert!(!due(ReminderTrigger::EveryTurns(0), [0, 0, 0], [9, 9, 9]));
}

#[test]
fn a_size_is_due_when_it_is_reached_and_again_after_it_was_smaller() {
    let size = ReminderTrigger::AtTokens(100);
    assert!(!due(size, [0, 0, 0], [1, 1, 99]));
    assert!(due(size, [1, 1, 99], [2, 1, 100]));
    assert!(!due(size, [2, 1, 100], [3, 1, 500]));
    assert!(due(size, [3, 1, 40], [4, 1, 120]));
}

#[test]
fn sections_come_by_priority_and_then_in_their_order() {
    let section = |label: &str, priority| ContextSection::new(label, "x").priority(priority);
    let context = PersistentContext::new()
        .section(section("b", 1))
        .section(section("c", 1))
        .section(section("a", 0));
    assert_eq!(context.render(), "# a\n\nx\n\n# b\n\nx\n\n# c\n\nx");

    let mut request = RequestHead::default();
    PersistentContext::new().add_to(&mut request);
    assert_eq!(request.system, None);
    request.system = Some(SystemPrompt::Blocks(vec![]));
    context.add_to(&mut request);
    let block = SystemBlock {
        text: context.render(),
        cache_control: None,
    };
    assert_eq!(request.system, Some(SystemPrompt::Blocks(vec![block])));
}

#[test]
fn reminders_of_a_policy_and_of_an_injector_are_said_together() {
    use neuron_loop::AgentMachine;
    use neuron_types::{Message, RunInput};

    let input = RunInput::new(neuron_types::AgentSpec::default(), Message::user("go"));
    let machine = AgentMachine::new(input, Default::default());
    let mut state = machine.state().clone();
    state.turn = 2;
    let policy = ContextPolicy {
        reminders: vec![Reminder {
            text: "of the policy".to_owned(),
            when: ReminderTrigger::EveryTurns(2),
        }],
        ..ContextPolicy::default()
    };
    let injector = SystemInjector::new()
        .rule(InjectionRule::new(
            InjectionTrigger::EveryNToolCalls(1),
            "not due",
        ))
        .rule(InjectionRule::from_state(
            InjectionTrigger::custom(|state| state.turn == 2),
            |state| format!("turn {}", state.turn),
        ))
        .rule(InjectionRule::from(policy.reminders[0].clone()));
    let strategy = injector.clone().over(Strategy::from_policy(&policy));
    assert_eq!(
        strategy.remind(&state),
        ["of the policy", "turn 2", "of the policy"]
    );
    let alone = injector.over(NoCompaction::default());
    assert_eq!(alone.remind(&state), ["turn 2", "of the policy"]);
    state.context.reminded = state.milestone();
    assert_eq!(alone.remind(&state), ["turn 2"]);
}
