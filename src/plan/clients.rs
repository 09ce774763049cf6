//! Which versions of client libraries a plan is for: sets of pins files, and `--pin`.
//! Loaded files, names and the workers at hand come in; a choice, or located problems, comes out.
//! It must never choose a version in silence that no worker can be built with.

use std::collections::{BTreeMap, BTreeSet};

use super::request::Request;
use super::slot::Subject;
use super::{ClientPin, ProducerPin};
use crate::names::BrokerKind;
use crate::suite::Loaded;
use crate::suite::manifest::{ClientManifest, Manifest};
use crate::suite::problem::{Problem, Words, suggest};
use crate::suite::rule::Rule;
use crate::suite::source::Route;

/// Sets of versions by library, one at least; what a set does not name is as the workers have it.
pub(super) struct Clients(Vec<BTreeMap<String, String>>);

impl Clients {
    /// Whether one of the sets wants this client.
    pub(super) fn take(&self, manifest: &Manifest, client: &ClientManifest) -> bool {
        self.0.iter().any(|set| match set.get(&client.library) {
            Some(version) => *version == client.version,
            None => manifest.is_usual,
        })
    }

    /// The client that publishes on a broker, if one is to publish for all others.
    pub(super) fn producer(&self, request: &Request, broker: BrokerKind) -> Option<ProducerPin> {
        let library = request.producer.as_ref()?;
        let clients = request.manifests.iter().filter_map(|m| Some((m, m.clients.get(&broker)?)));
        let mut own = clients.filter(|(_, client)| client.library == *library);
        let (manifest, ClientManifest { library, version, .. }) =
            own.find(|(manifest, client)| self.take(manifest, client))?;
        let client = ClientPin { library: library.clone(), version: version.clone() };
        Some(ProducerPin { client, manifest: manifest.name.clone() })
    }

    /// The sets that were asked for, with the versions of `--pin` in each.
    pub(super) fn read(
        loaded: &Loaded,
        request: &Request,
        pinned: BTreeMap<String, String>,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let mut sets = Vec::new();
        for name in &request.clients {
            let named = loaded.pins.iter().find(|read| read.file.clients.contains_key(name));
            let Some(read) = named else {
                let known = loaded.pins.iter().flat_map(|read| read.file.clients.keys());
                let help = suggest(name, known.map(String::as_str));
                let words = Words::new(format!("there is no set of clients `{name}`")).help(help);
                problems.push(Problem::of_request(Rule::UnknownSet, words));
                continue;
            };
            let versions = &read.file.clients[name];
            for (library, version) in versions {
                // A set is for all reference workers, whichever of them are at hand.
                let is_away = !libraries(request).any(|own| own == library);
                if is_away && REFERENCE.contains(&library.as_str()) {
                    continue;
                }
                if let Some((message, help)) = unknown(library, &version.value, request) {
                    let route = Route::default().key("clients").key(name).key(library);
                    let source = &read.source;
                    problems.push(source.problem_with_help(Rule::BadPin, &route, message, help));
                }
            }
            let versions = versions.iter().map(|(library, v)| (library.clone(), v.value.clone()));
            sets.push(versions.collect());
        }
        if request.clients.is_empty() {
            sets.push(BTreeMap::new());
        }
        if let Some(library) = &request.producer
            && !libraries(request).any(|own| own == library)
        {
            let (message, help) = nobody_has(library, libraries(request));
            let words = Words::new(message).help(help);
            let range = 0..library.len();
            problems.push(Problem::at(Rule::BadOption, "--producer", library, range, words));
        }
        for set in &mut sets {
            set.extend(pinned.clone());
        }
        Self(sets)
    }
}

/// Libraries whose options stand in suites although no worker at hand may have them: those of the
/// reference workers.
const REFERENCE: [&str; 6] = [
    "confluent-kafka",
    "kafka-clients",
    "pulsar",
    "pulsar-client-java",
    "pulsar-client-python",
    "rdkafka",
];

/// Options of a library that there is not would be ignored in silence.
pub(super) fn options_are_of_somebody(
    subjects: &[Subject<'_>],
    request: &Request,
    problems: &mut Vec<Problem>,
) {
    let known: BTreeSet<&str> = REFERENCE.into_iter().chain(libraries(request)).collect();
    for subject in subjects {
        for (worker, spec) in &subject.scenario.workers {
            for library in spec.value.client_options.keys() {
                if known.contains(library.as_str()) {
                    continue;
                }
                let route = subject.route.key("workers").key(worker).key("client_options");
                let (message, help) = nobody_has(library, known.iter().copied());
                let (rule, route) = (Rule::NoWorker, route.name(library));
                problems.push(subject.source.problem_with_help(rule, &route, message, help));
            }
        }
    }
}

/// Libraries of the workers at hand.
pub(super) fn libraries(request: &Request) -> impl Iterator<Item = &str> {
    let clients = request.manifests.iter().flat_map(|manifest| manifest.clients.values());
    clients.map(|client| client.library.as_str())
}

fn nobody_has<'a>(
    library: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> (String, Option<String>) {
    (format!("no worker has the client library `{library}`"), suggest(library, known))
}

/// Why no worker can have this version, with what there is.
pub(super) fn unknown(
    library: &str,
    version: &str,
    request: &Request,
) -> Option<(String, Option<String>)> {
    let clients = request.manifests.iter().flat_map(|manifest| manifest.clients.values());
    let of_library: Vec<_> = clients.filter(|client| client.library == library).collect();
    if of_library.iter().any(|client| client.version == version) {
        return None;
    }
    if of_library.is_empty() {
        return Some(nobody_has(library, libraries(request)));
    }
    let versions: Vec<&str> = of_library.iter().map(|client| client.version.as_str()).collect();
    let message = format!("no worker can be built with {library} {version}");
    let help = format!("its manifest has: {}; others go under `others`", versions.join(", "));
    Some((message, Some(help)))
}
