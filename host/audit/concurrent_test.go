package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/root"
)

const (
	processes = 8
	each      = 200
)

// TestManyProcesses: eight processes append two hundred records each. One chain holds them all, each process's in its order.
func TestManyProcesses(t *testing.T) {
	const variable = "LOLA_TEST_AUDIT_APPEND"
	o := audit.Options{MaxFile: 64 << 10, Quota: 4 << 20, Wait: 5 * time.Minute}
	if job := os.Getenv(variable); job != "" { // a child
		name, home, _ := strings.Cut(job, " ")
		l := at(t, home, o, nil)
		for i := range each {
			if _, err := l.Append(t.Context(), audit.Record{Event: audit.EventPlan, Transaction: name, Action: fmt.Sprintf("a%d", i)}); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	outputs := make([]string, processes)
	errs := make([]error, processes)
	var all sync.WaitGroup
	for p := range processes {
		all.Go(func() {
			child := exec.CommandContext(t.Context(), program, "-test.run=^TestManyProcesses$")
			child.Env = append(os.Environ(), fmt.Sprintf("%s=p%d %s", variable, p, home))
			out, err := child.CombinedOutput()
			outputs[p], errs[p] = string(out), err
		})
	}
	all.Wait()
	for p, err := range errs {
		if err != nil && strings.Contains(err.Error(), "exec format error") {
			t.Skip("this system cannot start programs of its own kind: an emulator runs the test alone")
		}
		if err != nil {
			t.Fatalf("process %d: %v\n%s", p, err, outputs[p])
		}
	}
	l := at(t, home, o, nil)
	head, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r := verify(t, l, head); !r.OK() || r.First != 1 || r.Files < 3 || r.TornCount != 0 {
		t.Errorf("report: %+v, broken %v", r, r.Broken)
	}
	next := map[string]int{}
	for rec, err := range l.Read(t.Context(), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Event != audit.EventPlan {
			continue
		}
		if want := fmt.Sprintf("a%d", next[rec.Transaction]); rec.Action != want {
			t.Fatalf("record %d of %s is %s, want %s", rec.Seq, rec.Transaction, rec.Action, want)
		}
		next[rec.Transaction]++
	}
	for p := range processes {
		if n := next[fmt.Sprintf("p%d", p)]; n != each {
			t.Errorf("process %d has %d records", p, n)
		}
	}
}

// TestManyGoroutines: one Log, used at once for writing, reading and verifying, while files are dropped.
func TestManyGoroutines(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{MaxFile: 2 << 10, Quota: 8 << 10, Wait: 5 * time.Minute, Now: time.Now}, nil)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 50 {
				if _, err := l.Append(t.Context(), small(i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
		all.Go(func() {
			for range 20 {
				head, err := l.Head(t.Context())
				if err != nil {
					t.Error(err)
				}
				r, err := l.Verify(t.Context(), audit.VerifyOptions{})
				if err != nil || !r.OK() || r.Head.Seq < head.Seq || r.TornCount != 0 {
					t.Errorf("verifying beside writers: %+v, %v, %v", r, r.Broken, err)
				}
			}
		})
	}
	all.Wait()
	n := 0
	for _, text := range files(t, home) {
		n += len(text)
	}
	if r := verify(t, l, audit.Head{}); !r.OK() || r.Head.Seq < 200 || n > 9<<10 {
		t.Errorf("afterwards: %+v, %v, %d bytes", r, r.Broken, n)
	}
}

// TestReadIsOfOneMoment: a reader sees the log as it was when it began, also when all of its files have gone since, and
// keeps no writer waiting.
func TestReadIsOfOneMoment(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{MaxFile: 1 << 10, Quota: 4 << 10, Wait: 10 * time.Second}, nil)
	appendN(t, l, 6, small)
	before := verify(t, l, audit.Head{})
	old := files(t, home)
	n, last := int64(0), uint64(0)
	for rec, err := range l.Read(t.Context(), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			appendN(t, l, 40, small)
			for name := range old {
				if _, err := os.Stat(filepath.Join(home, "audit", name)); err == nil {
					t.Fatalf("%s is still there", name)
				}
			}
		}
		n, last = n+1, rec.Seq
	}
	if n != before.Records || last != before.Head.Seq {
		t.Errorf("%d records were read, the last %d; want %d, %d", n, last, before.Records, before.Head.Seq)
	}
}

// TestLockIsWaitedForInBounds: who cannot have the lock says so in time, and says on what it waited.
func TestLockIsWaitedForInBounds(t *testing.T) {
	home := t.TempDir()
	release, inside := make(chan struct{}), make(chan struct{})
	var once sync.Once
	holder := at(t, home, audit.Options{}, func(op root.Op) error {
		if op.Kind == root.OpWrite {
			once.Do(func() { close(inside); <-release })
		}
		return nil
	})
	done := make(chan error)
	go func() {
		_, err := holder.Append(context.Background(), small(1))
		done <- err
	}()
	<-inside
	l := at(t, home, audit.Options{Wait: 100 * time.Millisecond}, nil)
	cause := errors.New("the user pressed a key")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for what, call := range map[string]func(context.Context) error{
		"Append": func(ctx context.Context) error { _, err := l.Append(ctx, small(2)); return err },
		"Head":   func(ctx context.Context) error { _, err := l.Head(ctx); return err },
		"Verify": func(ctx context.Context) error { _, err := l.Verify(ctx, audit.VerifyOptions{}); return err },
		"Read": func(ctx context.Context) error {
			for _, err := range l.Read(ctx, audit.Filter{}) {
				return err
			}
			return nil
		},
	} {
		start := time.Now()
		err := call(t.Context())
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another process holds its lock") || !strings.Contains(err.Error(), fmt.Sprintf("%q", l.Path())) {
			t.Errorf("%s while the lock is held: %v", what, err)
		}
		if took := time.Since(start); took < 90*time.Millisecond || took > 20*time.Second {
			t.Errorf("%s gave up after %v", what, took)
		}
		if err := call(ended); !errors.Is(err, cause) {
			t.Errorf("%s with an ended context: %v", what, err)
		}
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	head, err := l.Append(ended, small(2)) // nobody holds it: there is nothing to wait for
	if err != nil {
		t.Error(err)
	}
	holds(t, l, 2, head)
}
