//! The command line of a run, taken apart so that a part of it can be run again.
//! Words as typed come in; words without certain options, or quoted for a shell, come out.
//! It must never change a word that stays.

/// Options that choose cells or places; a cell's own filter stands in for them.
const CHOOSING: [&str; 5] = ["--filter", "--profile", "--shard", "--out", "--jobs"];
/// The same without a value.
const FLAGS: [&str; 1] = ["--fail-fast"];

/// The words after the program's name, without those that choose cells, places, or an early end.
pub fn unchosen(command: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    let mut given = command.iter().skip(1);
    while let Some(word) = given.next() {
        if CHOOSING.contains(&word.as_str()) {
            given.next();
        } else if !FLAGS.contains(&word.as_str())
            && !CHOOSING.iter().any(|name| word.starts_with(&format!("{name}=")))
        {
            words.push(word.clone());
        }
    }
    words
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
