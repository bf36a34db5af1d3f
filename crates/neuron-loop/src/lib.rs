//! The agent loop: a pure machine that decides, and the driver that takes its actions through the door.
