package job

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEngine: code that is kept is known by the engine's version, so an upgrade must change it here too.
func TestEngine(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version, ok := strings.CutPrefix(Engine, "wazero ")
	if !ok || !strings.Contains(string(text), "\tgithub.com/tetratelabs/wazero v"+version+"\n") {
		t.Errorf("Engine is %q; go.mod has another version of wazero", Engine)
	}
}
