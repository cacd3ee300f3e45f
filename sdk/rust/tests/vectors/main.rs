//! Holds the codec to the protocol's vectors: every file in the folder that `LOLA_VECTORS` names, or that lies beside this
//! crate in the repository.

mod read;

use lola_ext::{decode_request, encode_plan};
use std::collections::BTreeMap;
use std::path::PathBuf;

struct Vector {
    name: String,
    head: BTreeMap<String, String>,
    payload: Vec<u8>,
}

impl Vector {
    fn is(&self, key: &str, value: &str) -> bool {
        self.head.get(key).is_some_and(|v| v == value)
    }

    fn expect(&self) -> &str {
        &self.head["expect"]
    }
}

/// All vectors in CBOR about one subject.
fn vectors(subject: &str) -> Vec<Vector> {
    let folder = match std::env::var_os("LOLA_VECTORS") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(option_env!("CARGO_MANIFEST_DIR").unwrap_or(".")).join("../../abi/abitest/testdata"),
    };
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("listing {folder:?}: {e}"));
    let mut vectors: Vec<Vector> = entries
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            // Payloads in the other form may be no UTF-8; they are not read here.
            parse(name, &String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()))
        })
        .filter(|v| v.is("form", "cbor") && v.is("subject", subject))
        .collect();
    vectors.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(vectors.len() > 20, "only {} vectors in {folder:?}", vectors.len());
    vectors
}

fn parse(name: String, text: &str) -> Vector {
    let (head, payload) = text.split_once("\n\n").unwrap_or_else(|| panic!("{name}: no empty line"));
    let head: BTreeMap<String, String> = head
        .lines()
        .map(|l| l.split_once(": ").map(|(k, v)| (k.into(), v.into())).unwrap_or_else(|| panic!("{name}: {l:?}")))
        .collect();
    for key in head.keys() {
        let known = ["expect", "sized", "form", "subject", "same-as", "respell", "limit", "comment"];
        assert!(known.contains(&key.as_str()), "{name}: unknown key {key:?}");
    }
    let payload = if head["form"] == "cbor" { hex(payload) } else { Vec::new() };
    Vector { name, head, payload }
}

/// Hexadecimal words, `word*count` for repetition, `#` for a comment.
fn hex(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for word in text.lines().flat_map(|l| l.split('#').next().unwrap().split_whitespace()) {
        let (digits, count) = word.split_once('*').map_or((word, 1), |(d, n)| (d, n.parse().unwrap()));
        let bytes: Vec<u8> =
            (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect();
        for _ in 0..count {
            out.extend_from_slice(&bytes);
        }
    }
    out
}

#[test]
fn requests() {
    let mut wrong = Vec::new();
    for v in vectors("request") {
        // Limits are the host's: it made the request, and a guest cannot hold what does not fit.
        if v.expect().starts_with("limit-") {
            continue;
        }
        let got = match decode_request(&v.payload) {
            Ok(_) => "valid",
            Err(e) => e.class,
        };
        // This decoder has the whole request before it.
        let want = v.head.get("sized").map_or(v.expect(), |s| s);
        if got != want {
            wrong.push(format!("{}: want {want}, got {got}", v.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Valid plans with an optional list that is there and empty. A `Vec` cannot say that, so the list is left out.
const EMPTY_LISTS: [&str; 2] = ["fetch_headers_none", "messages_none"];

#[test]
fn plans_encode_to_the_same_bytes() {
    let mut count = 0;
    for v in vectors("plan") {
        if v.expect() != "valid" {
            continue;
        }
        let plan = read::plan(&v.payload);
        let got = encode_plan(&plan).unwrap_or_else(|e| panic!("{}: {}", v.name, e.0));
        if EMPTY_LISTS.contains(&v.name.as_str()) {
            assert!(got.len() < v.payload.len() && read::plan(&got) == plan, "{}", v.name);
        } else {
            assert!(got == v.payload, "{}: {plan:?}\n got {got:02x?}\nwant {:02x?}", v.name, v.payload);
        }
        count += 1;
    }
    assert!(count > 10, "only {count} valid plans");
}
