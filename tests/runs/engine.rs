//! The container engine as the tests see it, by its command line.
//! A run's id comes in; what is left of it at the engine comes out.
//! It must never remove what another run owns.

use std::process::Command;

/// Runs docker and gives what it printed.
pub fn docker(arguments: &[&str]) -> String {
    let output = Command::new("docker").args(arguments).output().expect("docker runs");
    assert!(
        output.status.success(),
        "docker {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Containers, volumes and networks that carry the run's label.
pub fn left_of(run: &str) -> Vec<String> {
    let filter = format!("label=dev.ackproof.run={run}");
    let mut left = Vec::new();
    for list in [["container", "ls", "-aq"], ["volume", "ls", "-q"], ["network", "ls", "-q"]] {
        let mut arguments = list.to_vec();
        arguments.extend(["--filter", &filter]);
        left.extend(docker(&arguments).lines().map(|id| format!("{} {id}", list[0])));
    }
    left
}

/// Ids of the runs that own a container now.
pub fn runs() -> Vec<String> {
    let format = "{{.Label \"dev.ackproof.run\"}}";
    let filter = "label=dev.ackproof.run";
    let ids = docker(&["container", "ls", "-a", "--filter", filter, "--format", format]);
    let mut ids: Vec<String> = ids.lines().map(str::to_owned).collect();
    ids.sort();
    ids.dedup();
    ids
}
