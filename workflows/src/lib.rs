//! Workflows, each written once and generic over the door.
