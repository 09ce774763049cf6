//! Workers with a chosen client version: each is a manifest of its own, ready to be built.
//! A manifest comes in; the same with its usual versions, and one for each other version, come out.
//! It must never leave a placeholder of a version open, nor mix two versions in one build.

use super::manifest::{ClientManifest, Manifest, OtherVersion};
use crate::names::BrokerKind;

/// What stands for the version of a client wherever its worker is built.
pub(super) fn placeholder(client: &ClientManifest) -> String {
    format!("{{{}.version}}", client.library)
}

impl Manifest {
    /// The worker in each version that it can be built in. The first one has the usual versions and
    /// its own name; any other has one client alone, and the name says which.
    pub fn variants(&self) -> Vec<Self> {
        let mut variants = vec![self.filled()];
        for (broker, client) in &self.clients {
            variants.extend(client.others.iter().map(|other| self.variant(*broker, client, other)));
        }
        variants
    }

    /// Every text in which a version can be asked for.
    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        let Self { inputs, lock_files, build, run, .. } = self;
        let build = build.command.iter().chain(build.env.values()).chain([&build.artifact]);
        inputs.iter().chain(lock_files).chain(build).chain(run)
    }

    fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Self { inputs, lock_files, build, run, .. } = self;
        let env = build.env.values_mut();
        let build = build.command.iter_mut().chain(env).chain([&mut build.artifact]);
        inputs.iter_mut().chain(lock_files).chain(build).chain(run)
    }

    fn filled(&self) -> Self {
        let mut filled = self.clone();
        for client in self.clients.values() {
            let placeholder = placeholder(client);
            let fill = |text: &mut String| *text = text.replace(&placeholder, &client.version);
            filled.texts_mut().for_each(fill);
        }
        filled
    }

    fn variant(&self, broker: BrokerKind, client: &ClientManifest, other: &OtherVersion) -> Self {
        let mut chosen = client.clone();
        chosen.version.clone_from(&other.version);
        chosen.others.clear();
        if let Some(capabilities) = &other.capabilities {
            chosen.capabilities.clone_from(capabilities);
        }
        if let Some(lacks) = &other.lacks {
            chosen.lacks.clone_from(lacks);
        }
        let mut variant = self.clone();
        variant.clients.insert(broker, chosen);
        let mut variant = variant.filled();
        // The others are built in with their usual versions, and are no reason to run them again.
        variant.clients.retain(|kind, _| *kind == broker);
        variant.name = format!("{}-{}-{}", self.name, client.library, other.version);
        variant.is_usual = false;
        variant
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::*;
    use crate::suite::manifest;

    #[test]
    fn each_version_is_a_worker_of_its_own() {
        let mut worker = manifest::load(Path::new("fixtures/suites/valid/worker.yaml")).unwrap();
        let (broker, client) = worker.clients.iter_mut().next().unwrap();
        let (broker, library) = (*broker, client.library.clone());
        let usual = client.version.clone();
        client.others = vec![OtherVersion {
            version: "0.0.1".to_owned(),
            capabilities: Some(Vec::new()),
            lacks: None,
        }];
        worker.build.command = vec![format!("make-{{{library}.version}}")];
        let variants = worker.variants();
        assert_eq!(variants.len(), 2);
        assert_eq!(variants[0].build.command, [format!("make-{usual}")]);
        assert_eq!(variants[0].clients.len(), worker.clients.len());
        assert!(variants[0].is_usual && !variants[1].is_usual);
        assert_eq!(variants[1].name, format!("{}-{library}-0.0.1", worker.name));
        assert_eq!(variants[1].build.command, ["make-0.0.1"]);
        let only: Vec<_> = variants[1].clients.keys().collect();
        assert_eq!(only, [&broker]);
        assert!(variants[1].clients[&broker].capabilities.is_empty());
        assert_eq!(variants[1].clients[&broker].lacks, worker.clients[&broker].lacks);
    }
}
