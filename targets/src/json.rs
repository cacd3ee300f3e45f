//! A reader of JSON (RFC 8259) that takes nothing else: no comments, no trailing commas, no key twice, no fractions, which
//! the plan protocol does not have. What it reads is bounded in size and depth, so it recurses.
//!
//! What it returns is never freed. An instance answers one request, and code that frees is a tenth of the module.

use alloc::string::String;
use alloc::vec::Vec;

/// A JSON value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Text(&'static str),
    Array(&'static [Value]),
    /// In the order of the text; no key is there twice.
    Object(&'static [(&'static str, Value)]),
}

/// How long a text may be. A list of servers has a few lines for each.
pub const MAX_BYTES: usize = 64 << 10;

/// How deep arrays and objects may nest, the outermost counted. The host takes five levels for the value of an edit, and a
/// server's lies two levels down.
const MAX_DEPTH: usize = 7;

/// How many entries an object may have. Each is compared with those before it.
const MAX_KEYS: usize = 1000;

/// Reads one value and nothing after it. An error says on which line what is wrong.
pub fn parse(text: &str) -> Result<Value, String> {
    if text.len() > MAX_BYTES {
        return Err(String::from("it has more than 64 KiB"));
    }
    let mut r = Reader { text: text.strip_prefix('\u{feff}').unwrap_or(text), at: 0 };
    let value = r.value(1).and_then(|value| {
        r.space();
        if r.at == r.text.len() {
            Ok(value)
        } else {
            Err("something follows the value")
        }
    });
    value.map_err(|cause| {
        let mut out = String::from("line ");
        crate::push_decimal(&mut out, 1 + r.text.as_bytes()[..r.at].iter().filter(|&&b| b == b'\n').count());
        out.push_str(": ");
        out.push_str(cause);
        out
    })
}

struct Reader<'a> {
    text: &'a str,
    /// Always between characters where text is sliced.
    at: usize,
}

type Result_<T> = Result<T, &'static str>;

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    /// Takes a byte, if it is the next one after white space.
    fn take(&mut self, b: u8) -> bool {
        self.space();
        let is = self.peek() == b;
        self.at += is as usize;
        is
    }

    fn value(&mut self, depth: usize) -> Result_<Value> {
        self.space();
        match self.peek() {
            b'{' | b'[' if depth > MAX_DEPTH => Err("it nests too deep"),
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(Value::Text),
            b'-' | b'0'..=b'9' => self.number(),
            b'/' => Err("comments are not taken"),
            0 if self.at == self.text.len() => Err("it ends too early"),
            _ => {
                for (word, value) in [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)] {
                    if self.text[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err("a value was expected")
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result_<Value> {
        self.at += 1;
        let mut pairs: Vec<(&'static str, Value)> = Vec::new();
        if self.take(b'}') {
            return Ok(Value::Object(pairs.leak()));
        }
        loop {
            self.space();
            if self.peek() != b'"' {
                return Err("a key was expected");
            }
            let key = self.string()?;
            if pairs.len() == MAX_KEYS {
                return Err("an object has more than 1000 keys");
            }
            if pairs.iter().any(|(k, _)| *k == key) {
                return Err("a key is there twice");
            }
            if !self.take(b':') {
                return Err("a colon was expected");
            }
            pairs.push((key, self.value(depth + 1)?));
            if self.take(b'}') {
                return Ok(Value::Object(pairs.leak()));
            }
            if !self.take(b',') {
                return Err("a comma or a closing brace was expected");
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result_<Value> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Value::Array(items.leak()));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(b']') {
                return Ok(Value::Array(items.leak()));
            }
            if !self.take(b',') {
                return Err("a comma or a closing bracket was expected");
            }
        }
    }

    fn number(&mut self) -> Result_<Value> {
        let negative = self.peek() == b'-';
        self.at += negative as usize;
        let start = self.at;
        let mut n: i64 = 0;
        while let digit @ b'0'..=b'9' = self.peek() {
            let digit = (digit - b'0') as i64;
            // Below zero there is one number more.
            n = n.checked_mul(10).and_then(|n| n.checked_sub(digit)).ok_or("a number is too large")?;
            self.at += 1;
        }
        if self.at == start || self.at > start + 1 && self.text.as_bytes()[start] == b'0' {
            return Err("a number is malformed");
        }
        if matches!(self.peek(), b'.' | b'e' | b'E') {
            return Err("a number has a fraction or an exponent");
        }
        if negative {
            return Ok(Value::Int(n));
        }
        n.checked_neg().map(Value::Int).ok_or("a number is too large")
    }

    fn string(&mut self) -> Result_<&'static str> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = rest.find(|c| matches!(c, '"' | '\\' | '\0'..='\x1f')) else {
                self.at = self.text.len();
                return Err("a text has no end");
            };
            out.push_str(&rest[..plain]);
            self.at += plain + 1;
            match rest.as_bytes()[plain] {
                b'"' => return Ok(out.leak()),
                b'\\' => out.push(self.escape()?),
                _ => {
                    self.at -= 1;
                    return Err("a text has a control character");
                }
            }
        }
    }

    fn escape(&mut self) -> Result_<char> {
        let c = self.peek();
        self.at += 1;
        Ok(match c {
            b'"' | b'\\' | b'/' => c as char,
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.hex()?;
                if code & 0xfc00 == 0xd800 && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    let low = self.hex()?;
                    if low & 0xfc00 == 0xdc00 {
                        code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
                    }
                }
                // Half a pair is no character.
                char::from_u32(code).ok_or("a text has half a character")?
            }
            _ => {
                self.at -= 1;
                return Err("a text has an escape that is not known");
            }
        })
    }

    fn hex(&mut self) -> Result_<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = (self.peek() as char).to_digit(16).ok_or("a text has an escape that is not known")?;
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }
}
