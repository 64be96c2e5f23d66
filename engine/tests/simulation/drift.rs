//! The model against the real scripts.
