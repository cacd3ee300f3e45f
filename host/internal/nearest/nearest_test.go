package nearest

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	known := []string{"name", "version", "kind", "writes", "reads", "run_as", "net.http", "net.git"}
	for word, want := range map[string]string{
		"write": "writes", "wirtes": "writes", "Writes": "writes", "WRITES": "writes", "read": "reads", "nmae": "name", "runas": "run_as", "net.https": "net.http",
		"net:git": "net.git", "versoin": "version", "name": "name",
		"": "", "x": "", "permissions": "", "netgear": "", strings.Repeat("n", 1000): "",
	} {
		got, ok := Of(word, known)
		if ok != (want != "") || got != want {
			t.Errorf("Of(%.20q) = %q, %v, want %q", word, got, ok, want)
		}
	}
	if got, ok := Of("a", nil); ok {
		t.Errorf("of nothing: got %q", got)
	}
}
