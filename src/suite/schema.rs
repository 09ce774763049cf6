//! JSON Schemas of the YAML files, for editors and other programs, derived from the Spec types.
//! A kind of file comes in; its schema (draft 2020-12), with all doc comments, comes out.
//! It must never hold a text or a rule of its own: what is not in the types is not in the schema.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::compose::FragmentsFile;
use super::deviations::DeviationsFile;
use super::manifest::Manifest;
use super::meanings::{CAPABILITIES, CLAUSES, PATTERNS};
use super::model::SuiteFile;
use super::pins::{PinsFile, ProfileFile};
use crate::checks::{AlwaysOn, CheckSpec};
use crate::names::ID_PATTERN;

/// Regular expression of an address, for schemas; `vocabulary::is_url` is the rule.
pub(crate) const URL_PATTERN: &str = r"^https?://\S+$";

/// What a YAML file can be, as its key `kind` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Suite,
    Pins,
    Profile,
    Deviations,
    Fragments,
    Worker,
}

impl FileKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Suite, Self::Fragments, Self::Pins, Self::Profile, Self::Deviations, Self::Worker];

    /// What stands behind `kind:`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Suite => "suite",
            Self::Pins => "pins",
            Self::Profile => "profile",
            Self::Deviations => "deviations",
            Self::Fragments => "fragments",
            Self::Worker => "worker",
        }
    }
}

/// The schema of a kind of file, as it is written: variables may stand for values.
pub fn schema(kind: FileKind) -> Value {
    let mut schema = filled(kind);
    schema["title"] = json!(format!("ackproof {}", kind.name()));
    if kind == FileKind::Suite {
        schema["$defs"].as_object_mut().into_iter().flat_map(Map::values_mut).for_each(variables);
    }
    schema
}

/// The schema of a kind of file once variables are filled in.
pub fn filled(kind: FileKind) -> Value {
    match kind {
        FileKind::Suite => schema_of::<SuiteFile>(),
        FileKind::Pins => schema_of::<PinsFile>(),
        FileKind::Profile => schema_of::<ProfileFile>(),
        FileKind::Deviations => schema_of::<DeviationsFile>(),
        FileKind::Fragments => schema_of::<FragmentsFile>(),
        FileKind::Worker => schema_of::<Manifest>(),
    }
}

/// What stands in a value that has a variable in it.
const VARIABLE: &str = "\\$\\{[^}]*\\}";

/// Lets a variable stand for every value below a definition.
fn variables(node: &mut Value) {
    if let Some(variants) = node.get_mut("oneOf").and_then(Value::as_array_mut)
        && variants.iter().any(|variant| variant.get("const").is_some())
    {
        variants.push(json!({"type": "string", "pattern": VARIABLE}));
    }
    if let Some(kind) = node.get("type").cloned() {
        if kind == "integer" || kind == "boolean" {
            // Bounds are for numbers, a pattern is for texts: they do not meet.
            node["type"] = json!([kind, "string"]);
            node["pattern"] = json!(VARIABLE);
        } else if let Some(pattern) = node.get("pattern").and_then(Value::as_str) {
            node["pattern"] = json!(format!("{pattern}|{VARIABLE}"));
        }
    }
    match node {
        Value::Object(map) => map.values_mut().for_each(variables),
        Value::Array(items) => items.iter_mut().for_each(variables),
        _ => {}
    }
}

/// The schema of a type, in the form of all schemas here: sentences in one line, and a key that may
/// be left out is left out, not `null`.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut value = SchemaGenerator::default().into_root_schema_for::<T>().to_value();
    tidy(&mut value);
    value
}

fn tidy(value: &mut Value) {
    match value {
        Value::Object(map) => {
            tidy_one(map);
            map.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

fn tidy_one(map: &mut Map<String, Value>) {
    // A word that has something behind it, `kill: {…}`: its text stands at the key, where people
    // and editors look for it.
    if let (Some(text), Some(Value::Object(properties))) =
        (map.get("description").cloned(), map.get("properties").cloned())
        && let [key] = properties.keys().collect::<Vec<_>>().as_slice()
        && map.get("required") == Some(&json!([key]))
        && properties[*key].get("description").is_none()
    {
        map["properties"][*key]["description"] = text;
    }
    if let Some(Value::String(text)) = map.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    // The widths of Rust's numbers say nothing to anybody else.
    if map.get("format").is_some_and(|format| format.is_string()) {
        map.remove("format");
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            map["type"] = only.clone();
        }
    }
    if let Some(Value::Array(any)) = map.get_mut("anyOf") {
        any.retain(|one| one != &json!({"type": "null"}));
        if let [Value::Object(only)] = any.as_slice() {
            let only = only.clone();
            map.remove("anyOf");
            for (key, value) in only {
                map.entry(key).or_insert(value);
            }
        }
    }
}

macro_rules! text_schemas {
    ($($(#[$doc:meta])* $name:ident: $schema:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) enum $name {}

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )+};
}
text_schemas! {
    /// A name that the author of a suite gives.
    Id: json_schema!({
        "title": "name: lower-case letters, digits, dashes",
        "type": "string",
        "pattern": ID_PATTERN,
    });
    /// A name that stands in ids and that somebody else has given.
    Word: json_schema!({
        "title": "word: letters, digits, dots, dashes, underscores",
        "type": "string",
        "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$",
    });
    /// A version; YAML reads `17` and `4.2` as numbers.
    Version: json_schema!({
        "title": "version, such as `4.3.1`, or a major, such as `17`",
        "type": ["string", "number"],
        "pattern": "^[0-9]+(\\.[0-9]+){0,3}(-[A-Za-z0-9.]+)?$",
    });
    /// A piece of a suite, whatever it is.
    Piece: json_schema!({"title": "piece of a suite"});
    /// Whatever stands for a text where every value is one.
    Scalar: json_schema!({
        "title": "text, number or truth value",
        "type": ["string", "number", "boolean"],
    });
}

macro_rules! word_schemas {
    ($($(#[$doc:meta])* $name:ident: $title:literal, $words:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) enum $name {}

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let words: Vec<Value> = $words(generator);
                json_schema!({"description": $title, "oneOf": words})
            }
        }
    )+};
}
word_schemas! {
    /// A clause of the delivery contract.
    ClauseId: "A clause of the delivery contract.", |_| listed(CLAUSES);
    /// Something that a client can do.
    CapabilityName: "Something that a client can do or lacks.", |_| listed(CAPABILITIES);
    /// A pattern of a reference worker.
    PatternName: "How a worker handles an event.", |_| listed(PATTERNS);
    /// The wire name of a check.
    CheckName: "A check of the scenario.", check_names;
    /// The wire name of a check, or of a rule that always applies.
    RuleName: "A check of the scenario, or a rule that always applies.", rule_names;
}

fn listed(words: &[(&str, &str)]) -> Vec<Value> {
    let word = |(name, text): &(&str, &str)| word(name, Some(&json!(text)));
    words.iter().map(word).collect()
}

fn word(name: &str, text: Option<&Value>) -> Value {
    json!({"type": "string", "const": name, "description": text})
}

/// The keys of `CheckSpec`, with what stands at its variants.
fn check_names(generator: &mut SchemaGenerator) -> Vec<Value> {
    let spec = CheckSpec::json_schema(generator).to_value();
    let variants = spec["oneOf"].as_array().into_iter().flatten();
    let names = variants.filter_map(|variant| {
        let name = variant["properties"].as_object()?.keys().next()?.clone();
        Some(word(&name, variant.get("description")))
    });
    names.collect()
}

fn rule_names(generator: &mut SchemaGenerator) -> Vec<Value> {
    let always = AlwaysOn::json_schema(generator).to_value();
    let always = always["oneOf"].as_array().cloned().unwrap_or_default();
    check_names(generator).into_iter().chain(always).collect()
}

/// A map whose keys are the words of a closed enum; each word's own text stands at its key.
#[derive(Debug)]
pub(crate) struct Keyed<K, V>(PhantomData<(K, V)>);

impl<K: JsonSchema, V: JsonSchema> JsonSchema for Keyed<K, V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}_by_{}", V::schema_name(), K::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let keys = K::json_schema(generator).to_value();
        let value = generator.subschema_for::<V>().to_value();
        let mut properties = Map::new();
        for key in keys["oneOf"].as_array().into_iter().flatten() {
            let Some(name) = key["const"].as_str() else { continue };
            let mut value = value.clone();
            value["description"] = key["description"].clone();
            properties.insert(name.to_owned(), value);
        }
        json_schema!({
            "type": "object", "properties": properties, "additionalProperties": false,
        })
    }
}
