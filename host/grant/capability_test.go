package grant

import (
	"strings"
	"testing"
)

func TestParseCapability(t *testing.T) {
	for text, want := range map[string]Capability{
		"symlink:replace":                   {Name: SymlinkReplace},
		"unconfined":                        {Name: Unconfined},
		"net.http":                          {Name: NetHTTP},
		"net.http:example.com":              {Name: NetHTTP, Host: "example.com"},
		"net.http:xn--bcher-kva.example":    {Name: NetHTTP, Host: "xn--bcher-kva.example"},
		"net.git:git.example.com/team/repo": {Name: NetGit, Host: "git.example.com", Prefix: "team/repo"},
		"net.git:localhost":                 {Name: NetGit, Host: "localhost"},
		"net.http:1e100.net/a.b_c~d@e+f":    {Name: NetHTTP, Host: "1e100.net", Prefix: "a.b_c~d@e+f"},
	} {
		got, err := ParseCapability(text)
		if err != nil || got != want {
			t.Errorf("ParseCapability(%q) = %+v, %v, want %+v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("%q is printed as %q", text, got)
		}
	}
}

func TestParseCapabilityRefuses(t *testing.T) {
	for text, hint := range map[string]string{
		"": "known are", "net": "known are", "net.htp": `"net.http"`, "net.https": `"net.http"`, "net.gti:example.com": `"net.git"`, "NET.HTTP": `"net.http"`,
		"exec": "known are", "symlink": "known are", "symlink:replace:x": "not known", "symlink:remove": "known", "unconfined:x": "unconfined", "uncofined": `"unconfined"`,
		"net.http:": "empty", "net.http:/x": "empty", "net.http:*.example.com": "wildcards", "net.http:*": "wildcards", "net.http:example.com:443": "port",
		"net.http:me@example.com": "user", "net.http:[::1]": "address", "net.http:127.0.0.1": "address", "net.http:2130706433": "address",
		"net.http:0177.0.0.1": "address", "net.http:127.1": "address", "net.http:0x7f.0x1": "address", "net.http:example.com.": "empty label", "net.http:.com": "empty label",
		"net.http:Example.com": `"example.com"`, "net.http:bücher.example": "punycode", "net.http:a_b.example": "not allowed", "net.http:-a.example": "hyphen",
		"net.http:a-.example": "hyphen", "net.http:" + strings.Repeat("a", 64): "at most 63", "net.http:" + strings.Repeat("a.", 200) + "a": "at most 253",
		"net.http:a.b/": "component", "net.http:a.b//x": "component", "net.http:a.b/x/": "component", "net.http:a.b/../x": "component", "net.http:a.b/./x": "component",
		"net.http:a.b/%2e%2e": "not allowed", "net.http:a.b/x?y": "not allowed", "net.http:a.b/x#y": "not allowed", "net.http:a.b/x;y": "not allowed",
		`net.http:a.b/x\y`: "not allowed", "net.http:a.b/*": "not allowed", "net.http: a.b": "not allowed", "net.http:a.b ": "not allowed", " net.http": "net.http",
		"net.http:a.b\x00": "not allowed", "net.http:https://a.b": "port", "net.http:a.b/" + strings.Repeat("x", 600): "at most 512",
	} {
		c, err := ParseCapability(text)
		if err == nil {
			t.Errorf("ParseCapability(%q) took %+v", text, c)
			continue
		}
		if !strings.Contains(err.Error(), hint) {
			t.Errorf("ParseCapability(%q): %v, which does not say %q", text, err, hint)
		}
	}
}

func TestReach(t *testing.T) {
	s, err := Parse(Rights{Capabilities: []string{"net.http:a.example/x/y", "net.git:b.example", "net.http:c.example"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, path string
		want       bool
	}{
		{"a.example", "/x/y", true}, {"a.example", "/x/y/", true}, {"a.example", "/x/y/z", true}, {"a.example", "x/y/z", true}, {"a.example", "/x", false},
		{"a.example", "/x/yz", false}, {"a.example", "/X/y", false}, {"a.example", "/x/y/../../z", false}, {"a.example", "/x/y/%2e%2e/z", false},
		{"a.example", "/x/y/..%2fz", false}, {"a.example", `/x/y/..\z`, false}, {"a.example", "/x/y/;/../z", false}, {"a.example", "/x/y//z", false},
		{"a.example", "//x/y", false}, {"a.example", "", false}, {"b.example", "/x", false}, {"c.example", "/anything/../at%2fall", true}, {"c.example", "", true},
		{"c.example.evil.example", "/", false}, {"evilc.example", "/", false}, {"", "/", false},
	} {
		if got := s.MayFetch(c.host, c.path); got != c.want {
			t.Errorf("MayFetch(%q, %q) = %v, want %v", c.host, c.path, got, c.want)
		}
	}
	if !s.MayClone("b.example", "/x") || s.MayClone("a.example", "/x/y") {
		t.Error("MayClone does not keep to net.git")
	}
	if s.LiteralURLsOnly() {
		t.Error("without reads any URL may be named")
	}
	any, err := Parse(Rights{Capabilities: []string{"net.http"}})
	if err != nil || !any.MayFetch("x.example", "/y") || any.MayClone("x.example", "/y") || any.MayFetch("", "/y") {
		t.Errorf("net.http alone: got %v, %v", any, err)
	}
	if (Set{}).MayFetch("a.example", "/") || (Set{}).MayReplaceSymlink() || (Set{}).MayRunUnconfined() || (Set{}).MayRead("a") {
		t.Error("the zero set allows something")
	}
}
