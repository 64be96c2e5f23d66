//! What tests need.
