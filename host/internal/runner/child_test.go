package runner

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/shim"
	"github.com/lola-ext/lola/shim/job"
)

// The test binary is its own child. A module that begins with "fake:" makes it a hostile one, which writes what that says;
// every other module is run by package shim.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == job.Command {
		if mode, ok := fakeMode(); ok {
			os.Exit(fake(mode))
		}
		shim.RunIfChild()
	}
	os.Exit(m.Run())
}

func fakeMode() (string, bool) {
	n, err := job.Donated(os.Args, job.Module)
	if err != nil {
		return "", false
	}
	// The descriptor stays open: package shim is to read it too.
	f := os.NewFile(n, "module")
	keep = f
	head := make([]byte, 64)
	k, _ := f.ReadAt(head, 0)
	return strings.CutPrefix(string(head[:k]), "fake:")
}

var keep *os.File // never collected, which would close the descriptor

// fakeModule is the module for a fake child.
func fakeModule(mode string) Module { return Module{Name: "evil", Bytes: []byte("fake:" + mode)} }

// fake is a child in which a guest has taken over.
func fake(mode string) int {
	out := bufio.NewWriter(os.Stdout)
	say := func(format string, args ...any) { fmt.Fprintf(out, format, args...) }
	done := func(status int) int {
		_ = out.Flush()
		return status
	}
	hello := string(job.Hello{Level: job.LevelNone}.Append(nil))
	status := func(body int) string { return string(job.Reply{Outcome: job.OK, Body: int64(body)}.Append(nil)) }
	plan := "\xa2\x63abi\x01\x65count\x00"
	fill := func(s string, n int) {
		for range n / len(s) {
			if _, err := out.WriteString(s); err != nil {
				os.Exit(1)
			}
		}
	}
	forever := func() {
		_ = out.Flush()
		for {
			time.Sleep(time.Hour)
		}
	}
	if level, ok := strings.CutPrefix(mode, "level "); ok {
		hello = string(job.Hello{Level: level, Landlock: 3}.Append(nil))
		say("%s", hello)
		_ = out.Flush()
		if head, err := bufio.NewReader(os.Stdin).ReadBytes('\n'); err != nil || !bytes.HasPrefix(head, []byte("lola-job/")) {
			return done(8)
		}
		mode = "level"
	}
	switch mode {
	case "level":
		say("%s%s", status(len(plan)), plan)
	case "two-answers":
		say("%s%s%s%s%s%s%s", hello, status(len(plan)), plan, status(len(plan)), plan, status(len(plan)), plan)
	case "lies-about-diagnostics":
		say("%s%s%s", hello, job.Reply{Outcome: job.OK, Body: int64(len(plan)), Written: 5}.Append(nil), plan)
		forever()
	case "huge-diagnostics":
		say("%s%s%s", hello, job.Reply{Outcome: job.OK, Body: int64(len(plan)), Written: 1 << 40}.Append(nil), plan)
	case "code-elsewhere":
		code := "lola-code/2 entry=../wazero-dev/" + strings.Repeat("ab", 32) + " size=1\n"
		say("%s%s%s", hello, status(len(code)), code)
	case "good":
		_, _ = io.CopyN(io.Discard, os.Stdin, 1) // what it leaves unread is no error
		say("%s%s%s", hello, status(len(plan)), plan)
	case "silent":
	case "silent-exit":
		return done(7)
	case "hello-only":
		say("%s", hello)
	case "hello-exit":
		say("%s", hello)
		return done(9)
	case "half-hello":
		say("%s", hello[:9])
	case "status-first":
		say("%s%s", status(0), hello)
	case "two-hellos":
		say("%s%s%s%s", hello, hello, status(len(plan)), plan)
	case "long-hello":
		say("lola-hello/2 level=")
		fill("a", job.MaxLine)
	case "no-line":
		say("%s", hello)
		fill("0123456789abcdef", 8<<20)
	case "other-status":
		say("%slola-reply/1 outcome=ok body=0 memory=0 written=0 dropped=0 cut=false text=\"\"\n", hello)
	case "json":
		say("%s{\"outcome\":\"ok\",\"body\":%d}\n%s", hello, len(plan), plan)
	case "json-bomb":
		say("%s", hello)
		fill(`{"a":[`, 30_000)
		say("\n")
	case "unknown-outcome":
		say("%s%s", hello, strings.Replace(status(0), "outcome=ok", "outcome=fine", 1))
	case "huge-body":
		say("%s%s%s", hello, strings.Replace(status(0), "body=0", "body=9223372036854775806", 1), plan)
	case "negative-body":
		say("%s%s%s", hello, strings.Replace(status(0), "body=0", "body=-1", 1), plan)
	case "body-over-limit":
		say("%s%s", hello, status(1<<20+1))
	case "failure-with-body":
		say("%slola-reply/2 outcome=trap body=11 memory=0 written=0 dropped=0 cut=false text=\"\"\n%s", hello, plan)
	case "failure-then-more":
		say("%s%s%s", hello, job.Reply{Outcome: job.Trap, Text: "x"}.Append(nil), plan)
	case "failure":
		say("%s%s", hello, job.Reply{Outcome: job.Internal, Text: "a\x1b[31m\nlola: error: b\u202e"}.Append(nil))
	case "plan-shorter":
		say("%s%s%s", hello, status(len(plan)+1), plan)
	case "plan-longer":
		say("%s%s%s", hello, status(len(plan)-1), plan)
	case "plan-and-more":
		say("%s%s%s\n", hello, status(len(plan)), plan)
	case "plan-and-flood":
		say("%s%s%s", hello, status(len(plan)), plan)
		fill("0123456789abcdef", 1<<30)
	case "empty-body":
		say("%s%s", hello, status(0))
	case "plan-then-trailing-item":
		say("%s%s%s\x00", hello, status(len(plan)+1), plan)
	case "nesting":
		say("%s%s", hello, status(100_000))
		fill("\x81", 100_000)
	case "lengths":
		say("%s%s\x9b\xff\xff\xff\xff\xff\xff\xff\xff", hello, status(9))
	case "flood":
		say("%s%s", hello, status(1<<20))
		fill("0123456789abcdef", 1<<30)
	case "stderr-flood":
		_, _ = os.Stderr.Write(bytes.Repeat([]byte("e"), 1<<20))
		say("%s%s%s", hello, status(len(plan)), plan)
	case "good-then-exit":
		say("%s%s%s", hello, status(len(plan)), plan)
		return done(5)
	case "never-closing":
		say("%s%s%s", hello, status(len(plan)), plan)
		forever()
	case "never-answering":
		forever()
	case "slow-half":
		say("%s%s%s", hello, status(len(plan)), plan[:4])
		forever()
	default:
		panic("no mode " + mode)
	}
	return done(0)
}
