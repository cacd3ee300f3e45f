package plan

import (
	"net/url"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
)

// badURL judges the form of what a fetch or a clone names: https, or ssh for a repository, a host, no password, no user but
// ssh's, and nothing but the visible ASCII characters that RFC 3986 has. A name with other letters is written in its xn--
// form. Where the host may lead is judged when it is dialled, again at each redirect.
func badURL(s *said) []Finding {
	dest := first(s.paths)
	switch in := s.in.(type) {
	case abi.Fetch:
		if why := urlForm(in.URL, "https"); why != "" {
			return when(true, dest, "the URL %q %s", in.URL, why)
		}
		if in.Method != "GET" && in.Method != "HEAD" {
			return when(true, dest, "the method %q is neither GET nor HEAD", in.Method)
		}
		for _, h := range in.Headers {
			if h.Name == "" || strings.IndexFunc(h.Name, notToken) >= 0 || strings.IndexFunc(h.Value, isControl) >= 0 {
				return when(true, dest, "the header %q is no header of one line", h.Name)
			}
		}
	case abi.Clone:
		if why := urlForm(in.Repo, "https", "ssh"); why != "" {
			return when(true, dest, "the repository %q %s", in.Repo, why)
		}
	}
	return nil
}

func notToken(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// urlForm says what is wrong with a URL, "" if nothing is.
func urlForm(text string, schemes ...string) string {
	if strings.HasPrefix(text, "-") {
		return "begins with a dash, which a program would take for an option"
	}
	if strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) >= 0 {
		return "holds a character that no URL has"
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || !slices.Contains(schemes, scheme) {
		return "does not begin with " + strings.Join(schemes, ":// or ") + "://"
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is no URL"
	case u.Hostname() == "" || strings.HasPrefix(rest, "/") || strings.HasPrefix(u.Hostname(), "-"):
		return "names no host"
	case u.User != nil && scheme != "ssh":
		return "carries a user's name"
	case u.User != nil && hasPassword(u.User):
		return "carries a password"
	case u.User != nil && (u.User.Username() == "" || strings.IndexFunc(u.User.Username(), notToken) >= 0 || strings.HasPrefix(u.User.Username(), "-")):
		return "carries a user's name of a form that no server asks for"
	}
	return ""
}

func hasPassword(u *url.Userinfo) bool { _, has := u.Password(); return has }

// badRef holds the ref of a clone to what git takes for one (git-check-ref-format), and to no option.
func badRef(s *said) []Finding {
	in, ok := s.in.(abi.Clone)
	if !ok {
		return nil
	}
	bad := in.Ref == "" || strings.HasPrefix(in.Ref, "-") || strings.ContainsAny(in.Ref, " ~^:?*[\\") || strings.Contains(in.Ref, "..") ||
		strings.Contains(in.Ref, "@{") || strings.IndexFunc(in.Ref, func(r rune) bool { return isControl(r) || isInvisible(r) }) >= 0
	return when(bad, in.Dest, "%q is no ref", in.Ref)
}

// ungrantedURL holds what a fetch or a clone names against the grant.
func ungrantedURL(s *said) []Finding {
	text, may := "", s.grant.MayFetch
	switch in := s.in.(type) {
	case abi.Fetch:
		text = in.URL
	case abi.Clone:
		text, may = in.Repo, s.grant.MayClone
	default:
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil: // another rule's
		return nil
	case !may(strings.ToLower(u.Hostname()), u.EscapedPath()):
		return when(true, first(s.paths), "%q is not covered by the grant (%s)", text, granted(s.grant))
	case s.grant.LiteralURLsOnly() && !slices.Contains(s.URLs, text):
		return when(true, first(s.paths), "the extension reads files, so it may name only URLs that its manifest, its parameters or the command line say literally, and %q is none", text)
	}
	return nil
}
