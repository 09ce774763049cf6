//! The damage itself: real files with bytes, lines and subtrees where they do not belong.
//! A corpus and chance come in; one input comes out, the same one for the same chance.
//! It must never make a file that a person could not make: at most a little over the size limit.

use std::path::Path;

const FOLDERS: [&str; 4] =
    ["suites", "fixtures/suites/valid", "fixtures/suites/invalid", "fixtures/workers"];

/// What real files are made of.
pub struct Corpus {
    files: Vec<Vec<u8>>,
    /// Keys and values of them, to be put elsewhere.
    words: Vec<Vec<u8>>,
}

impl Corpus {
    pub fn read() -> std::io::Result<Self> {
        let mut files = Vec::new();
        for folder in FOLDERS {
            gather(Path::new(folder), &mut files)?;
        }
        if files.is_empty() {
            return Err(std::io::Error::other("no suite files"));
        }
        let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let mut words: Vec<Vec<u8>> = files
            .iter()
            .flat_map(|file| file.split(|byte| !is_inside(byte)))
            .filter(|word| !word.is_empty())
            .map(<[u8]>::to_vec)
            .collect();
        words.sort();
        words.dedup();
        Ok(Self { files, words })
    }
}

fn gather(folder: &Path, files: &mut Vec<Vec<u8>>) -> std::io::Result<()> {
    let entries: std::io::Result<Vec<_>> = std::fs::read_dir(folder)?.collect();
    let mut paths: Vec<_> = entries?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            let is_made = path.file_name().is_some_and(|name| name == "target");
            if !is_made {
                gather(&path, files)?;
            }
        } else if path.is_file() && path.extension().is_some_and(|e| e == "yaml") {
            files.push(std::fs::read(&path)?);
        }
    }
    Ok(())
}

/// Numbers that look like chance, and are the same for the same seed and input.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64, number: u64) -> Self {
        Self(seed.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ number.wrapping_mul(0xA076_1D64_78BD_642F))
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to below the bound; 0 for a bound of 0.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % (bound.max(1) as u64)) as usize
    }

    fn one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Pieces of YAML, of Unicode and of neither.
const PIECES: &[&[u8]] = &[
    b"",
    b"\0",
    b"\t",
    b"\r\n",
    b"\r",
    b"---\n",
    b"...\n",
    b"\xEF\xBB\xBF",
    b"\xFF\xFE",
    b"\xC0\x80",
    b"\xED\xA0\x80",
    b"\xE2\x80\xAE",
    b"\xC2\x85",
    b"\xE2\x80\xA8",
    b"\xF4\x90\x80\x80",
    b"\x1B[2J",
    b"&a ",
    b"*a",
    b"*a ",
    b"<<: *a\n",
    b"!!binary ",
    b"!!python/object:os.system ",
    b"!<x> ",
    b"? ",
    b"- ",
    b": ",
    b"|\n",
    b">-\n",
    b"|9\n",
    b"%YAML 1.2\n",
    b"%TAG ! x\n",
    b"\"",
    b"'",
    b"\"\\x00\"",
    b"\"\\uD800\"",
    b"[",
    b"]",
    b"{",
    b"}",
    b", ",
    b"#",
    b"@",
    b"`",
    b"~",
    b"null",
    b"true",
    b"no",
    b"0x7fffffffffffffff",
    b"18446744073709551616",
    b"-1",
    b"4294967295",
    b"1e309",
    b".inf",
    b".nan",
    b"0o17",
    b"1_000",
    b"2001-01-01",
    b"{}",
    b"[]",
    b"''",
];

/// A real file with one to six kinds of damage.
pub fn input(corpus: &Corpus, chance: &mut Chance) -> Vec<u8> {
    let mut bytes = chance.one_of(&corpus.files).clone();
    for _ in 0..=chance.below(6) {
        match chance.below(100) {
            0..20 => flip(&mut bytes, chance),
            20..35 => piece(&mut bytes, chance),
            35..55 => word(&mut bytes, corpus, chance),
            55..70 => lines(&mut bytes, chance),
            70..80 => subtree(&mut bytes, chance),
            80..86 => cut(&mut bytes, chance),
            86..90 => splice(&mut bytes, corpus, chance),
            90..95 => nest(&mut bytes, chance),
            95..98 => alias(&mut bytes, chance),
            98 => many(&mut bytes, chance),
            _ => huge(&mut bytes, chance),
        }
    }
    bytes
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}

fn flip(bytes: &mut [u8], chance: &mut Chance) {
    for _ in 0..=chance.below(4) {
        let at = chance.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << chance.below(8);
        }
    }
}

fn piece(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let at = chance.below(bytes.len() + 1);
    let piece = *chance.one_of(PIECES);
    insert(bytes, at, piece);
}

/// A word of the file becomes another word, or a piece.
fn word(bytes: &mut Vec<u8>, corpus: &Corpus, chance: &mut Chance) {
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let from = chance.below(bytes.len());
    let Some(start) = (from..bytes.len()).find(|at| is_inside(&bytes[*at])) else { return };
    let end = (start..bytes.len()).find(|at| !is_inside(&bytes[*at])).unwrap_or(bytes.len());
    let other = match chance.below(4) {
        0 => chance.one_of(PIECES).to_vec(),
        _ => chance.one_of(&corpus.words).clone(),
    };
    bytes.splice(start..end, other);
}

/// Lines are swapped, doubled, left out, or indented by one.
fn lines(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let (a, b) = (chance.below(lines.len()), chance.below(lines.len()));
    match chance.below(4) {
        0 => lines.swap(a, b),
        1 => lines.insert(b, lines[a].clone()),
        2 => drop(lines.remove(a)),
        _ => lines[a].insert(0, b' '),
    }
    *bytes = lines.concat();
}

/// A line and what is indented below it, once to many times more somewhere else.
fn subtree(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let depth = |line: &[u8]| line.iter().take_while(|byte| **byte == b' ').count();
    let start = chance.below(lines.len());
    let Some(first) = lines.get(start) else { return };
    let top = depth(first);
    let inside = lines[start + 1..].iter().take_while(|line| depth(line) > top).count();
    let tree = lines[start..=start + inside].to_vec();
    let at = match chance.below(2) {
        0 => start,
        _ => chance.below(lines.len()),
    };
    let times = *chance.one_of(&[1, 1, 1, 1, 2, 2, 40]);
    for _ in 0..times {
        lines.splice(at..at, tree.iter().cloned());
    }
    *bytes = lines.concat();
}

fn cut(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let start = chance.below(bytes.len());
    let end = (start + chance.below(200)).min(bytes.len());
    bytes.drain(start.min(end)..end);
}

fn splice(bytes: &mut Vec<u8>, corpus: &Corpus, chance: &mut Chance) {
    let other = chance.one_of(&corpus.files);
    let (here, there) = (chance.below(bytes.len() + 1), chance.below(other.len() + 1));
    bytes.truncate(here);
    bytes.extend_from_slice(&other[there..]);
}

/// Deep flow or block nesting, closed or not.
fn nest(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let deep = *chance.one_of(&[3, 30, 33, 33, 34, 300, 300, 3_000, 3_000, 100_000]);
    let at = chance.below(bytes.len() + 1);
    let text: Vec<u8> = match chance.below(5) {
        0 => b"[".repeat(deep),
        1 => b"{a: ".repeat(deep.min(3_000)),
        2 => [b"[".repeat(deep), b"]".repeat(deep)].concat(),
        3 => b"- ".repeat(deep),
        _ => {
            let level = |n: usize| [&b" ".repeat(n)[..], b"a:\n"].concat();
            (0..deep.min(700)).flat_map(level).collect()
        }
    };
    insert(bytes, at, &text);
}

/// Anchors of anchors of anchors, or an anchor and its alias somewhere.
fn alias(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let text = match chance.below(3) {
        0 => {
            let (wide, deep) = (1 + chance.below(12), 1 + chance.below(12));
            let mut text = String::from("l0: &l0 [x]\n");
            for level in 1..=deep {
                let below = vec![format!("*l{}", level - 1); wide].join(", ");
                text.push_str(&format!("l{level}: &l{level} [{below}]\n"));
            }
            text
        }
        1 => "a: &a {<<: *a}\n".to_owned(),
        _ => format!("a: &a [{}]\n", vec!["*a"; chance.below(2_000)].join(", ")),
    };
    let at = match chance.below(2) {
        0 => bytes.len(),
        _ => chance.below(bytes.len() + 1),
    };
    insert(bytes, at, text.as_bytes());
}

/// A list with thousands of items, most of which are a problem.
fn many(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let opening: Vec<usize> =
        (0..bytes.len()).filter(|at| matches!(bytes[*at], b'[' | b'{')).map(|at| at + 1).collect();
    if opening.is_empty() {
        return;
    }
    let at = *chance.one_of(&opening);
    let unit: &[u8] = chance.one_of::<&[u8]>(&[
        b"0, ",
        b"9,\n        ",
        b"\"\\x01\", ",
        b"x, ",
        b"consumer,\n        ",
        b"ACK-33, ",
        b"[], ",
    ]);
    let text = match bytes[at - 1] {
        b'[' => unit.repeat(*chance.one_of(&[60, 70, 70, 3_000, 40_000])),
        _ => (0..*chance.one_of(&[70, 70, 3_000, 20_000]))
            .flat_map(|n: u32| format!("k{n}: \"\\x01\", ").into_bytes())
            .collect(),
    };
    insert(bytes, at, &text);
}

/// One scalar, or very many, up to a little more than a file may have.
fn huge(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let size = *chance.one_of(&[10_000, 10_000, 10_000, 100_000, 100_000, 900_000, 1_048_576]);
    let unit: &[u8] = chance.one_of::<&[u8]>(&[
        b"a",
        b"9",
        b" ",
        b"\n",
        b"#",
        b"\xC3\xA4",
        b"a ",
        b"\"\\n",
        b"- a\n",
        b"a, ",
        b"&a ",
        b"? ",
        b"a: ",
        b"\t",
        b"'",
        b"%",
        b"!",
        b"\0",
        b"\r",
    ]);
    let at = chance.below(bytes.len() + 1);
    insert(bytes, at, &unit.repeat(size / unit.len()));
}
