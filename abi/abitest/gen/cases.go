package main

import "strings"

// row makes a CBOR plan vector.
func row(name, expect, comment string, body node) vector {
	return vector{name: name, expect: expect, form: "cbor", subject: "plan", comment: comment, body: body}
}

func (v vector) request() vector { v.subject = "request"; return v }

func (v vector) ifSized(class string) vector { v.sized = class; return v }

func (v vector) limit(l string) vector { v.limits = append(v.limits, l); return v }

func deleteOf(path node) node {
	return object{{"op", textOf("delete")}, {"path", path}}.node()
}

// editValue is a plan with one JSON edit that sets v.
func editValue(v node) node {
	return intent(editJSON.with("edits", arrayOf(jsonEdit.with("value", v).node())))
}

// nested is n arrays around a zero.
func nested(n int) node {
	v := uintOf(0)
	for range n {
		v = arrayOf(v)
	}
	return v
}

// formVectors are about CBOR itself: well-formedness, determinism, where items begin and end.
func formVectors() []vector {
	head0 := "a2 63 616269 01 65 636f756e74" // a header up to the value of its count
	one := header(1)
	return []vector{
		row("plan_empty", "empty", "no bytes at all", node{}),
		row("request_empty", "empty", "no bytes at all", node{}).request(),
		row("plan_no_intents", valid, "the plan that does nothing", header(0)),
		row("plan_each_op", valid, "one intent of each op", plan(writeContent.node(), writeModule.node(), editJSON.node(),
			editBlock.node(), remove.node(), rename.node(), fetch.node(), clone.node())),

		row("plan_truncated_header", "truncated", "ends within the header", raw("a2 63 616269 01 65", "")).ifSized("length-over-rest"),
		row("plan_truncated_key", "truncated", "ends within a key", raw(head0[:len(head0)-2], "")).ifSized("length-over-rest"),
		row("plan_truncated_value", "truncated", "ends before a value", raw(head0, "")),
		row("plan_truncated_argument", "truncated", "ends within the argument of a head", raw(head0+" 19 01", "")),
		row("plan_truncated_before_intent", "truncated", "a cut-off plan shows: count says 1", one),
		row("plan_truncated_second_intent", "truncated", "a cut-off plan shows: count says 2",
			sequence(header(2), deleteOf(textOf("a")))),
		row("plan_truncated_text", "truncated", "ends within a path",
			sequence(one, raw("a2 62 6f70 66 64656c657465 64 70617468 65 6162", "path of 5 bytes, 2 are there"))).ifSized("length-over-rest"),
		row("plan_truncated_content", "truncated", "ends within a content", sequence(one,
			raw("a4 62 6f70 65 7772697465 64 6d6f6465 00 64 70617468 61 61 67 636f6e74656e74 58ff 00*100", "content of 255 bytes, 100 are there"))).
			ifSized("length-over-rest"),
		row("plan_truncated_map", "truncated", "a map of two with one entry", raw("a2 63 616269 01", "")),
		row("plan_truncated_array", "truncated", "an array of one with none",
			raw("a3 63 616269 01 65 636f756e74 00 68 6d65737361676573 81", "")).ifSized("length-over-rest"),
		row("request_truncated", "truncated", "ends within the action", raw("a3 63 616269 01 66 616374696f6e 67 696e", "")).
			request().ifSized("length-over-rest"),

		row("plan_trailing_byte", "trailing", "D04: a byte after the last intent", sequence(plan(deleteOf(textOf("a"))), raw("00", ""))),
		row("plan_trailing_intent", "trailing", "an intent more than count says", sequence(header(0), deleteOf(textOf("a")))),
		row("plan_trailing_break", "trailing", "a byte that begins nothing", sequence(header(0), raw("ff", ""))),
		row("request_trailing_byte", "trailing", "D04: a byte after the request", sequence(request.node(), raw("00", ""))).request(),
		row("request_trailing_request", "trailing", "a second request", sequence(request.node(), request.node())).request(),

		row("plan_item_uint", "type", "the header is no map", uintOf(1)),
		row("plan_item_array", "type", "the header is no map", arrayOf()),
		row("plan_item_text", "type", "the header is no map", textOf("x")),
		row("plan_item_null", "null", "the header is null", nullNode),
		row("plan_intent_uint", "type", "an intent is no map", plan(uintOf(1))),
		row("plan_intent_array", "type", "an intent is no map", plan(arrayOf(textOf("write")))),
		row("plan_intent_null", "null", "an intent is null", plan(nullNode)),
		row("request_item_array", "type", "the request is no map", arrayOf()).request(),

		row("head_reserved_28", "malformed", "additional information 28", raw("1c", "")),
		row("head_reserved_29", "malformed", "additional information 29", raw(head0+" 1d", "")),
		row("head_reserved_30", "malformed", "additional information 30", raw("be", "")),
		row("head_uint_31", "malformed", "additional information 31 of an integer", raw(head0+" 1f", "")),
		row("head_negative_31", "malformed", "additional information 31 of an integer", raw(head0+" 3f", "")),
		row("head_tag_31", "malformed", "additional information 31 of a tag", raw(head0+" df", "")),
		row("head_break", "malformed", "a break that ends nothing", raw(head0+" ff", "")),
		row("head_simple_short", "malformed", "a simple value under 32 in two bytes", editValue(raw("f8 14", ""))),

		row("indefinite_bytes", "indefinite-length", "D03: 5f", sequence(one,
			object{{"op", textOf("write")}, {"mode", uintOf(0)}, {"path", textOf("a")}, {"content", raw("5f 41 61 ff", "")}}.node())),
		row("indefinite_bytes_first", "indefinite-length", "D03: 5f", raw("5f 41 61 ff", "")),
		row("indefinite_text", "indefinite-length", "D03: 7f", plan(deleteOf(raw("7f 61 61 ff", "")))),
		row("indefinite_text_key", "indefinite-length", "D03: 7f", raw("a2 7f 63 616269 ff 01 65 636f756e74 00", "")),
		row("indefinite_array", "indefinite-length", "D03: 9f", planWith("messages", raw("9f ff", ""))),
		row("indefinite_map", "indefinite-length", "D03: bf", raw("bf 63 616269 01 65 636f756e74 00 ff", "")),
		row("indefinite_map_intent", "indefinite-length", "D03: bf", sequence(one, raw("bf 62 6f70 66 64656c657465 64 70617468 61 61 ff", ""))),

		row("non_minimal_uint_8", "non-minimal", "D04: 0 in two bytes", raw(head0+" 18 00", "")),
		row("non_minimal_uint_8_max", "non-minimal", "23 in two bytes", raw(head0+" 18 17", "")),
		row("non_minimal_uint_16", "non-minimal", "255 in three bytes", raw(head0+" 19 00ff", "")),
		row("non_minimal_uint_32", "non-minimal", "65535 in five bytes", raw(head0+" 1a 0000ffff", "")),
		row("non_minimal_uint_64", "non-minimal", "4294967295 in nine bytes", raw(head0+" 1b 00000000ffffffff", "")),
		row("non_minimal_negative", "non-minimal", "-1 in two bytes", editValue(raw("38 00", ""))),
		row("non_minimal_text_length", "non-minimal", "a length in two bytes", plan(deleteOf(raw("78 01 61", "")))),
		row("non_minimal_key_length", "non-minimal", "a key's length in two bytes", raw("a2 78 03 616269 01 65 636f756e74 00", "")),
		row("non_minimal_bytes_length", "non-minimal", "a length in three bytes", intent(writeContent.with("content", raw("59 0001 61", "")))),
		row("non_minimal_array_length", "non-minimal", "a length in two bytes", planWith("messages", raw("98 00", ""))),
		row("non_minimal_map_length", "non-minimal", "a length in two bytes", raw("b8 02 63 616269 01 65 636f756e74 00", "")),

		row("tag_item", "tag", "D04: self-described CBOR", sequence(raw("d9 d9f7", "55799"), header(0))),
		row("tag_intent", "tag", "D04: a tagged intent", plan(sequence(raw("c6", "6"), deleteOf(textOf("a"))))),
		row("tag_text", "tag", "a URI", plan(deleteOf(raw("d8 20 61 61", "32")))),
		row("tag_bignum", "tag", "a big number", editValue(raw("c2 41 01", "2"))),
		row("tag_key", "tag", "a tagged key", raw("a2 c1 63 616269 01 65 636f756e74 00", "")),

		row("float_16", "float", "1.0 in two bytes", editValue(raw("f9 3c00", "1.0"))),
		row("float_32", "float", "1.5 in four bytes", editValue(raw("fa 3fc00000", "1.5"))),
		row("float_64", "float", "1.1 in eight bytes", editValue(raw("fb 3ff199999999999a", "1.1"))),
		row("float_count", "float", "a count", header(0).replaceCount(raw("f9 0000", "0.0"))),
		row("simple_undefined", "simple", "undefined", editValue(raw("f7", ""))),
		row("simple_16", "simple", "an unassigned simple value", editValue(raw("f0", ""))),
		row("simple_32", "simple", "an unassigned simple value", editValue(raw("f8 20", ""))),

		row("utf8_lone_continuation", "invalid-utf8", "D04: a lone continuation byte", plan(deleteOf(textOf("a\x80")))),
		row("utf8_overlong", "invalid-utf8", "an overlong slash", plan(deleteOf(textOf("\xc0\xaf")))),
		row("utf8_surrogate", "invalid-utf8", "a surrogate", plan(deleteOf(textOf("\xed\xa0\x80")))),
		row("utf8_cut", "invalid-utf8", "a sequence cut off by the end of the string", plan(deleteOf(textOf("\xe2\x82")))),
		row("utf8_over_max", "invalid-utf8", "beyond U+10FFFF", plan(deleteOf(textOf("\xf4\x90\x80\x80")))),
		row("utf8_key", "invalid-utf8", "in a key", intent(remove.with("\xff\xff\xff\xff\xff", uintOf(0)))),
		row("utf8_value", "invalid-utf8", "in a JSON value", editValue(textOf("\xff"))),
		row("utf8_valid", valid, "four bytes, U+10FFFF, NUL, byte order mark: text, judged elsewhere",
			plan(deleteOf(textOf("\U0001f600\U0010ffff\x00\ufeff")))),

		row("depth_9", "depth", "an array within seven", editValue(nested(6))),
		row("depth_8", valid, "as deep as it goes", editValue(nested(5))),
		row("depth_map_9", "depth", "a map within seven",
			editValue(object{{"a", object{{"a", object{{"a", object{{"a", object{{"a", object{}.node()}}.node()}}.node()}}.node()}}.node()}}.node())),
		row("depth_100000", "depth", "D01: refused without growing the stack, in a value", sequence(one,
			raw("a4 62 6f70 64 65646974 64 70617468 61 61 65 6564697473 81 a2 62 6174 60 65 76616c7565 81*100000 66 666f726d6174 64 6a736f6e", ""))),
		row("depth_100000_first", "depth", "D01: 100,000 x 0x81; the form of a value is judged before its type", raw("81*100000", "")),

		row("key_uint", "key-type", "a key that is no text", raw("a1 01 01", "")),
		row("key_bytes", "key-type", "a key that is no text", raw("a2 43 616269 01 65 636f756e74 00", "")),
		row("key_null", "key-type", "a key that is no text", raw("a1 f6 01", "")),
		row("key_array", "key-type", "a key that is no text", raw("a1 80 01", "")),
		row("key_value", "key-type", "a key within a JSON value", editValue(raw("a1 00 00", ""))),

		row("key_case", "unknown-key", "D04: keys that differ by case are different keys", intent(remove.without("path").with("Path", textOf("a")))),
		row("key_case_twice", "unknown-key", "D04: keys that differ by case", intent(object{{"op", textOf("delete")},
			{"Path", textOf("a")}, {"path", textOf("a")}})),
		row("key_duplicate_far", "unsorted-key", "a key twice, not side by side, is also out of order",
			plan(object{{"op", textOf("rename")}, {"from", textOf("a")}, {"op", textOf("rename")}}.node())),
		row("key_duplicate_value", "duplicate-key", "within a JSON value", editValue(object{{"a", uintOf(1)}, {"a", uintOf(1)}}.node())),
		row("key_unsorted_value", "unsorted-key", "within a JSON value", editValue(object{{"b", uintOf(1)}, {"a", uintOf(1)}}.node())),
		row("key_unsorted_length", "unsorted-key", "a longer key comes later, whatever its letters",
			editValue(object{{"aa", uintOf(1)}, {"b", uintOf(1)}}.node())),
		row("key_sorted_length", valid, "a shorter key comes first, whatever its letters",
			editValue(object{{"", uintOf(0)}, {"b", uintOf(1)}, {"aa", uintOf(1)}}.node())),
		row("key_of_another_op", "unknown-key", "a key that only another op has", intent(remove.with("mode", uintOf(0)))),
		row("key_content_of_delete", "unknown-key", "a content where none is due", intent(remove.with("content", bytesOf("x")))),
		row("key_text_of_edit_json", "unknown-key", "a key of the other format", intent(editJSON.with("text", textOf("x")))),
		row("key_edits_of_edit_block", "unknown-key", "a key of the other format", intent(editBlock.with("edits", arrayOf(jsonEdit.node())))),
		row("key_version_of_entries", "unknown-key", "a key of another result", planWith("result", entries.with("version", textOf("1")).node())),

		row("null_value", valid, "null is a JSON value", editValue(nullNode)),
		row("null_within_value", valid, "null within a JSON value", editValue(object{{"a", arrayOf(nullNode)}}.node())),
		row("null_edits", "null", "an edit is null", intent(editJSON.with("edits", arrayOf(nullNode)))),
		row("null_message", "null", "a message is null", planWith("messages", arrayOf(nullNode))),
		row("null_header_value", "null", "a request header without value", intent(fetch.with("headers", arrayOf(arrayOf(textOf("A"), nullNode))))),
	}
}

// replaceCount swaps the value of a header's count, which is its last line.
func (n node) replaceCount(v node) node {
	return node{append(n.lines[:len(n.lines)-1:len(n.lines)-1], v.lines...)}
}

// valueVectors are about values of the right type.
func valueVectors() []vector {
	with := func(o object, key string, v node) node { return intent(o.with(key, v)) }
	version := func(n node) node { return object{{"abi", n}, {"count", uintOf(0)}}.node() }
	block := func(id string) node { return with(editBlock, "id", textOf(id)) }
	at := func(p string) node {
		return intent(editJSON.with("edits", arrayOf(jsonEdit.with("at", textOf(p)).node())))
	}
	marker := func(text string) node { return with(editBlock, "text", textOf(text)) }
	pairs := func(n node) node { return with(fetch, "headers", arrayOf(n)) }
	return []vector{
		row("version_0", "version", "no such version", version(uintOf(0))),
		row("version_2", "version", "a version to come", version(uintOf(2))),
		row("version_2_keys", "version", "a version to come may have other keys", object{{"abi", uintOf(2)}, {"new", uintOf(0)}}.node()),
		row("version_negative", "version", "no such version", version(negOf(0))),
		row("version_request", "version", "a version to come", request.with("abi", uintOf(2)).node()).request(),

		row("op_unknown", "value", "no such op", plan(object{{"op", textOf("chmod")}, {"path", textOf("a")}}.node())),
		row("op_case", "value", "ops are lower case", intent(remove.with("op", textOf("Delete")))),
		row("op_empty", "value", "no such op", intent(remove.with("op", textOf("")))),
		row("count_negative", "value", "a count is not negative", object{{"abi", uintOf(1)}, {"count", negOf(0)}}.node()),

		row("mode_setuid", "value", "set-user-ID", with(writeContent, "mode", uintOf(0o4755))),
		row("mode_setgid", "value", "set-group-ID", with(writeContent, "mode", uintOf(0o2755))),
		row("mode_sticky", "value", "sticky", with(writeContent, "mode", uintOf(0o1755))),
		row("mode_file_type", "value", "a regular file's type bits", with(writeContent, "mode", uintOf(0o100644))),
		row("mode_negative", "value", "below zero", with(writeContent, "mode", negOf(0))),
		row("mode_65536", "value", "zero in 16 bits", with(writeContent, "mode", uintOf(1<<16))),
		row("mode_zero", valid, "no permission at all", with(writeContent, "mode", uintOf(0))),
		row("mode_all", valid, "every permission", with(writeContent, "mode", uintOf(0o777))),

		row("content_empty", valid, "an empty file", with(writeContent, "content", bytesOf(""))),
		row("content_256", valid, "a length of two bytes", with(writeContent, "content", bytesOf(strings.Repeat("x", 256)))),
		row("content_70000", valid, "a length of four bytes", with(writeContent, "content", raw("5a 00011170 78*70000", "70,000 bytes"))),
		row("content_and_module", "exclusive", "two places to take bytes from", with(writeContent, "module", textOf("a"))),
		row("module_empty", "value", "an empty name of a module file", with(writeModule, "module", textOf(""))),
		row("path_empty", valid, "paths are judged elsewhere", with(writeContent, "path", textOf(""))),
		row("path_absolute", valid, "paths are judged elsewhere", with(writeContent, "path", textOf("/etc/passwd"))),
		row("expect_text", "value", "neither a digest nor absent", with(writeContent, "expect", textOf("present"))),
		row("expect_31_bytes", "value", "no digest", with(writeContent, "expect", digestOf(31))),
		row("replace_symlink_false", "value", "what is not wanted is left out", with(writeContent, "replace_symlink", falseNode)),

		row("format_unknown", "value", "no such format", with(editJSON, "format", textOf("yaml"))),
		row("edits_none", "value", "one edit at least", with(editJSON, "edits", arrayOf())),
		row("at_root", valid, "the whole document", at("")),
		row("at_escapes", valid, "both escapes", at("/a~0b~1c//-")),
		row("at_no_slash", "value", "a pointer begins with a slash", at("a")),
		row("at_bad_escape", "value", "~2 is no escape", at("/a~2")),
		row("at_cut_escape", "value", "an escape cut off", at("/a~")),
		row("value_int_max", valid, "the largest integer", editValue(uintOf(1<<63-1))),
		row("value_int_min", valid, "the smallest integer", editValue(negOf(1<<63-1))),
		row("value_int_over", "value", "an integer over 64 bits with sign", editValue(uintOf(1<<63))),
		row("value_int_under", "value", "an integer over 64 bits with sign", editValue(negOf(1<<63))),
		row("value_all_kinds", valid, "every kind of JSON value", editValue(object{{"a", arrayOf(nullNode, falseNode, trueNode,
			uintOf(24), negOf(24), textOf(""), arrayOf(), object{}.node())}}.node())),
		row("value_bytes_within", "type", "a byte string is no JSON value", editValue(arrayOf(bytesOf("x")))),

		row("block_id_longest", valid, "64 bytes", block(strings.Repeat("a", 64))),
		row("block_id_long", "value", "65 bytes", block(strings.Repeat("a", 65))),
		row("block_id_empty", "value", "no bytes", block("")),
		row("block_id_upper", "value", "an upper-case letter", block("Mine")),
		row("block_id_space", "value", "a space", block("a b")),
		row("block_id_newline", "value", "a line feed at the end", block("a\n")),
		row("block_text_marker", "value", "a marker line in the text", marker("a\n<!-- lola:x:end -->\nb\n")),
		row("block_text_marker_hash", "value", "a marker line in the text", marker("# lola:x:start")),
		row("block_text_marker_spaced", "value", "a marker line with white space around it", marker("a\n \t# lola:x:end \r\n")),
		row("block_text_near_marker", valid, "a marker within a longer line is text", marker("see # lola:x:end\n")),
		row("block_text_empty", valid, "an empty block is not a removed one", marker("")),

		row("method_post", "value", "GET and HEAD alone", with(fetch, "method", textOf("POST"))),
		row("method_case", "value", "methods are upper case", with(fetch, "method", textOf("get"))),
		row("fetch_headers_pair_short", "value", "a name alone", pairs(arrayOf(textOf("A")))),
		row("fetch_headers_pair_long", "value", "three texts", pairs(arrayOf(textOf("A"), textOf("b"), textOf("c")))),
		row("fetch_headers_pair_map", "type", "a map for a pair", pairs(object{{"A", textOf("b")}}.node())),
		row("fetch_headers_pair_int", "type", "a value that is no text", pairs(arrayOf(textOf("A"), uintOf(1)))),
		row("fetch_headers_none", valid, "an empty list stays one", with(fetch, "headers", arrayOf())),
		row("fetch_headers_twice", valid, "one name twice, in order", with(fetch, "headers", arrayOf(
			arrayOf(textOf("B"), textOf("2")), arrayOf(textOf("A"), textOf("1")), arrayOf(textOf("B"), textOf("2"))))),
		row("digest_31_bytes", "value", "a byte too few", with(fetch, "digest", digestOf(31))),
		row("digest_33_bytes", "value", "a byte too many", with(fetch, "digest", digestOf(33))),
		row("digest_empty", "value", "no bytes", with(fetch, "digest", bytesOf(""))),
		row("clone_depth_zero", "value", "what is not wanted is left out", with(clone, "depth", uintOf(0))),
		row("clone_depth_negative", "value", "below one", with(clone, "depth", negOf(0))),
		row("clone_depth_max", valid, "2^31 - 1", with(clone, "depth", uintOf(1<<31-1))),
		row("clone_depth_over", "value", "2^31", with(clone, "depth", uintOf(1<<31))),
		row("commit_upper", "value", "upper-case digits", with(clone, "commit", textOf(strings.Repeat("A", 40)))),
		row("commit_short", "value", "an abbreviation pins nothing", with(clone, "commit", textOf("0123456"))),
		row("commit_empty", "value", "no digits", with(clone, "commit", textOf(""))),
		row("commit_not_hex", "value", "a letter past f", with(clone, "commit", textOf(strings.Repeat("g", 40)))),
		row("commit_sha256", valid, "64 digits", with(clone, "commit", textOf(strings.Repeat("0a", 32)))),

		row("level_unknown", "value", "no such level", planWith("messages", arrayOf(message.with("level", textOf("fatal")).node()))),
		row("messages_none", valid, "an empty list stays one", planWith("messages", arrayOf())),
		row("entries_none", valid, "nothing found", planWith("result", object{{"entries", arrayOf()}}.node())),
		row("entries_and_source", "exclusive", "two results in one", planWith("result", entries.with("source", textOf("x")).node())),
		row("verdict_and_source", "exclusive", "two results in one", planWith("result", scan.with("source", textOf("x")).node())),
		row("verdict_unknown", "value", "no such verdict", planWith("result", scan.with("verdict", textOf("maybe")).node())),
		row("verdict_pass", valid, "nothing found", planWith("result", object{{"verdict", textOf("pass")}, {"findings", arrayOf()}}.node())),
		row("entry_empty_version", "value", "what is not known is left out",
			planWith("result", object{{"entries", arrayOf(entry.with("version", textOf("")).node())}}.node())),
		row("entry_empty_description", "value", "what is not known is left out",
			planWith("result", object{{"entries", arrayOf(entry.with("description", textOf("")).node())}}.node())),
		row("resolved_empty_version", "value", "what is not known is left out", planWith("result", resolved.with("version", textOf("")).node())),
		row("finding_empty_path", "value", "what is not known is left out",
			planWith("result", scan.with("findings", arrayOf(finding.with("path", textOf("")).node())).node())),
	}
}

// limitVectors set a small limit and pass it by one, and meet it.
func limitVectors() []vector {
	two := planWith("messages", arrayOf(message.node(), message.node()))
	intents := plan(deleteOf(textOf("a")), deleteOf(textOf("b")))
	return []vector{
		row("limit_plan_over", "limit-plan", "a plan of 49 bytes", intents).limit("plan=48"),
		row("limit_plan_met", valid, "a plan of 49 bytes", intents).limit("plan=49"),
		row("limit_intents_over", "limit-intents", "two intents", intents).limit("intents=1"),
		row("limit_intents_met", valid, "two intents", intents).limit("intents=2"),
		row("limit_intents_huge", "limit-intents", "D02: a count over any limit", object{{"abi", uintOf(1)}, {"count", uintOf(1<<64 - 1)}}.node()),
		row("limit_content_over", "limit-content", "six bytes", intent(writeContent)).limit("content=5"),
		row("limit_content_met", valid, "six bytes", intent(writeContent)).limit("content=6"),
		row("limit_content_default", "limit-content", "declared only: 16 MiB and a byte",
			intent(writeContent.with("content", raw("5a 01000001", ""))).upTo("5a 01000001")),
		row("limit_content_huge", "limit-content", "D02: declared only: 2^64 - 1 bytes",
			intent(writeContent.with("content", raw("5b ffffffffffffffff", ""))).upTo("5b ffffffffffffffff")),
		row("limit_item_text_huge", "limit-item", "D02: declared only: 2^64 - 1 bytes of text",
			plan(deleteOf(raw("7b ffffffffffffffff", "")))),
		row("limit_item_bytes_huge", "limit-item", "D02: declared only: 2^63 bytes, no content",
			intent(fetch.with("digest", raw("5b 8000000000000000", ""))).upTo("5b 8000000000000000")),
		row("limit_messages_huge", "limit-messages", "D02: 9b ff ff ff ff ff ff ff ff", planWith("messages", raw("9b ffffffffffffffff", ""))),
		row("limit_item_array_huge", "limit-item", "D02: 9b ff ff ff ff ff ff ff ff", editValue(raw("9b ffffffffffffffff", "")).upTo("9b ffffffffffffffff")),
		row("limit_item_map_huge_within", "limit-item", "D02: a map of 2^63 entries", editValue(raw("bb 8000000000000000", "")).upTo("bb 8000000000000000")),
		row("limit_item_map_huge", "limit-item", "D02: the header has 2^64 - 1 entries", raw("bb ffffffffffffffff", "")),
		row("limit_item_over", "limit-item", "an intent of 18 bytes", plan(deleteOf(textOf("a")))).limit("item=17"),
		row("limit_item_met", valid, "an intent of 18 bytes", plan(deleteOf(textOf("a")))).limit("item=18"),
		row("limit_item_content", valid, "contents do not count", intent(writeContent.with("content", raw("59 2710 78*10000", "10,000 bytes")))).
			limit("item=200"),
		row("limit_values_over", "limit-values", "one edit, its two entries, three elements", editValue(arrayOf(nullNode, nullNode, nullNode))).
			limit("values=5"),
		row("limit_values_met", valid, "one edit, its two entries, three elements", editValue(arrayOf(nullNode, nullNode, nullNode))).
			limit("values=6"),
		row("limit_values_plan", "limit-values", "the limit is of a plan, not of an intent", plan(editJSON.node(), editJSON.node())).limit("values=5"),
		row("limit_values_headers", "limit-values", "one pair of two", intent(fetch)).limit("values=2"),
		row("limit_messages_over", "limit-messages", "two messages", two).limit("messages=1"),
		row("limit_messages_met", valid, "two messages", two).limit("messages=2"),
		row("rest_text", "truncated", "a text longer than what is left", sequence(header(1), raw("a2 62 6f70 66 64656c657465 64 70617468 78c8 61", ""))).
			ifSized("length-over-rest"),
		row("rest_array", "truncated", "an array longer than what is left",
			sequence(header(1), raw("a4 62 6f70 64 65646974 64 70617468 61 61 65 6564697473 99 0100", ""))).ifSized("length-over-rest"),
		row("rest_map", "truncated", "a map longer than what is left", raw("b4 63 616269 01", "")).ifSized("length-over-rest"),
		row("limit_request_over", "limit-plan", "requests have a limit of their own", request.node()).request().limit("request=100"),
		row("limit_request_array_huge", "limit-plan", "D02: 9b ff ff ff ff ff ff ff ff",
			request.with("inputs", raw("9b ffffffffffffffff", "")).node().upTo("9b ffffffffffffffff")).request(),
		row("limit_request_content_over", "limit-content", "three bytes", request.node()).request().limit("content=2"),
		row("limit_request_content_met", valid, "three bytes", request.node()).request().limit("content=3"),
	}
}

// upTo cuts n after the first line that begins with words.
func (n node) upTo(words string) node {
	for i, l := range n.lines {
		if strings.HasPrefix(strings.TrimSpace(l), words) {
			return node{n.lines[: i+1 : i+1]}
		}
	}
	panic("no line begins with " + words)
}

// requestVectors are about values and order within a request.
func requestVectors() []vector {
	req := func(name, expect, comment, key string, v node) vector {
		return row(name, expect, comment, request.with(key, v).node()).request()
	}
	files := func(list ...node) node { return module.with("files", arrayOf(list...)).node() }
	fileWith := func(key string, v node) node { return files(fileGiven.with(key, v).node()) }
	inputWith := func(o object, key string, v node) node { return arrayOf(o.with(key, v).node()) }
	return []vector{
		row("request_minimal", valid, "no optional key", minimalRequest.with("action", textOf("search")).node()).request(),
		req("request_scope_user", valid, "the other scope", "scope", textOf("user")),
		req("request_scope_unknown", "value", "no such scope", "scope", textOf("global")),
		req("request_scope_empty", "value", "no such scope", "scope", textOf("")),
		req("request_params_none", valid, "an empty map stays one", "params", object{}.node()),
		req("request_inputs_none", valid, "an empty list stays one", "inputs", arrayOf()),
		req("request_files_none", valid, "a module without files", "module", files()),
		req("request_param_bytes", "type", "text, integer or boolean", "params", object{{"a", bytesOf("x")}}.node()),
		req("request_param_array", "type", "text, integer or boolean", "params", object{{"a", arrayOf()}}.node()),
		req("request_param_null", "null", "no null", "params", object{{"a", nullNode}}.node()),
		req("request_param_float", "float", "no float", "params", object{{"a", raw("f9 3c00", "1.0")}}.node()),
		req("request_param_int_over", "value", "an integer over 64 bits with sign", "params", object{{"a", uintOf(1 << 63)}}.node()),
		req("request_param_duplicate", "duplicate-key", "a parameter twice", "params", object{{"a", uintOf(1)}, {"a", uintOf(2)}}.node()),
		req("request_param_unsorted", "unsorted-key", "parameters out of order", "params", object{{"b", uintOf(1)}, {"a", uintOf(2)}}.node()),
		req("request_param_empty_key", valid, "keys are any text", "params", object{{"", uintOf(1)}}.node()),

		req("request_files_unsorted", "order", "by path, bytewise", "module", files(fileWithheld.node(), fileGiven.node())),
		req("request_files_duplicate", "order", "a path twice", "module", files(fileGiven.node(), fileGiven.node())),
		req("request_files_bytewise", valid, "a shorter path is no earlier one", "module",
			files(fileGiven.with("path", textOf("Zz")).node(), fileGiven.with("path", textOf("a/b")).node(), fileGiven.with("path", textOf("b")).node())),
		req("request_inputs_unsorted", "order", "by path, bytewise", "inputs", arrayOf(inputAbsent.node(), inputFile.node())),
		req("request_inputs_duplicate", "order", "a path twice", "inputs", arrayOf(inputAbsent.node(), inputAbsent.node())),

		req("file_mode_setuid", "value", "permission bits alone", "module", fileWith("mode", uintOf(0o4755))),
		req("file_size_negative", "value", "below zero", "module", fileWith("size", negOf(0))),
		req("file_size_max", valid, "2^63 - 1", "module", files(fileWithheld.with("size", uintOf(1<<63-1)).node())),
		req("file_size_over", "value", "2^63", "module", fileWith("size", uintOf(1<<63))),
		req("file_digest_31_bytes", "value", "a byte too few", "module", fileWith("digest", digestOf(31))),
		req("file_content_empty", valid, "an empty file that is given", "module", fileWith("content", bytesOf(""))),
		req("module_digest_33_bytes", "value", "a byte too many", "module", module.with("digest", digestOf(33)).node()),

		req("input_state_unknown", "value", "no such state", "inputs", inputWith(inputFile, "state", textOf("link"))),
		req("input_absent_mode", "exclusive", "what is absent has no mode", "inputs", inputWith(inputAbsent, "mode", uintOf(0))),
		req("input_absent_content", "exclusive", "what is absent has no content", "inputs", inputWith(inputAbsent, "content", bytesOf(""))),
		req("input_absent_digest", "exclusive", "what is absent has no digest", "inputs", inputWith(inputAbsent, "digest", digestOf(32))),
		req("input_content_empty", valid, "an empty file that is given", "inputs", inputWith(inputFile, "content", bytesOf(""))),
		req("input_mode_sticky", "value", "permission bits alone", "inputs", inputWith(inputFile, "mode", uintOf(0o1000))),
		req("input_digest_empty", "value", "no bytes", "inputs", inputWith(inputFile, "digest", bytesOf(""))),
	}
}
