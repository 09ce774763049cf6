//! Words that the language has and that this version cannot carry out: such a cell is unsupported.
//! A scenario comes in; the first word without machinery comes out, with the reason.
//! It must never excuse a client or a broker: what those lack stands in manifests, with a source.

use super::manifest::Lack;
use super::model::Scenario;
use crate::faults::unbuilt;
use crate::names::{Role, wire_name};

/// Where a reader finds what is not built yet.
const WHERE: &str = "README.md#words-without-machinery";

/// The first thing in a scenario that the runner cannot do yet.
pub fn missing(scenario: &Scenario) -> Option<Lack> {
    let lack = |capability: String, reason: &str| Lack {
        capability,
        reason: reason.to_owned(),
        url: WHERE.to_owned(),
    };
    let fault = scenario.faults.iter().find_map(|fault| {
        let reason = unbuilt::reason(&fault.value)?;
        Some(lack(format!("fault {}", fault.value.id()), reason))
    });
    let role = || {
        let mut roles = scenario.workers.values().map(|spec| spec.value.role);
        let role = roles.find(|role| matches!(role, Role::Application | Role::Relay))?;
        Some(lack(
            format!("role {}", wire_name(&role)),
            "the reference worker has no such role yet",
        ))
    };
    fault.or_else(role)
}
