//! The reader of JSON: what it takes, and each thing that it does not.

use crate::json::{parse, Value, MAX_BYTES};
use alloc::format;
use alloc::string::String;
use alloc::vec;

fn text(s: &'static str) -> Value {
    Value::Text(s)
}

#[test]
fn values() {
    for (source, want) in [
        ("null", Value::Null),
        (" true\r\n\t", Value::Bool(true)),
        ("false", Value::Bool(false)),
        ("0", Value::Int(0)),
        ("-0", Value::Int(0)),
        ("-12", Value::Int(-12)),
        ("9223372036854775807", Value::Int(i64::MAX)),
        ("-9223372036854775808", Value::Int(i64::MIN)),
        ("\"\"", text("")),
        (r#""a\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00ü""#, text("a\"\\/\u{8}\u{c}\n\r\té\u{1f600}ü")),
        ("[]", Value::Array(&[])),
        ("[1, [ ] ,\"x\"]", Value::Array(&[Value::Int(1), Value::Array(&[]), Value::Text("x")])),
        ("{}", Value::Object(&[])),
        ("\u{feff}{ \"b\" : 1 , \"a\" : {} }", Value::Object(&[("b", Value::Int(1)), ("a", Value::Object(&[]))])),
    ] {
        assert_eq!(parse(source), Ok(want), "{source}");
    }
}

#[test]
fn what_is_not_taken() {
    for (source, want) in [
        ("", "line 1: it ends too early"),
        ("\n\n  ", "line 3: it ends too early"),
        ("[1,", "line 1: it ends too early"),
        ("{\"a\":", "line 1: it ends too early"),
        ("{} {}", "line 1: something follows the value"),
        ("{}\n\0", "line 2: something follows the value"),
        ("\0", "line 1: a value was expected"),
        ("{\n// no\n}", "line 2: a key was expected"),
        ("/* no */ {}", "line 1: comments are not taken"),
        ("[1, ]", "line 1: a value was expected"),
        ("{\"a\": 1,\n}", "line 2: a key was expected"),
        ("{\"a\": 1 \"b\": 2}", "line 1: a comma or a closing brace was expected"),
        ("[1 2]", "line 1: a comma or a closing bracket was expected"),
        ("{\"a\" 1}", "line 1: a colon was expected"),
        ("{a: 1}", "line 1: a key was expected"),
        ("{\"a\": 1,\n\"\\u0061\": 2}", "line 2: a key is there twice"),
        ("'x'", "line 1: a value was expected"),
        ("NaN", "line 1: a value was expected"),
        ("tru", "line 1: a value was expected"),
        ("truex", "line 1: something follows the value"),
        ("\"open", "line 1: a text has no end"),
        ("\"open\\", "line 1: a text has an escape that is not known"),
        ("\"a\nb\"", "line 1: a text has a control character"),
        ("\"\\x\"", "line 1: a text has an escape that is not known"),
        ("\"\\u12\"", "line 1: a text has an escape that is not known"),
        ("\"\\u+123\"", "line 1: a text has an escape that is not known"),
        ("\"\\ud800\"", "line 1: a text has half a character"),
        ("\"\\ud800\\u0041\"", "line 1: a text has half a character"),
        ("\"\\ude00\\ud800\"", "line 1: a text has half a character"),
        ("-", "line 1: a number is malformed"),
        ("01", "line 1: a number is malformed"),
        ("-01", "line 1: a number is malformed"),
        ("+1", "line 1: a value was expected"),
        ("1.5", "line 1: a number has a fraction or an exponent"),
        ("1e3", "line 1: a number has a fraction or an exponent"),
        ("9223372036854775808", "line 1: a number is too large"),
        ("-9223372036854775809", "line 1: a number is too large"),
        ("99999999999999999999999", "line 1: a number is too large"),
    ] {
        assert_eq!(parse(source), Err(String::from(want)), "{source:?}");
    }
}

#[test]
fn limits() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(parse(&nested(7)).is_ok());
    assert_eq!(parse(&nested(8)), Err(String::from("line 1: it nests too deep")));
    assert_eq!(parse(&"[".repeat(MAX_BYTES)), Err(String::from("line 1: it nests too deep")));

    let keys = |n: usize| format!("{{{}}}", (0..n).map(|i| format!("\"{i}\":0")).collect::<vec::Vec<_>>().join(","));
    assert!(parse(&keys(1000)).is_ok());
    assert_eq!(parse(&keys(1001)), Err(String::from("line 1: an object has more than 1000 keys")));

    let long = |n: usize| format!("\"{}\"", "x".repeat(n - 2));
    assert!(parse(&long(MAX_BYTES)).is_ok());
    assert_eq!(parse(&long(MAX_BYTES + 1)), Err(String::from("it has more than 64 KiB")));
}

/// Cut anywhere, a text is refused and nothing panics.
#[test]
fn cut_off() {
    let whole = super::SERVERS;
    assert!(parse(whole).is_ok());
    for end in 0..whole.trim_end().len() {
        assert!(parse(&whole[..end]).is_err(), "{end}");
    }
}
