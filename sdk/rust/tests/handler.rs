//! The way from request bytes to plan bytes, as a host goes it, and what the encoder refuses.

use lola_ext::guest::answer;
use lola_ext::{encode_plan, Error, Intent, Json, JsonEdit, Plan, Request};

/// `{abi: 1, action: "install", extension: {name: "x", version: "1"}}`
const REQUEST: &[u8] = b"\xa3\x63abi\x01\x66action\x67install\x69extension\xa2\x64name\x61x\x67version\x611";

fn answer_text(handler: lola_ext::guest::Handler, request: &[u8]) -> String {
    answer(handler, request).unwrap_err().0
}

#[test]
fn an_empty_plan_is_a_header() {
    fn nothing(request: &Request, _: &mut Plan) -> Result<(), Error> {
        assert_eq!((request.action, request.extension.name), ("install", "x"));
        Ok(())
    }
    assert_eq!(answer(nothing, REQUEST).unwrap(), b"\xa2\x63abi\x01\x65count\x00");
}

#[test]
fn errors_are_text() {
    fn no_module(request: &Request, _: &mut Plan) -> Result<(), Error> {
        request.module().map(|_| ())
    }
    assert_eq!(answer_text(no_module, REQUEST), "install: the request has no module");
    assert_eq!(answer_text(no_module, b""), "reading the request: empty at byte 0");
    assert_eq!(answer_text(no_module, &REQUEST[..12]), "reading the request: length-over-rest at byte 7");
    assert_eq!(answer_text(no_module, &[REQUEST, b"\x00"].concat()), "reading the request: trailing at byte 49");
}

/// The encoder's own sort, held to the standard library's.
#[test]
fn sorting() {
    let mut seed = 1u32;
    for len in 0..200 {
        let mut items: Vec<u32> = (0..len)
            .map(|_| {
                seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
                seed >> 16 & 63
            })
            .collect();
        let mut want = items.clone();
        want.sort_unstable();
        lola_ext::sort(&mut items, |a, b| a < b);
        assert_eq!(items, want);
        lola_ext::sort(&mut items, |a, b| a > b);
        want.reverse();
        assert_eq!(items, want);
    }
}

#[test]
fn what_no_host_decodes_is_refused() {
    let edit = |edits| Plan { intents: vec![Intent::EditJson { path: "a.json".into(), edits }], ..Plan::default() };
    let set = |value| edit(vec![JsonEdit { at: "/x".into(), value: Some(value) }]);
    let nested = |depth| (0..depth).fold(Json::Null, |v, _| Json::Array(vec![v]));

    assert!(encode_plan(&set(nested(5))).is_ok());
    for (plan, want) in [
        (set(nested(6)), "edit \"a.json\": a value nests too deep"),
        (
            set(Json::Object(vec![("k".into(), Json::Null), ("k".into(), Json::Null)])),
            "edit \"a.json\": a value has a key twice",
        ),
        (edit(vec![]), "edit \"a.json\": it has no changes"),
    ] {
        assert_eq!(encode_plan(&plan).unwrap_err().0, want);
    }

    let mut plan = Plan::default();
    plan.write("a", "b");
    let Intent::Write(w) = &mut plan.intents[0] else { unreachable!() };
    w.mode = 0o4755;
    assert_eq!(encode_plan(&plan).unwrap_err().0, "write \"a\": its mode has more than permission bits");
}
