//! Hashes that hold the evidence of a run together: of one file, and the root hash over all.
//! Files, or their paths and hashes, come in; lowercase hexadecimal SHA-256 comes out.
//! It must never depend on the order in which files are given, nor on where they are kept.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

/// SHA-256 of some bytes.
pub fn sha256_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// SHA-256 of a file, read in pieces.
///
/// # Errors
/// When it cannot be read to its end.
pub fn sha256_of_file(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            length => hash.update(&piece[..length]),
        }
    }
}

/// Root hash over (path below the output directory, SHA-256) of all files of the evidence: the
/// SHA-256 of `sha256sum`'s own lines in the order of the paths, so that it can be checked without
/// this program.
pub fn root_hash(files: &[(String, String)]) -> String {
    let mut files: Vec<_> = files.iter().collect();
    files.sort();
    let mut lines = String::new();
    for (path, sha256) in files {
        lines.push_str(sha256);
        lines.push_str("  ");
        lines.push_str(path);
        lines.push('\n');
    }
    sha256_of(lines.as_bytes())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn files() -> Vec<(String, String)> {
        let file = |path: &str, bytes: &str| (path.to_owned(), sha256_of(bytes.as_bytes()));
        vec![file("run.json", "r"), file("plan.json", "p"), file("histories/a.ndjson", "a")]
    }

    #[test]
    fn a_file_has_the_published_hash_of_its_bytes() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("abc");
        std::fs::write(&path, "abc").expect("written");
        assert_eq!(sha256_of_file(&path).expect("a hash"), ABC);
        assert_eq!(sha256_of(b"abc"), ABC);
        // Longer than one piece: all of it counts.
        let long = vec![7_u8; (1 << 16) + 3];
        std::fs::write(&path, &long).expect("written");
        assert_eq!(sha256_of_file(&path).expect("a hash"), sha256_of(&long));
        assert!(sha256_of_file(&directory.path().join("missing")).is_err());
    }

    #[test]
    fn the_root_hash_is_that_of_the_lines_of_sha256sum() {
        let one = [("abc".to_owned(), ABC.to_owned())];
        assert_eq!(root_hash(&one), sha256_of(format!("{ABC}  abc\n").as_bytes()));
    }

    #[test]
    fn the_root_hash_forgets_the_order_and_nothing_else() {
        let root = root_hash(&files());
        let mut turned = files();
        turned.reverse();
        assert_eq!(root_hash(&turned), root);
        let mut renamed = files();
        renamed[0].0.push('x');
        assert_ne!(root_hash(&renamed), root);
        let mut changed = files();
        changed[2].1 = sha256_of(b"b");
        assert_ne!(root_hash(&changed), root);
        assert_ne!(root_hash(&files()[..2]), root);
    }
}
