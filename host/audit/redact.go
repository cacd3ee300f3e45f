package audit

import (
	"net/url"
	"strings"
)

// unreadable stands for what may be a URL and cannot be taken apart for certain: it could hold a credential anywhere.
const unreadable = "[unreadable URL]"

// RedactURL keeps scheme, host, port and path of a URL. User, password, query and fragment are left out, not masked: a
// mask would still tell their length. "git@host:path" becomes "ssh://host/path". What cannot be taken apart for certain is
// replaced whole.
func RedactURL(s string) string {
	if s == "" || s == unreadable {
		return s
	}
	if u, err := url.Parse(s); err == nil && u.Scheme != "" && u.Hostname() != "" && u.Opaque == "" && !strings.ContainsAny(s, "\\\r\n\t ") {
		return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	}
	// The form of scp, as git takes it. Nothing in it may be a query, and "data:..." is none.
	host, path, ok := strings.Cut(s, ":")
	_, after, user := strings.Cut(host, "@")
	if user {
		host = after
	}
	if !ok || !user && !strings.Contains(host, ".") || !hostName(host) || strings.ContainsAny(path, "@?#\\:") || strings.HasPrefix(path, "//") {
		return unreadable
	}
	return (&url.URL{Scheme: "ssh", Host: host, Path: "/" + strings.TrimPrefix(path, "/")}).String()
}

func hostName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return s != ""
}
