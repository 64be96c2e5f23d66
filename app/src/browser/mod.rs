//! What only a browser has: its clock, its network, its stream of events. Nothing of it exists on the server.

#[cfg(feature = "hydrate")]
pub(crate) mod clock;
#[cfg(feature = "hydrate")]
pub(crate) mod http;
#[cfg(feature = "hydrate")]
pub(crate) mod live;
#[cfg(feature = "hydrate")]
mod source;
#[cfg(feature = "hydrate")]
pub(crate) mod timer;
