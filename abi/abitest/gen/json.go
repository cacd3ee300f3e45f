package main

import "strings"

// jsonRow makes a plan vector of the JSON form.
func jsonRow(name, expect, comment, text string) vector {
	return vector{name: "json_" + name, expect: expect, form: "json", subject: "plan", comment: comment, text: text}
}

// twin says which CBOR vector decodes to the same.
func (v vector) twin(name string) vector { v.sameAs = name; return v }

// spelled marks a valid text that an encoder writes otherwise.
func (v vector) spelled() vector { v.respell = true; return v }

const (
	digestText = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	jsonHead0  = `{"abi":1,"count":0}` + "\n"
	jsonHead1  = `{"abi":1,"count":1}` + "\n"
	jsonDelete = `{"op":"delete","path":"old"}` + "\n"
	jsonWrite  = `{"op":"write","mode":"0644","path":"a/b.md","expect":"` + digestText + `","content":"hello\n","replace_symlink":true}` + "\n"
	jsonFile   = `{"mode":"0644","path":"a.md","size":3,"digest":"` + digestText + `","content":"hi\n"}`
	jsonFile2  = `{"mode":"0644","path":"b.bin","size":3,"digest":"` + digestText + `"}`
	jsonInputs = `[{"mode":"0600","path":"a.json","state":"file","digest":"` + digestText + `","content":"{}\n"},{"path":"b.json","state":"absent"}]`
	jsonModule = `{"name":"git-doctor","files":[` + jsonFile + `,` + jsonFile2 + `],"digest":"` + digestText + `","version":"1.2.3"}`
	jsonReq    = `{"abi":1,"scope":"project","action":"install","inputs":` + jsonInputs + `,"module":` + jsonModule +
		`,"params":{"n":-5,"deep":true,"name":"x"},"extension":{"name":"claude-code","version":"0.1.0"}}` + "\n"
	jsonBlock = `{"id":"my.module-1","op":"edit","path":"AGENTS.md","text":"Be kind.\n","format":"block"}` + "\n"
)

// jsonVectors are about the JSON form.
func jsonVectors() []vector {
	one := func(intent string) string { return jsonHead1 + intent + "\n" }
	value := func(v string) string {
		return one(`{"op":"edit","path":"a.json","edits":[{"at":"/servers/x","value":` + v + `}],"format":"json"}`)
	}
	write := func(rest string) string { return one(`{"op":"write","mode":"0644","path":"a",` + rest + `}`) }
	mode := func(m string) string { return one(`{"op":"write","mode":` + m + `,"path":"a","content":""}`) }
	request := func(v vector) vector { v.subject = "request"; return v }
	return []vector{
		jsonRow("empty", "empty", "no bytes at all", ""),
		request(jsonRow("request_empty", "empty", "no bytes at all", "")),
		jsonRow("no_intents", valid, "the plan that does nothing", jsonHead0).twin("plan_no_intents"),
		jsonRow("delete", valid, "a path", jsonHead1+jsonDelete).twin("delete_full"),
		jsonRow("rename", valid, "two paths", one(`{"op":"rename","to":"b","from":"a"}`)).twin("rename_full"),
		jsonRow("write", valid, "content that is text, mode, digest", jsonHead1+jsonWrite).twin("write_full"),
		jsonRow("write_module", valid, "a module file", one(`{"op":"write","mode":"0755","path":"a/b.md","expect":"absent","module":"skills/x/SKILL.md"}`)).
			twin("write-module_full"),
		jsonRow("write_base64", valid, "content that is no text", write(`"content_base64":"//4A"`)),
		jsonRow("write_base64_long", valid, "one byte more than groups of three", write(`"content_base64":"`+strings.Repeat("////", 5000)+`/w=="`)),
		jsonRow("write_base64_of_text", valid, "text may come as base64 too", strings.Replace(jsonHead1+jsonWrite, `"content":"hello\n"`, `"content_base64":"aGVsbG8K"`, 1)).
			twin("write_full").spelled(),
		jsonRow("write_base64_empty", valid, "an empty file as base64", write(`"content_base64":""`)).spelled(),
		jsonRow("write_content_empty", valid, "an empty file", write(`"content":""`)),
		jsonRow("edit_json", valid, "an edit", value(`"y"`)).twin("edit-json_full"),
		jsonRow("edit_remove", valid, "no value: what is at the pointer goes", one(`{"op":"edit","path":"a.json","edits":[{"at":"/servers/x"},{"at":"/other","value":"y"}],"format":"json"}`)).
			twin("json-edit_without_value"),
		jsonRow("edit_null", valid, "null is a JSON value", value(`null`)).twin("null_value"),
		jsonRow("edit_values", valid, "every kind of JSON value", value(`{"a":[null,false,true,24,-25,"",[],{}]}`)).twin("value_all_kinds"),
		jsonRow("edit_value_is_generic", valid, "keys of ours mean nothing within a value",
			value(`{"mode":"x","digest":"y","content_base64":"z"}`)),
		jsonRow("edit_block", valid, "a block", jsonHead1+jsonBlock).twin("edit-block_full"),
		jsonRow("fetch", valid, "headers, a digest", one(`{"op":"fetch","url":"https://example.com/x.tgz","dest":"x.tgz","digest":"`+digestText+
			`","method":"GET","headers":[["Accept","*/*"]]}`)).twin("fetch_full"),
		jsonRow("clone", valid, "a commit", one(`{"op":"clone","ref":"main","dest":"r","repo":"https://example.com/r.git","depth":1,"commit":"0123456789abcdef0123456789abcdef01234567"}`)).
			twin("clone_full"),
		jsonRow("header", valid, "a result and a message", `{"abi":1,"count":0,"result":{"digest":"`+digestText+`","source":"https://example.com/m.git","version":"2.0.0"},"messages":[{"text":"take care","level":"warn"}]}`+"\n").
			twin("header_full"),
		jsonRow("entries", valid, "a list", `{"abi":1,"count":0,"result":{"entries":[{"name":"m","source":"https://example.com/m.git","version":"1.0.0","description":"does m"}]}}`+"\n").
			twin("entries_full"),
		jsonRow("resolved", valid, "a digest in a result", `{"abi":1,"count":0,"result":{"digest":"`+digestText+`","source":"https://example.com/m.git","version":"1.0.0"}}`+"\n").
			twin("resolved_full"),
		jsonRow("scan", valid, "findings", `{"abi":1,"count":0,"result":{"verdict":"warn","findings":[{"path":"a.sh","rule":"r1","text":"bad","severity":"high"}]}}`+"\n").
			twin("scan_full"),
		request(jsonRow("request", valid, "every key that there is", jsonReq)).twin("request_full"),
		request(jsonRow("request_spaced", valid, "white space, another order of keys, no newline",
			` { "extension" : {"version":"0.1.0","name":"claude-code"},`+"\t"+`"action":"search" , "abi":1 }`)).twin("request_minimal").spelled(),

		jsonRow("crlf", valid, "lines may end with CR LF", strings.ReplaceAll(jsonHead1+jsonDelete, "\n", "\r\n")).twin("delete_full").spelled(),
		jsonRow("no_last_newline", valid, "the last newline is optional", strings.TrimSuffix(jsonHead1+jsonDelete, "\n")).twin("delete_full").spelled(),
		jsonRow("spaced", valid, "white space between tokens", jsonHead1+" {\t\"op\" : \"delete\" ,\"path\":\"old\" } \n").twin("delete_full").spelled(),
		jsonRow("key_order", valid, "keys in any order", one(`{"path":"old","op":"delete"}`)).twin("delete_full").spelled(),
		jsonRow("escapes", valid, "escapes, a surrogate pair", one(`{"op":"delete","path":"\u006f\u006c\u0064"}`)).twin("delete_full").spelled(),
		jsonRow("escapes_all", valid, "as an encoder spells them", value(`"\"\\/\b\f\n\r\t\u0000\u001f\u007f`+"\u2028\U0001f600"+`"`)).spelled(),
		jsonRow("escapes_minimal", valid, "escaped is what JSON demands, and no more", value(`"\"\\/\b\f\n\r\t\u0000\u001f`+"\x7f\u2028\U0001f600"+`"`)),
		jsonRow("surrogate_pair", valid, "U+1F600", value(`"\ud83d\ude00"`)).spelled(),

		jsonRow("truncated", "truncated", "ends within a line", `{"abi":1,"cou`),
		jsonRow("truncated_string", "truncated", "ends within an escape", `{"abi":1,"count":0,"messages":[{"text":"\u00`),
		jsonRow("truncated_content", "truncated", "ends within a content", jsonHead1+`{"op":"write","mode":"0644","path":"a","content_base64":"AAAA`),
		jsonRow("truncated_intents", "truncated", "a cut-off plan shows: count says 1", jsonHead1),
		jsonRow("truncated_crlf", "truncated", "a carriage return and no line feed", strings.TrimSuffix(jsonHead0, "\n")+"\r"),
		jsonRow("trailing_line", "trailing", "an intent more than count says", jsonHead0+jsonDelete),
		jsonRow("trailing_newline", "trailing", "an empty line after the last", jsonHead0+"\n"),
		jsonRow("trailing_space", "trailing", "white space after the last line", jsonHead0+" "),
		request(jsonRow("request_trailing", "trailing", "a second line", jsonReq+"{}\n")),
		jsonRow("two_on_a_line", "malformed", "two values on a line", `{"abi":1,"count":0} {}`+"\n"),
		jsonRow("empty_line", "malformed", "an empty line before the intent", jsonHead1+"\n"+jsonDelete),
		jsonRow("value_over_lines", "malformed", "an object over two lines", "{\"abi\":1,\n\"count\":0}\n"),
		jsonRow("carriage_return", "malformed", "a carriage return that ends no line", "{\"abi\":1,\r\"count\":0}\n"),
		jsonRow("byte_order_mark", "malformed", "a byte order mark", "\ufeff"+jsonHead0),
		jsonRow("comment", "malformed", "JSON has no comments", `{"abi":1,/**/"count":0}`+"\n"),
		jsonRow("trailing_comma", "malformed", "a comma before the end", `{"abi":1,"count":0,}`+"\n"),
		jsonRow("trailing_comma_array", "malformed", "a comma before the end", value(`[1,]`)),
		jsonRow("missing_comma", "malformed", "no comma", `{"abi":1 "count":0}`+"\n"),
		jsonRow("missing_colon", "malformed", "no colon", `{"abi" 1,"count":0}`+"\n"),
		jsonRow("single_quotes", "malformed", "quotes of the wrong kind", `{'abi':1,"count":0}`+"\n"),
		jsonRow("bare_word", "malformed", "no such literal", value(`True`)),
		jsonRow("control_in_string", "malformed", "a tab in a string", value("\"\t\"")),
		jsonRow("bad_escape", "malformed", "no such escape", value(`"\x41"`)),
		jsonRow("bad_unicode_escape", "malformed", "no hexadecimal digits", value(`"\u00zz"`)),
		jsonRow("leading_zero", "malformed", "a number with a leading zero", value(`01`)),
		jsonRow("plus_sign", "malformed", "a number with a plus sign", value(`+1`)),
		jsonRow("minus_alone", "malformed", "a number without digits", value(`-`)),
		jsonRow("nan", "malformed", "no number", value(`NaN`)),
		jsonRow("key_number", "malformed", "a key that is no string", `{1:1}`+"\n"),

		jsonRow("float", "float", "a fraction", value(`1.5`)),
		jsonRow("float_integral", "float", "a fraction of zero is still one", `{"abi":1,"count":0.0}`+"\n"),
		jsonRow("exponent", "float", "an exponent", value(`1e2`)),
		jsonRow("negative_zero", "float", "no integer is -0", value(`-0`)),
		jsonRow("int_max", valid, "2^63 - 1", value(`9223372036854775807`)).twin("value_int_max"),
		jsonRow("int_min", valid, "-2^63", value(`-9223372036854775808`)).twin("value_int_min"),
		jsonRow("int_over", "value", "2^63", value(`9223372036854775808`)),
		jsonRow("int_huge", "value", "forty digits", value(strings.Repeat("9", 40))),
		jsonRow("int_under", "value", "-2^63 - 1", value(`-9223372036854775809`)),

		jsonRow("duplicate_key", "duplicate-key", "a key twice", `{"abi":1,"count":0,"abi":1}`+"\n"),
		jsonRow("duplicate_key_escaped", "duplicate-key", "a key twice, spelled differently", `{"abi":1,"count":0,"\u0061bi":1}`+"\n"),
		jsonRow("duplicate_key_value", "duplicate-key", "within a value", value(`{"a":1,"b":2,"a":1}`)),
		jsonRow("duplicate_content", "duplicate-key", "a content twice", write(`"content":"a","content":"b"`)),
		jsonRow("content_both", "exclusive", "content in both spellings", write(`"content":"a","content_base64":"YQ=="`)),
		jsonRow("content_and_module", "exclusive", "two places to take bytes from", write(`"content":"a","module":"m"`)),
		jsonRow("content_number", "type", "a content that is no string", write(`"content":1`)),
		jsonRow("base64_number", "type", "a content that is no string", write(`"content_base64":1`)),
		jsonRow("base64_unpadded", "value", "padding is due", write(`"content_base64":"YQ"`)),
		jsonRow("base64_url", "value", "the other alphabet", write(`"content_base64":"_-8="`)),
		jsonRow("base64_newline", "value", "a line feed within", write(`"content_base64":"YWFh\nYWFh"`)),
		jsonRow("base64_bits", "value", "bits left over are not zero", write(`"content_base64":"YR=="`)),
		jsonRow("base64_padding_within", "value", "padding before the end", write(`"content_base64":"YQ==YQ=="`)),
		jsonRow("base64_of_delete", "unknown-key", "a content where none is due", one(`{"op":"delete","path":"a","content_base64":""}`)),
		jsonRow("unknown_key", "unknown-key", "a key that this map does not have", one(`{"op":"delete","path":"a","force":true}`)),
		jsonRow("key_case", "unknown-key", "case counts", one(`{"op":"delete","Path":"a"}`)),
		jsonRow("missing_key", "missing-key", "a path is due", one(`{"op":"delete"}`)),
		jsonRow("null", "null", "null, not left out", `{"abi":1,"count":0,"messages":null}`+"\n"),
		jsonRow("null_intent", "null", "an intent is null", one(`null`)),
		jsonRow("type_header", "type", "the header is no object", "[]\n"),
		jsonRow("type_path", "type", "a path is text", one(`{"op":"delete","path":1}`)),
		jsonRow("mode_number", "type", "a mode is a string of four digits", mode(`420`)),
		jsonRow("mode_three_digits", "value", "a mode has four digits", mode(`"644"`)),
		jsonRow("mode_not_octal", "value", "8 is no octal digit", mode(`"0648"`)),
		jsonRow("mode_prefix", "value", "no prefix", mode(`"0o644"`)),
		jsonRow("mode_setuid", "value", "permission bits alone", mode(`"4755"`)),
		jsonRow("digest_upper", "value", "digests are lower case", write(`"expect":"`+strings.ToUpper(digestText)+`","content":""`)),
		jsonRow("digest_short", "value", "63 digits", one(`{"op":"fetch","url":"u","dest":"d","digest":"`+digestText[1:]+`","method":"GET"}`)),
		jsonRow("digest_number", "type", "a digest is text", one(`{"op":"fetch","url":"u","dest":"d","digest":1,"method":"GET"}`)),
		jsonRow("version", "version", "a version to come", `{"abi":2,"count":0}`+"\n"),
		jsonRow("op_unknown", "value", "no such op", one(`{"op":"chmod","path":"a"}`)),
		request(jsonRow("request_order", "order", "inputs out of order", strings.Replace(jsonReq, "b.json", "a.aaaa", 1))),

		jsonRow("utf8", "invalid-utf8", "a string that is not UTF-8", value("\"\xff\"")),
		jsonRow("utf8_surrogate_high", "invalid-utf8", "half of a surrogate pair", value(`"\ud83d"`)),
		jsonRow("utf8_surrogate_low", "invalid-utf8", "half of a surrogate pair", value(`"\ude00"`)),
		jsonRow("utf8_surrogate_pair_wrong", "invalid-utf8", "two first halves", value(`"\ud83d\ud83d"`)),
		jsonRow("utf8_content", "invalid-utf8", "a content that is no text must be base64", write("\"content\":\"\xff\"")),
		jsonRow("utf8_content_cut", "invalid-utf8", "a sequence cut off by the end of the string", write("\"content\":\"\xe2\x82\"")),

		jsonRow("depth_9", "depth", "an array within seven", value(strings.Repeat("[", 6)+strings.Repeat("]", 6))),
		jsonRow("depth_8", valid, "as deep as it goes", value(strings.Repeat("[", 5)+strings.Repeat("]", 5))),
		jsonRow("depth_100000", "depth", "D01: refused without growing the stack", strings.Repeat("[", 100000)),
		jsonRow("limit_plan_over", "limit-plan", "a plan of 48 bytes", jsonHead1+jsonDelete).limit("plan=48"),
		jsonRow("limit_plan_met", valid, "a plan of 49 bytes", jsonHead1+jsonDelete).limit("plan=49").twin("delete_full"),
		jsonRow("limit_intents_over", "limit-intents", "an intent too many", jsonHead1+jsonDelete+jsonDelete).limit("intents=1").head(2),
		jsonRow("limit_content_over", "limit-content", "six bytes", jsonHead1+jsonWrite).limit("content=5"),
		jsonRow("limit_content_met", valid, "six bytes", jsonHead1+jsonWrite).limit("content=6").twin("write_full"),
		jsonRow("limit_content_base64", "limit-content", "three bytes", write(`"content_base64":"//4A"`)).limit("content=2"),
		jsonRow("limit_item_over", "limit-item", "bytes of the item in CBOR", value(`"`+strings.Repeat("x", 200)+`"`)).limit("item=200"),
		jsonRow("limit_messages_over", "limit-messages", "two messages", `{"abi":1,"count":0,"messages":[{"text":"a","level":"info"},{"text":"b","level":"info"}]}`+"\n").
			limit("messages=1"),
	}
}

// head changes how many intents the header of a JSON plan says.
func (v vector) head(count int) vector {
	v.text = strings.Replace(v.text, `"count":1`, `"count":`+string(rune('0'+count)), 1)
	return v
}
