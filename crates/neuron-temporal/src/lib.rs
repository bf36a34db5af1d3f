//! Runs agents as Temporal workflows: the door, its activities, the workflow host and the client.
