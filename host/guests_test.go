package host_test

import (
	"bytes"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/testwasm"
)

// One behaviour gives one plan, in whichever language it is written.
func TestGuestsOfAllLanguagesAgree(t *testing.T) {
	text := []byte("text\n")
	request := &abi.Request{
		Action: "install", Extension: abi.Identity{Name: "echo", Version: "1.0.0"}, Scope: abi.ScopeProject,
		Params: map[string]abi.Param{"flag": true, "n": int64(-7), "word": "wörter"},
		Module: &abi.Module{Identity: abi.Identity{Name: "m", Version: "0.1.0"}, Digest: abi.DigestOf(nil), Files: []abi.File{
			{Path: "commands/a.md", Mode: 0o644, Size: int64(len(text)), Digest: abi.DigestOf(text), Content: text},
			{Path: "skills/s/run.sh", Mode: 0o755, Size: 1 << 20, Digest: abi.DigestOf([]byte("x"))},
		}},
	}
	r, err := runner.New(runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plans := map[testwasm.Language][]byte{}
	for _, l := range testwasm.Languages() {
		reply, err := r.Run(t.Context(), runner.Module{Name: string(l), Bytes: testwasm.Module(t, string(l)+"/echo")}, request, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Plan.Intents) < 2 || len(reply.Plan.Messages) == 0 {
			t.Errorf("%s: the plan says little: %+v", l, reply.Plan)
		}
		var b bytes.Buffer
		if err := (wire.Options{}).EncodePlan(&b, reply.Plan); err != nil {
			t.Fatal(err)
		}
		plans[l] = b.Bytes()
	}
	if !bytes.Equal(plans[testwasm.Go], plans[testwasm.Rust]) {
		t.Errorf("the plans differ:\n%q\n%q", plans[testwasm.Go], plans[testwasm.Rust])
	}
}
