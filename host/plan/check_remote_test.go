package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/plan"
)

func fetch(url string) abi.Intent { return abi.Fetch{URL: url, Method: "GET", Dest: "d/f"} }

func clone(repo, ref string) abi.Intent { return abi.Clone{Repo: repo, Ref: ref, Dest: "d/c"} }

// TestG03G05URLs: what a fetch or a clone names is a URL with a host, and no option, line or credential.
func TestG03G05URLs(t *testing.T) {
	r := openTree(t, nil)
	lim := limits(t, abi.Limits{})
	for _, url := range []string{
		"https://example.com", "https://example.com/", "https://example.com:8443/a/b.tar.gz?x=1", "https://EXAMPLE.com/a%20b", "https://xn--bcher-kva.example/", "https://[2001:db8::1]/x",
	} {
		for _, in := range []abi.Intent{fetch(url), clone(url, "main")} {
			if found := findings(t, r, lim, gets(t, in)); found != nil {
				t.Errorf("%s %q: found %+v", in.Op(), url, found)
			}
		}
	}
	for _, url := range []string{
		"", "http://example.com/", "HTTPS://example.com/", "ftp://example.com/", "file:///etc/passwd", "git://example.com/r", "ext::sh -c x", "example.com/x", "//example.com/x",
		"https:///evil/x", "https://", "https://:443/", "https:example.com", "https://user@example.com/", "https://user:pw@example.com/", "https://@example.com/",
		"https://example.com/\n", "https://example.com/\x00", "https://exa\tmple.com/", "https://example.com/a b", "https://b\u00fccher.example/", "https://example.com\\@evil.example/",
		"--upload-pack=x", "-x://example.com/", "https://-oProxyCommand=x/", "https://example.com:port/", "https://[::1/", "https://example.com/%zz", "git@example.com:r.git", " https://example.com/",
	} {
		for _, in := range []abi.Intent{fetch(url), clone(url, "main")} {
			if found := findings(t, r, lim, gets(t, in)); !hasRule(found, plan.RuleURL) {
				t.Errorf("%s %q: found %v, want %q", in.Op(), url, rulesOf(found), plan.RuleURL)
			}
		}
	}
	for url, ok := range map[string]bool{
		"ssh://example.com/r": true, "ssh://git@example.com/r.git": true, "ssh://git:pw@example.com/r": false, "ssh://-oProxyCommand=x@example.com/r": false,
		"ssh://-oProxyCommand=x/r": false, "ssh://a%20b@example.com/r": false, "ssh:///r": false,
	} {
		if found := findings(t, r, lim, gets(t, clone(url, "main"))); (found == nil) != ok {
			t.Errorf("clone %q: found %v, want it accepted: %v", url, rulesOf(found), ok)
		}
		if found := findings(t, r, lim, gets(t, fetch(url))); !hasRule(found, plan.RuleURL) {
			t.Errorf("fetch %q: found %v, want %q", url, rulesOf(found), plan.RuleURL)
		}
	}
	for ref, ok := range map[string]bool{
		"main": true, "v1.2.3": true, "feature/x": true, "refs/heads/main": true, strings.Repeat("a", 40): true,
		"": false, "-x": false, "--upload-pack=x": false, "a..b": false, "a b": false, "a~1": false, "a^": false, "a:b": false, "a\n": false, "@{u}": false, "a*": false, "a\u202e": false,
	} {
		if found := findings(t, r, lim, gets(t, clone("https://example.com/r", ref))); (found == nil) != ok || !ok && !hasRule(found, plan.RuleRef) {
			t.Errorf("ref %q: found %v, want it accepted: %v", ref, rulesOf(found), ok)
		}
	}
	for _, in := range []abi.Fetch{
		{Method: "POST"}, {Method: ""}, {Method: "GET", Headers: []abi.HTTPHeader{{Name: "a b", Value: "x"}}}, {Method: "GET", Headers: []abi.HTTPHeader{{Name: "A", Value: "x\r\nB: y"}}},
		{Method: "GET", Headers: []abi.HTTPHeader{{Value: "x"}}},
	} {
		in.URL, in.Dest = "https://example.com/", "d/f"
		if found := findings(t, r, lim, gets(t, in)); !hasRule(found, plan.RuleURL) {
			t.Errorf("%+v: found %v, want %q", in, rulesOf(found), plan.RuleURL)
		}
	}
}

// TestP21RemoteGrants: an extension reaches the hosts that were granted, and one that reads files only URLs that stand
// somewhere literally.
func TestP21RemoteGrants(t *testing.T) {
	r := openTree(t, nil)
	for _, tt := range []struct {
		caps, reads string
		in          abi.Intent
		urls        string
		ok          bool
	}{
		{"", "", fetch("https://example.com/a"), "", false},
		{"net.http", "", fetch("https://example.com/a"), "", true},
		{"net.git", "", fetch("https://example.com/a"), "", false},
		{"net.git", "", clone("https://example.com/a", "main"), "", true},
		{"net.http", "", clone("https://example.com/a", "main"), "", false},
		{"net.http:example.com", "", fetch("https://EXAMPLE.com/a"), "", true},
		{"net.http:example.com", "", fetch("https://example.com.evil.example/a"), "", false},
		{"net.http:example.com/a", "", fetch("https://example.com/a/b"), "", true},
		{"net.http:example.com/a", "", fetch("https://example.com/ab"), "", false},
		{"net.http", "**/*.md", fetch("https://example.com/a"), "", false},
		{"net.http", "**/*.md", fetch("https://example.com/a"), "https://example.com/a", true},
		{"net.http", "**/*.md", fetch("https://example.com/a?q=secret"), "https://example.com/a", false},
		{"net.git", "**/*.md", clone("https://example.com/a", "main"), "https://example.com/a", true},
	} {
		p := gets(t, tt.in)
		p.Grant = granted(t, grant.Rights{Writes: []string{"**"}, Capabilities: strings.Fields(tt.caps), Reads: strings.Fields(tt.reads)})
		p.URLs = strings.Fields(tt.urls)
		found := findings(t, r, limits(t, abi.Limits{}), p)
		if (found == nil) != tt.ok || !tt.ok && !hasRule(found, plan.RuleRemoteNotGranted) {
			t.Errorf("%+v: found %v, want it accepted: %v", tt, rulesOf(found), tt.ok)
		}
	}
}

// TestRemoteSteps: a fetch and a clone are judged, shown, and said to be out of this version's reach.
func TestRemoteSteps(t *testing.T) {
	r := openTree(t, map[string]string{"d/f": "mine", "d/c/x": "", "d/old": "old"})
	lim := limits(t, abi.Limits{})
	c, err := plan.Check(r, plan.Options{Limits: lim}, gets(t, fetch("https://example.com/a"), abi.Clone{Repo: "ssh://git@example.com/r", Ref: "main", Dest: "d/n/c"}))
	if err != nil {
		t.Fatal(err)
	}
	got := c.Steps()
	if outline(got) != "fetch d/f; clone d/n/c" || got[0].Remote.URL != "https://example.com/a" || got[1].Remote.URL != "ssh://git@example.com/r" || got[1].Remote.Ref != "main" {
		t.Errorf("the steps are %q: %+v", outline(got), got)
	}
	if len(got[0].Foreign) != 1 || !got[0].Before.Exists || len(got[1].Foreign) != 0 {
		t.Errorf("%+v, want the fetched file's foreign and the clone not", got)
	}
	var refused *plan.RefusedError
	if err := c.Unsupported(); !errors.As(err, &refused) || len(refused.Findings) != 2 || !hasRule(refused.Findings, plan.RuleOpUnsupported) || refused.Findings[0].Fix == "" {
		t.Errorf("Unsupported: %v, want both", err)
	}
	for name, in := range map[string][]abi.Intent{
		"a clone over a directory": {clone("https://example.com/r", "main")}, "a clone over a file": {abi.Clone{Repo: "https://example.com/r", Ref: "m", Dest: "d/old"}},
		"a fetch over a directory": {abi.Fetch{URL: "https://example.com/", Method: "GET", Dest: "d/c"}},
	} {
		if found := findings(t, r, lim, gets(t, in...)); !hasRule(found, plan.RuleInTheWay) {
			t.Errorf("%s: found %v, want %q", name, rulesOf(found), plan.RuleInTheWay)
		}
	}
	for name, in := range map[string][]abi.Intent{
		"two fetches to one path": {fetch("https://example.com/a"), fetch("https://example.com/b")}, "a write into a clone": {clone("https://example.com/r", "main"), write("d/c/y", "")},
	} {
		if found := findings(t, r, lim, gets(t, in...)); !hasRule(found, plan.RuleSamePath) && !hasRule(found, plan.RuleNestedPath) {
			t.Errorf("%s: found %v, want a conflict", name, rulesOf(found))
		}
	}
	for _, dest := range []string{"", "e", "D", "d/f/x"} {
		p := gets(t, fetch("https://example.com/a"))
		p.Destination = dest
		if found := findings(t, r, lim, p); !hasRule(found, plan.RuleDestination) {
			t.Errorf("destination %q: found %v, want %q", dest, rulesOf(found), plan.RuleDestination)
		}
	}
	if c, err := plan.Check(r, plan.Options{Limits: lim}, installs(t, "x", write("a", ""))); err != nil || c.Unsupported() != nil {
		t.Errorf("Check: %v; a write is called unsupported: %v", err, c.Unsupported())
	}
}
