//! Exit codes: an interface that CI pipelines rely on.
//! Nothing comes in; five numbers with their meaning come out.
//! A number must never change its meaning.

/// Nothing is broken.
pub const OK: u8 = 0;
/// A guarantee is broken.
pub const BROKEN: u8 = 1;
/// The command line or a suite is bad.
pub const USAGE: u8 = 2;
/// Nothing is broken but something is inconclusive.
pub const INCONCLUSIVE: u8 = 3;
/// Interrupted; reports are written all the same.
pub const INTERRUPTED: u8 = 130;
