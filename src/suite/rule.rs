//! Every rule that a suite file or a request can break, by a name that never changes.
//! Nothing comes in; a closed table of rules with name, severity, one line and help comes out.
//! It must never hold a rule's logic: that is in `validate`, `lint`, and where requests are read.

use std::fmt;

use serde::{Serialize, Serializer};

/// How much a broken rule matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing is run.
    Error,
    /// It is run, and something of it may prove nothing.
    Warning,
}

macro_rules! rules {
    ($($variant:ident $name:literal $about:literal $help:literal)+) => {
        /// A rule; its name stands in `error[name]` and is an interface.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = $about] $variant,)+
        }

        impl Rule {
            /// All rules, in the order in which a file meets them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The stable name, in lower case with dashes.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What breaks the rule, in one line.
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => $about,)+ }
            }

            /// What to do about it, where a problem has nothing more precise to say.
            pub fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)+ }
            }
        }
    };
}

rules! {
    // Reading.
    UnreadableFile "unreadable-file" "a file or folder cannot be read"
        "name a YAML file, or a folder with such files, that this program may read"
    NoSuiteFile "no-suite-file" "a folder without a YAML file"
        "suites are files named *.yaml with a `kind:`"
    TooLarge "too-large" "a file is larger, deeper or more repetitive than a suite may be"
        "split the file, and write out what aliases stand for"
    NotUtf8 "not-utf8" "a file is no UTF-8 text"
        "save the file as UTF-8"
    BadSyntax "bad-syntax" "a text is no YAML"
        "the mistake is here or in the lines before: an indent, a quote or a bracket"
    SecondDocument "second-document" "a file holds more than one document"
        "put what follows `---` into a file of its own"
    MissingKind "missing-kind" "a file does not say what it is"
        "add `kind:`"
    UnknownKind "unknown-kind" "a file is of a kind that there is not"
        "write suite, fragments, pins, profile, deviations or worker"
    DuplicateKey "duplicate-key" "a key stands twice in one mapping"
        "keep one of them"
    UnknownKey "unknown-key" "a key that the language does not have"
        "remove it: what nobody reads would be ignored in silence"
    MissingKey "missing-key" "a key is missing"
        "settings that decide what a run proves have no defaults"
    UnknownWord "unknown-word" "a word that is none of the allowed ones"
        "use one of the words of the language"
    WrongType "wrong-type" "a value of another type than the key wants"
        "write a value of the type that is expected"
    Unprintable "unprintable-character" "a character that no reader would see"
        "write it as an escape inside double quotes where it is meant, or remove it"

    // Names and references.
    BadName "bad-name" "a name that cannot stand in ids and paths"
        "use letters, digits and dashes, 60 characters at most"
    DuplicateName "duplicate-name" "two things of one kind have the same name"
        "rename one of them"
    DuplicateItem "duplicate-item" "a list names something twice"
        "name it once"
    UnknownWorker "unknown-worker" "a worker that the scenario does not have"
        "add it under `workers`"
    UnknownDestination "unknown-destination" "a destination that the topology does not have"
        "add it under `topology.destinations`"
    UnknownPhase "unknown-phase" "a phase that the scenario does not have"
        "add it under `phases`"
    UnknownFault "unknown-fault" "a fault that the scenario does not have"
        "add it under `faults`"
    UnknownCheck "unknown-check" "a check that there is not"
        "name a check of this scenario"
    UnknownClause "unknown-clause" "a clause that the delivery contract does not have"
        "name a clause of the contract, for example `ACK-3`"
    UnknownCapability "unknown-capability" "a capability that no client is asked for"
        "name a capability that clients of this broker have or lack"
    UnknownPattern "unknown-pattern" "a pattern that workers of this role do not have"
        "name a pattern of the role"
    UnknownEvent "unknown-event" "an event that the workload does not have"
        "ordinals count from 1 to `workload.events`"

    BarrierNeverMeets "barrier-never-meets" "a barrier at which no two processes meet"
        "let two processes come to one point with one event"
    BadBase64 "bad-base64" "payload bytes that are not written in Base64"
        "write the bytes in Base64 with `=` at the end, as `base64` prints them"

    // The parts of a scenario.
    EmptyText "empty-text" "a title or story that says nothing"
        "say in words what the scenario shows"
    TitleLines "title-lines" "a title of several lines"
        "move the rest into `about`"
    NoScenario "no-scenario" "a suite or profile without scenarios"
        "add one under `scenarios`"
    NoBroker "no-broker" "a scenario for no broker"
        "name kafka, pulsar or both under `brokers`"
    NoClause "no-clause" "a scenario that shows no clause of the delivery contract"
        "every scenario shows at least one clause of the delivery contract"
    NoDestination "no-destination" "a topology without a destination"
        "add one under `topology.destinations`"
    NoPhase "no-phase" "a scenario without phases"
        "add a phase that starts the workers"
    NoCheck "no-check" "a scenario without checks"
        "add a check: without one nothing can fail"
    NoControl "no-control" "a broker on which no control puts the scenario to the test"
        "add a control: a deliberate defect that one of the checks must catch"
    NoProducer "no-producer" "a workload that nobody publishes"
        "add a worker with `role: producer`: the runner itself never publishes"
    OutOfBounds "out-of-bounds" "a number outside of what is allowed"
        "write a number inside the bounds"
    NeverStarted "never-started" "a worker that no phase starts"
        "add it to `start` of a phase, or remove it"
    Unserved "unserved-destination" "a destination that no consumer serves"
        "add a consumer with this `destination`, or remove the destination"
    WrongForRole "wrong-for-role" "a setting that a worker of this role does not have"
        "remove it, or write another `role`"
    MissingForRole "missing-for-role" "a setting that a worker of this role needs"
        "add it, or write another `role`"
    NoDeadLetterTopic "no-dead-letter-topic" "something needs a dead letter topic that is not there"
        "add `dead_letter: {topic: …, subscription: …}` to the topology"
    NoEvent "no-event" "a rule of a handler that concerns no event of the workload"
        "choose other events; poison is listed under `workload.poison`"
    UnreachedRule "unreached-rule" "a rule of a handler that no event reaches"
        "remove it, move it up, or give the rules before it `times`"
    OtherBroker "other-broker" "a setting for a broker on which the scenario is not run"
        "add the broker to `brokers` of the scenario, or remove the setting"
    UndeclaredNeed "undeclared-need" "a capability is used and not asked for"
        "add it to `needs`, so that clients without it are unsupported"
    BrokerCannot "broker-cannot" "a broker cannot do what the scenario asks of it"
        "leave the broker out of `brokers`"
    StartOrder "start-order" "a worker is started twice, or used while it does not run"
        "see `start` and `stop` of the phases before"
    NobodyLeft "nobody-left" "after a death nobody goes on"
        "use `then: restart`, or a second consumer"
    PointNotPassed "point-not-passed" "a point that workers of this role never pass"
        "name a point of the role (PROTOCOL.md of the workers lists them)"
    NoAckTimeout "no-ack-timeout" "a limit is meant and no ack timeout is set"
        "set the ack timeout of the worker under `options`"
    WithheldButCreated "withheld-but-created" "a piece is withheld and created at once"
        "write `absent` for the piece under `topology.dead_letter`"
    TwoInputs "two-inputs" "two kinds of faults in one scenario"
        "write a scenario for each, so that a failure has one cause"
    NothingToExamine "nothing-to-examine" "a check has nothing to look at in this story"
        "remove the check, or tell a story that gives it something"
    HazardMismatch "hazard-mismatch" "a hazard that shows no loss, or a loss that is no hazard"
        "a hazard has `hazard: true` and the check `unretained`"
    ControlChangesNothing "control-changes-nothing" "a control without a defect"
        "name a defect under `change`"
    ControlKind "control-kind" "a control changes something else than its `defect` says"
        "write the `defect` that fits the change"
    ChangeDoesNotFit "change-does-not-fit" "a control changes what its target does not have"
        "remove the change, or name another target"
    CheckNotRun "check-not-run" "a control is to be caught by a check that the scenario lacks"
        "add the check to the scenario"

    VacuousCheck "vacuous-check" "a check that expects nothing"
        "expect something that could be otherwise"
    ChangesNothing "expectation-changes-nothing" "an expectation for versions that changes nothing"
        "expect something else there, or remove the entry"

    // Variables, matrices and fragments.
    EmptyVars "empty-vars" "variables or axes without a name"
        "name one, or remove the key"
    BadVariable "bad-variable" "a variable with a name or in a form that there is not"
        "a variable is `${name}`: letters, digits, dashes, underscores"
    BadValue "bad-value" "a value that cannot be filled in"
        "write one text or number, on one line, 200 characters at most"
    BadAxis "bad-axis" "an axis whose values cannot make scenarios"
        "an axis is a list of values with a letter or digit each"
    UnknownVariable "unknown-variable" "a variable that nobody declares"
        "declare it under `vars`, or write `$${`"
    UnusedVariable "unused-variable" "a variable or axis that is used nowhere"
        "write `${name}` where it belongs, or take it away"
    ShadowedVariable "shadowed-variable" "a name that is a variable and an axis"
        "give one of them another name"
    MisplacedVariable "misplaced-variable" "a variable where nothing is filled in"
        "use variables in the values of a scenario, and declare them there or in its file"
    UnquotedValue "unquoted-value" "a value that would be something else without quotes"
        "put the whole text around it into double quotes"
    MisplacedMatrix "misplaced-matrix" "a scenario with a matrix that cannot be copied"
        "write it as an item of a list of its own lines: `- id: …`"
    AliasIntoMatrix "alias-into-matrix" "an alias to a part of a scenario with a matrix"
        "it is another thing in every combination: put it into a fragment"
    TooManyCombinations "too-many-combinations" "a matrix with more scenarios than a file may have"
        "split the scenario"
    BadInclude "bad-include" "an include that is no list of relative paths at the top"
        "`include: [../fragments/workers.yaml]`"
    MissingInclude "missing-include" "an include of a file that is not there"
        "paths are relative to the file that includes"
    IncludeOutside "include-outside" "an include that leaves the folder of the suites"
        "includes stay in the folder with `pins.yaml`, or in the one that was given"
    IncludeCircle "include-circle" "files that include each other"
        "take one of the includes away"
    IncludeDepth "include-depth" "includes of includes of includes"
        "include the file where its pieces are used"
    NoFragments "no-fragments" "an included file that holds no fragments"
        "only files of `kind: fragments` are included"
    BadFragments "bad-fragments" "a file of fragments that cannot be put into others"
        "`fragments: {name: &name …}`, without `---`, `...` or `%` lines"
    SameAnchor "same-anchor" "two anchors of one name in files that come together"
        "rename one of them"
    UnknownAnchor "unknown-anchor" "an alias without its anchor"
        "an anchor `&name` comes before its aliases"
    UnusedInclude "unused-include" "fragments that nobody uses"
        "use one of its pieces as `*name`, or take it away"

    // Deviations.
    KnownEvidence "known-evidence" "a deviation about evidence and not about a guarantee"
        "remove it: without evidence a run is inconclusive, known or not"
    BadDate "bad-date" "a text that is no day"
        "write the day as `2027-06-30`"
    NoSubject "no-subject" "versions of nobody, or of two"
        "give `client: LIBRARY` or `server: kafka|pulsar|postgres`, and only one"
    BadRange "bad-range" "a text that is no range of versions"
        "write bounds such as `>=4.1, <4.3`"
    RangeNotPinned "range-not-pinned" "a range in which no set of pins has a version"
        "remove the entry, or add a set"

    // Pins, profiles and manifests.
    BadVersion "bad-version" "a text that is no version"
        "a pin is a version such as `4.3.1`, or a major such as `17`"
    IncompletePins "incomplete-pins" "a pins file that leaves a server open"
        "a set names one version for each of kafka, pulsar, postgres"
    BadGlob "bad-glob" "a pattern that is no glob"
        "write `property/scenario`, with `*` for any part"
    EmptyCommand "empty-command" "a command without a program"
        "write the program and its arguments as a list"
    NoClient "no-client" "a worker without a client library"
        "add a broker with its library under `clients`"
    Contradiction "contradiction" "a capability that a client both has and lacks"
        "keep it under `capabilities` or under `lacks`"
    BadUrl "bad-url" "a source that is no URL"
        "say where a reader can see that the client lacks it"

    // The contract.
    RedeliveryUnchecked "redelivery-unchecked" "a handler outlasts the ack timeout unchecked"
        "add `overlap` or `deliveries` of these events, or stay below the ack timeout"
    DedupWindow "dedup-window" "an inbox forgets an event before it can come again"
        "keep it longer than anything can bring it again: ack timeout, retries, redrives"
    PolicyNeedsShared "policy-needs-shared" "a client's dead letter policy where it does not count"
        "use `shared` or `key_shared`, or `mode: application`"
    AbsenceWithoutProof "absence-without-proof" "nothing proves that a piece is absent"
        "add a `withhold` fault for it: its receipt is the broker's own answer"
    FewerPartitions "fewer-partitions" "a dead letter topic narrower than its source"
        "give it as many partitions, or show clause DLT-3 if that is the story"
    FaultUnobserved "fault-unobserved" "a fault that no check could notice"
        "add a check that reads what the fault changes, or remove the fault"
    CheckUntested "check-untested" "a check that nothing in the scenario could break"
        "name it in `caught_by` of a control, or remove it"
    PhaseNeverEnds "phase-never-ends" "a phase waits for what the story cannot bring about"
        "wait for something else, or tell a story that brings it about"
    StallNeverEnds "stall-never-ends" "a stall waits for a consumer that there is not"
        "start two consumers for the destination"

    // Requests: the command line against what the files say.
    BadFilter "bad-filter" "a filter that cannot be read"
        "a filter is `id(GLOB)`, for example `id(dead-letter/*)`"
    BadOption "bad-option" "an option with a value that it cannot take"
        "see --help of the verb"
    OccupiedFolder "occupied-folder" "a folder that would be written over"
        "name a new folder"
    NoPins "no-pins" "suites without versions to run them on"
        "copy a file of `kind: pins` into the folder, or name one along with it"
    BadPin "bad-pin" "a pin that names no server and version"
        "write it as `kafka=4.3.1`"
    UnknownSet "unknown-set" "a set of pins that no file has"
        "give a file of `kind: pins` along with the suites"
    UnknownProfile "unknown-profile" "a profile that no file has"
        "give a file of `kind: profile` along with the suites"
    UnmatchedGlob "unmatched-glob" "a pattern of a profile that takes no scenario"
        "name a scenario of the suites, or remove the pattern"
    UnclearRange "unclear-range" "a pin that a range of versions may or may not hold"
        "pin a full version, or write a range of whole majors"
    NoCell "no-cell" "a request that takes nothing"
        "ask for less: another filter or profile"
    NoWorker "no-worker" "no worker can play the scenario"
        "run from the checkout, or name the folder with --workers"
    SameLibrary "same-library" "two workers that cells could not tell apart"
        "plan one of them: name its folder with --workers"
    UndecidedCapability "undecided-capability" "a manifest is silent on a needed capability"
        "list it in the manifest under `capabilities` or `lacks`"
}

impl Rule {
    /// Whether a run stops for it.
    pub fn severity(self) -> Severity {
        match self {
            Self::FewerPartitions | Self::CheckUntested => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Whether it comes from the delivery contract: its problems name a clause.
    pub fn is_of_contract(self) -> bool {
        matches!(
            self,
            Self::RedeliveryUnchecked
                | Self::DedupWindow
                | Self::PolicyNeedsShared
                | Self::AbsenceWithoutProof
                | Self::FewerPartitions
                | Self::FaultUnobserved
                | Self::CheckUntested
                | Self::PhaseNeverEnds
                | Self::StallNeverEnds
        )
    }

    /// Whether it is about one key or value, so that the rest of the file can still be read.
    pub fn is_of_one_entry(self) -> bool {
        matches!(self, Self::UnknownKey | Self::MissingKey | Self::UnknownWord | Self::WrongType)
    }

    /// Whether it is about a name that nothing has.
    pub fn is_of_a_name(self) -> bool {
        matches!(
            self,
            Self::UnknownWorker
                | Self::UnknownPhase
                | Self::UnknownCheck
                | Self::UnknownEvent
                | Self::UnknownDestination
                | Self::UnknownPattern
                | Self::UnknownFault
        )
    }

    /// Whether it is about a request, and not about what stands in a file.
    pub fn is_of_request(self) -> bool {
        matches!(
            self,
            Self::BadFilter
                | Self::BadOption
                | Self::OccupiedFolder
                | Self::NoPins
                | Self::BadPin
                | Self::UnknownSet
                | Self::UnknownProfile
                | Self::UnclearRange
                | Self::NoCell
                | Self::NoWorker
                | Self::SameLibrary
                | Self::UndecidedCapability
        )
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_stand_once() {
        for (index, rule) in Rule::ALL.iter().enumerate() {
            let is_kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(rule.name().chars().all(is_kebab), "{rule}");
            let earlier = &Rule::ALL[..index];
            assert!(earlier.iter().all(|other| other.name() != rule.name()), "{rule}");
            assert!(!rule.about().is_empty() && !rule.help().is_empty(), "{rule}");
        }
    }
}
