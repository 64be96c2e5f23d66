//! Schedules that failed once: each is run for ever, on its own, so that it is read first when it fails again.
