package grant

import (
	"fmt"
	"strings"

	"github.com/lola-ext/lola/host/internal/nearest"
)

// Capability is a right that is not about paths. The zero value is none. Its text is as [ParseCapability] takes it.
type Capability struct {
	Name string // one of the constants
	// Host and Prefix narrow [NetHTTP] and [NetGit]: one host by its exact name, and on it what lies beneath a path. Empty: any.
	Host   string
	Prefix string // components with slashes, none at either end
}

// The capabilities.
const (
	SymlinkReplace = "symlink:replace" // a write may take the place of a symlink
	NetHTTP        = "net.http"        // the host may be asked to fetch by https
	NetGit         = "net.git"         // the host may be asked to clone
	// Unconfined runs the extension without the walls around its process. A manifest cannot ask for it: the user grants it.
	Unconfined = "unconfined"
)

// capabilities lists what is known, in the order in which it is shown.
var capabilities = []struct {
	name string
	host bool // may be narrowed to a host
}{{Unconfined, false}, {SymlinkReplace, false}, {NetHTTP, true}, {NetGit, true}}

// maxHost and maxPrefix bound the parts of a network capability, in bytes: a DNS name (RFC 1035, 2.3.4), and a path that a
// person still reads.
const (
	maxHost   = 253
	maxPrefix = 512
)

// ParseCapability reads a capability as a manifest writes it: its name, and for the network ones optionally ":HOST" or
// ":HOST/PREFIX". A host is lower-case ASCII (names in other scripts as punycode), no address, no port, no wildcard. What is
// not known is an error, since it cannot be held to.
func ParseCapability(s string) (Capability, error) {
	for _, c := range capabilities {
		if s == c.name {
			return Capability{Name: c.name}, nil
		}
		rest, ok := strings.CutPrefix(s, c.name+":")
		if !ok || !c.host {
			continue
		}
		host, prefix, narrowed := strings.Cut(rest, "/")
		if err := checkHost(host); err != nil {
			return Capability{}, fmt.Errorf("capability %q: host %q: %w", s, host, err)
		}
		if narrowed {
			if err := checkPrefix(prefix); err != nil {
				return Capability{}, fmt.Errorf("capability %q: path %q: %w", s, prefix, err)
			}
		}
		return Capability{Name: c.name, Host: host, Prefix: prefix}, nil
	}
	names := make([]string, len(capabilities))
	for i, c := range capabilities {
		names[i] = c.name
	}
	word := s
	if i := strings.LastIndexByte(s, ':'); i > 0 && !strings.HasPrefix(s, "symlink") {
		word = s[:i]
	}
	if hint, ok := nearest.Of(word, names); ok {
		return Capability{}, fmt.Errorf("capability %q is not known; did you mean %q", s, hint)
	}
	return Capability{}, fmt.Errorf("capability %q is not known; known are %s", s, strings.Join(names, ", "))
}

func checkHost(host string) error {
	switch {
	case host == "":
		return fmt.Errorf("is empty; leave out the colon for any host")
	case len(host) > maxHost:
		return fmt.Errorf("%d bytes, want at most %d", len(host), maxHost)
	case strings.ContainsRune(host, '*'):
		return fmt.Errorf("wildcards are not supported; name each host")
	case strings.ContainsAny(host, "[:@"):
		return fmt.Errorf("want a name alone, without port, user or address")
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		switch {
		case l == "":
			return fmt.Errorf("has an empty label")
		case len(l) > 63:
			return fmt.Errorf("the label %q has %d bytes, want at most 63", l, len(l))
		case l[0] == '-' || l[len(l)-1] == '-':
			return fmt.Errorf("the label %q begins or ends with a hyphen", l)
		}
		for i := range len(l) {
			switch c := l[i]; {
			case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
			case c >= 'A' && c <= 'Z':
				return fmt.Errorf("want lower case, %q", strings.ToLower(host))
			case c >= 0x80:
				return fmt.Errorf("want ASCII; write names in other scripts as punycode (xn--…)")
			default:
				return fmt.Errorf("%q is not allowed in a name", c)
			}
		}
	}
	// What ends with a number is read as an IPv4 address somewhere (WHATWG URL, "ends in a number checker"): 127.1, 0x7f.1.
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return fmt.Errorf("is an address, or is read as one; want a name")
	}
	return nil
}

func checkPrefix(prefix string) error {
	if len(prefix) > maxPrefix {
		return fmt.Errorf("%d bytes, want at most %d", len(prefix), maxPrefix)
	}
	for c := range strings.SplitSeq(prefix, "/") {
		if c == "" || c == "." || c == ".." {
			return fmt.Errorf("has a component %q; want components with one slash between them and none at the end", c)
		}
		for i := range len(c) {
			if !plainPathByte(c[i]) {
				return fmt.Errorf("%q is not allowed; want letters, digits and - . _ ~ @ + , =", c[i])
			}
		}
	}
	return nil
}

// plainPathByte holds for the bytes of a URL path that mean the same to every server, and never begin an escape, a parameter,
// a query or a fragment.
func plainPathByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("-._~@+,=", b) >= 0
}

// String returns the capability as it was parsed.
func (c Capability) String() string {
	s := c.Name
	if c.Host != "" {
		s += ":" + c.Host
	}
	if c.Prefix != "" {
		s += "/" + c.Prefix
	}
	return s
}

// covers reports whether whoever has c may do all that d is for.
func (c Capability) covers(d Capability) bool {
	switch {
	case c.Name != d.Name:
		return false
	case c.Host == "":
		return true
	case c.Host != d.Host:
		return false
	}
	return c.Prefix == "" || d.Prefix == c.Prefix || strings.HasPrefix(d.Prefix, c.Prefix+"/")
}

// reaches reports whether the capability takes in a path on a host. Where a prefix counts, a path that a server could read
// another way (escapes, parameters, empty and dot components) is not beneath it.
func (c Capability) reaches(name, host, path string) bool {
	if c.Name != name || host == "" || c.Host != "" && c.Host != host {
		return false
	}
	if c.Prefix == "" {
		return true
	}
	path = strings.TrimPrefix(path, "/")
	if path != c.Prefix && !strings.HasPrefix(path, c.Prefix+"/") {
		return false
	}
	return checkPrefix(strings.TrimSuffix(path, "/")) == nil
}

// words says what the capability lets an extension do, to go after "may".
func (c Capability) words() string {
	from := "from any public host"
	if c.Host != "" {
		from = "from " + strings.TrimPrefix(Capability{Host: c.Host, Prefix: c.Prefix}.String(), ":")
	}
	switch c.Name {
	case Unconfined:
		return "run without confinement: it can do whatever you can"
	case SymlinkReplace:
		return "put a file in the place of a symlink, where it may write"
	case NetHTTP:
		return "have files fetched " + from
	case NetGit:
		return "have repositories cloned " + from
	}
	return "do nothing"
}
