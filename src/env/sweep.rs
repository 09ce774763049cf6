//! Sweeps: what a run left at the engine goes away once nobody holds the run's lock.
//! Labels of containers, networks and volumes come in; those of dead runs are removed.
//! It must never touch a run that lives, a kept run (unless asked to), or another machine's.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListNetworksOptionsBuilder, ListVolumesOptionsBuilder,
    RemoveContainerOptionsBuilder, RemoveVolumeOptionsBuilder,
};

use super::EnvError;
use super::engine::Engine;
use super::family;
use super::run_lock::{
    LABEL_HOST, LABEL_KEEP, LABEL_LOCK, LABEL_RUN, is_free, lock_of, machine, remove_dead_locks,
};

/// Whether kept runs are swept too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepScope {
    /// What every start does: kept runs stay.
    DeadRuns,
    /// `clean --all`.
    DeadAndKeptRuns,
}

/// What a sweep removed, by run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Runs that were kept and are spared.
    pub kept: BTreeSet<String>,
    pub runs: BTreeSet<String>,
    pub containers: usize,
    pub volumes: usize,
    pub networks: usize,
}

type Labels = HashMap<String, String>;

/// Removes what dead runs left.
///
/// # Errors
/// When the engine does not answer.
pub async fn sweep(engine: &Engine, scope: SweepScope) -> Result<Swept, EnvError> {
    let error = |e: bollard::errors::Error| EnvError::new("cannot sweep", e);
    let docker = engine.docker();
    let filter: HashMap<String, Vec<String>> =
        [(String::from("label"), vec![LABEL_RUN.to_owned()])].into();
    let mut swept = Swept { kept: kept_runs(engine, scope).await?, ..Swept::default() };

    let options = ListContainersOptionsBuilder::new().all(true).filters(&filter).build();
    for found in docker.list_containers(Some(options)).await.map_err(error)? {
        let Some(run) = dead_run(found.labels.as_ref(), scope) else { continue };
        let Some(id) = found.id else { continue };
        let remove = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
        if docker.remove_container(&id, Some(remove)).await.is_ok() {
            swept.containers += 1;
            swept.runs.insert(run);
        }
    }
    let options = ListVolumesOptionsBuilder::new().filters(&filter).build();
    for found in
        docker.list_volumes(Some(options)).await.map_err(error)?.volumes.unwrap_or_default()
    {
        let Some(run) = dead_run(Some(&found.labels), scope) else { continue };
        let remove = RemoveVolumeOptionsBuilder::new().force(true).build();
        if docker.remove_volume(&found.name, Some(remove)).await.is_ok() {
            swept.volumes += 1;
            swept.runs.insert(run);
        }
    }
    let options = ListNetworksOptionsBuilder::new().filters(&filter).build();
    for found in docker.list_networks(Some(options)).await.map_err(error)? {
        let Some(run) = dead_run(found.labels.as_ref(), scope) else { continue };
        let Some(id) = found.id else { continue };
        if docker.remove_network(&id).await.is_ok() {
            swept.networks += 1;
            swept.runs.insert(run);
        }
    }
    end_orphans();
    remove_dead_locks();
    Ok(swept)
}

async fn kept_runs(engine: &Engine, scope: SweepScope) -> Result<BTreeSet<String>, EnvError> {
    if scope == SweepScope::DeadAndKeptRuns {
        return Ok(BTreeSet::new());
    }
    let filter: HashMap<String, Vec<String>> =
        [(String::from("label"), vec![LABEL_KEEP.to_owned()])].into();
    let options = ListContainersOptionsBuilder::new().all(true).filters(&filter).build();
    let found = engine
        .docker()
        .list_containers(Some(options))
        .await
        .map_err(|e| EnvError::new("cannot list containers", e))?;
    let labels = found.into_iter().filter_map(|container| container.labels);
    Ok(labels.filter_map(|labels| labels.get(LABEL_RUN).cloned()).collect())
}

/// Ends what workers of dead runs had started and left behind.
fn end_orphans() {
    for mark in family::marks() {
        // `ap-<run>-<unit>/<worker>/<incarnation>`: see the run's stage.
        let run = mark
            .strip_prefix("ap-")
            .and_then(|rest| Some(rest.split('/').next()?.rsplit_once('-')?.0));
        if run.is_some_and(|run| is_free(&lock_of(run))) {
            family::end(&mark);
        }
    }
}

/// What is left of runs at the engine, dead or alive, by run id: for `doctor` and tests.
///
/// # Errors
/// When the engine does not answer.
pub async fn leftovers(engine: &Engine) -> Result<BTreeMap<String, usize>, EnvError> {
    let error = |e: bollard::errors::Error| EnvError::new("cannot list containers", e);
    let filter: HashMap<String, Vec<String>> =
        [(String::from("label"), vec![LABEL_RUN.to_owned()])].into();
    let options = ListContainersOptionsBuilder::new().all(true).filters(&filter).build();
    let mut left = BTreeMap::new();
    for found in engine.docker().list_containers(Some(options)).await.map_err(error)? {
        if let Some(run) = found.labels.and_then(|labels| labels.get(LABEL_RUN).cloned()) {
            *left.entry(run).or_default() += 1;
        }
    }
    Ok(left)
}

/// The run's id, if it is ours to sweep.
fn dead_run(labels: Option<&Labels>, scope: SweepScope) -> Option<String> {
    let labels = labels?;
    let run = labels.get(LABEL_RUN)?;
    if labels.get(LABEL_HOST)? != &machine() {
        return None;
    }
    if labels.contains_key(LABEL_KEEP) && scope == SweepScope::DeadRuns {
        return None;
    }
    is_free(&PathBuf::from(labels.get(LABEL_LOCK)?)).then(|| run.clone())
}

#[cfg(test)]
mod tests {
    use super::super::run_lock::{Keep, RunLock};
    use super::*;

    fn labels(lock: &RunLock) -> Labels {
        lock.labels().into_iter().collect()
    }

    #[test]
    fn a_living_run_is_left_alone_and_a_dead_one_is_not() {
        let lock = RunLock::take(Keep::Nothing).expect("a run");
        let labels = labels(&lock);
        assert_eq!(dead_run(Some(&labels), SweepScope::DeadRuns), None);
        drop(lock);
        assert!(dead_run(Some(&labels), SweepScope::DeadRuns).is_some());
    }

    #[test]
    fn kept_runs_need_all_and_other_machines_are_never_touched() {
        let lock = RunLock::take(Keep::Everything).expect("a run");
        let mut labels = labels(&lock);
        drop(lock);
        assert_eq!(dead_run(Some(&labels), SweepScope::DeadRuns), None);
        assert!(dead_run(Some(&labels), SweepScope::DeadAndKeptRuns).is_some());
        labels.insert(LABEL_HOST.to_owned(), String::from("another machine"));
        assert_eq!(dead_run(Some(&labels), SweepScope::DeadAndKeptRuns), None);
    }

    #[test]
    fn what_has_no_labels_of_ours_is_never_touched() {
        assert_eq!(dead_run(None, SweepScope::DeadAndKeptRuns), None);
        assert_eq!(dead_run(Some(&Labels::new()), SweepScope::DeadAndKeptRuns), None);
    }
}
