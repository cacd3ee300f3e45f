//! Reads a valid plan back. A guest never does, so it is here and lenient: what it reads is known to be well-formed.

use lola_ext::*;

struct Reader<'a>(&'a [u8]);

enum Value {
    Int(i64),
    Bytes(Vec<u8>),
    Text(String),
    Array(Vec<Value>),
    Map(Vec<(String, Value)>),
    Bool(bool),
    Null,
}

impl Reader<'_> {
    fn take(&mut self, n: usize) -> Vec<u8> {
        let (head, rest) = self.0.split_at(n);
        self.0 = rest;
        head.to_vec()
    }

    fn value(&mut self) -> Value {
        let first = self.take(1)[0];
        let n = match first & 31 {
            info @ 0..=23 => info as u64,
            info => self.take(1 << (info - 24)).iter().fold(0, |n, b| n << 8 | *b as u64),
        };
        match first >> 5 {
            0 => Value::Int(n as i64),
            1 => Value::Int(-1 - n as i64),
            2 => Value::Bytes(self.take(n as usize)),
            3 => Value::Text(String::from_utf8(self.take(n as usize)).unwrap()),
            4 => Value::Array((0..n).map(|_| self.value()).collect()),
            5 => Value::Map(
                (0..n)
                    .map(|_| {
                        let Value::Text(key) = self.value() else { panic!("a key that is no text") };
                        (key, self.value())
                    })
                    .collect(),
            ),
            _ => match n {
                20 => Value::Bool(false),
                21 => Value::Bool(true),
                _ => Value::Null,
            },
        }
    }
}

impl Value {
    fn get(&self, key: &str) -> Option<&Value> {
        let Value::Map(pairs) = self else { panic!("no map") };
        pairs.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    fn text_if(&self, key: &str) -> Option<String> {
        self.get(key).map(Value::as_text)
    }

    fn text(&self, key: &str) -> String {
        self.text_if(key).unwrap_or_else(|| panic!("no key {key}"))
    }

    fn as_text(&self) -> String {
        let Value::Text(s) = self else { panic!("no text") };
        s.clone()
    }

    fn int_if(&self, key: &str) -> Option<i64> {
        self.get(key).map(|v| match v {
            Value::Int(n) => *n,
            _ => panic!("no integer"),
        })
    }

    fn digest_if(&self, key: &str) -> Option<Digest> {
        self.get(key).map(|v| match v {
            Value::Bytes(b) => b[..].try_into().unwrap(),
            _ => panic!("no digest"),
        })
    }

    fn list(&self, key: &str) -> &[Value] {
        match self.get(key) {
            Some(Value::Array(items)) => items,
            _ => &[],
        }
    }

    fn json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Int(n) => Json::Int(*n),
            Value::Text(s) => Json::Text(s.clone()),
            Value::Array(items) => Json::Array(items.iter().map(Value::json).collect()),
            // Turned round, so that the encoder has something to sort.
            Value::Map(pairs) => Json::Object(pairs.iter().rev().map(|(k, v)| (k.clone(), v.json())).collect()),
            Value::Bytes(_) => panic!("bytes in JSON"),
        }
    }
}

pub fn plan(bytes: &[u8]) -> Plan {
    let mut reader = Reader(bytes);
    let header = reader.value();
    let count = header.int_if("count").unwrap();
    Plan {
        outcome: header.get("result").map(outcome),
        messages: header.list("messages").iter().map(message).collect(),
        intents: (0..count).map(|_| intent(&reader.value())).collect(),
    }
}

fn message(v: &Value) -> Message {
    let level = match v.text("level").as_str() {
        "debug" => Level::Debug,
        "info" => Level::Info,
        "warn" => Level::Warn,
        _ => Level::Error,
    };
    Message { level, text: v.text("text") }
}

fn outcome(v: &Value) -> Outcome {
    if v.get("entries").is_some() {
        let entry = |e: &Value| Entry {
            name: e.text("name"),
            source: e.text("source"),
            version: e.text_if("version"),
            description: e.text_if("description"),
        };
        return Outcome::Entries(v.list("entries").iter().map(entry).collect());
    }
    if let Some(verdict) = v.text_if("verdict") {
        let finding = |f: &Value| Finding {
            rule: f.text("rule"),
            severity: f.text("severity"),
            text: f.text("text"),
            path: f.text_if("path"),
        };
        return Outcome::Scan {
            verdict: match verdict.as_str() {
                "pass" => Verdict::Pass,
                "warn" => Verdict::Warn,
                _ => Verdict::Fail,
            },
            findings: v.list("findings").iter().map(finding).collect(),
        };
    }
    Outcome::Resolved { source: v.text("source"), version: v.text_if("version"), digest: v.digest_if("digest") }
}

fn intent(v: &Value) -> Intent {
    match v.text("op").as_str() {
        "write" => Intent::Write(Write {
            path: v.text("path"),
            mode: v.int_if("mode").unwrap() as u16,
            content: match v.get("content") {
                Some(Value::Bytes(b)) => Content::Bytes(b.clone()),
                _ => Content::Module(v.text("module")),
            },
            expect: match v.get("expect") {
                None => Expect::Anything,
                Some(Value::Text(_)) => Expect::Absent,
                Some(_) => Expect::Digest(v.digest_if("expect").unwrap()),
            },
            replace_symlink: matches!(v.get("replace_symlink"), Some(Value::Bool(true))),
        }),
        "edit" if v.text("format") == "json" => Intent::EditJson {
            path: v.text("path"),
            edits: v
                .list("edits")
                .iter()
                .map(|e| JsonEdit { at: e.text("at"), value: e.get("value").map(Value::json) })
                .collect(),
        },
        "edit" => Intent::EditBlock { path: v.text("path"), id: v.text("id"), text: v.text_if("text") },
        "delete" => Intent::Delete { path: v.text("path") },
        "rename" => Intent::Rename { from: v.text("from"), to: v.text("to") },
        "fetch" => Intent::Fetch {
            url: v.text("url"),
            method: v.text("method"),
            headers: v
                .list("headers")
                .iter()
                .map(|h| {
                    let Value::Array(pair) = h else { panic!("a header that is no pair") };
                    (pair[0].as_text(), pair[1].as_text())
                })
                .collect(),
            dest: v.text("dest"),
            digest: v.digest_if("digest"),
        },
        "clone" => Intent::Clone {
            repo: v.text("repo"),
            refname: v.text("ref"),
            depth: v.int_if("depth").map(|n| n as u32),
            dest: v.text("dest"),
            commit: v.text_if("commit"),
        },
        other => panic!("op {other}"),
    }
}
