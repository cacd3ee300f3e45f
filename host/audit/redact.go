package audit

import (
	"net/url"
	"strings"
)

// unreadable stands for what may be a URL and cannot be taken apart for certain: it could hold a credential anywhere.
const unreadable = "[unreadable URL]"

// RedactURL keeps scheme, host, port and path of a URL. User, password, query and fragment are left out, not masked: a
// mask would still tell their length. "git@host:path" keeps host and path. What cannot be taken apart for certain is
// replaced whole.
func RedactURL(s string) string {
	if s == "" || s == unreadable {
		return s
	}
	if u, err := url.Parse(s); err == nil && u.Host != "" && u.Opaque == "" && !strings.ContainsAny(s, "\\\r\n\t ") {
		return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	}
	// The form of scp, as git takes it. Nothing in it may be a query.
	host, path, ok := strings.Cut(s, ":")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	if !ok || host == "" || strings.HasPrefix(path, "//") || strings.ContainsAny(host, "/?#\\") || strings.ContainsAny(path, "@?#\\:") {
		return unreadable
	}
	return host + ":" + path
}
