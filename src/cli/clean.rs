//! `ackproof clean`: what dead runs left at the engine goes away, and is named.
//! A scope comes in; counts for people and an exit code come out.
//! It must never touch a run that lives.

use super::{exit, output};
use crate::env::engine::Engine;
use crate::env::sweep::{SweepScope, sweep};

/// Sweeps and says what was removed.
pub async fn clean(scope: SweepScope) -> u8 {
    let swept = match Engine::connect().await {
        Ok(engine) => sweep(&engine, scope).await,
        Err(error) => Err(error),
    };
    match swept {
        Ok(swept) => {
            let runs: Vec<&str> = swept.runs.iter().map(String::as_str).collect();
            let removed = format!(
                "removed {} containers, {} volumes, {} networks of {} runs{}{}",
                swept.containers,
                swept.volumes,
                swept.networks,
                runs.len(),
                if runs.is_empty() { "" } else { ": " },
                runs.join(", ")
            );
            let mut code = output::result(&removed, exit::OK);
            if !swept.kept.is_empty() {
                let kept: Vec<&str> = swept.kept.iter().map(String::as_str).collect();
                let left = format!(
                    "kept runs are left ({}); `ackproof clean --all` removes them too",
                    kept.join(", ")
                );
                code = output::result(&left, code);
            }
            code
        }
        Err(error) => {
            output::message(&error.to_string());
            exit::INCONCLUSIVE
        }
    }
}
