package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/host/audit"
)

// session is a command at a terminal of its own, as a person has it.
type session struct {
	t    *testing.T
	user *os.File
	cmd  *exec.Cmd

	mu     sync.Mutex
	seen   bytes.Buffer  // guarded by mu; what is on the screen
	read   int           // guarded by mu; how much of it was expected already
	closed chan struct{} // when the terminal has ended
}

// atTerminal starts lola with the terminal as its standard streams and controlling terminal.
func atTerminal(t *testing.T, args ...string) *session {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { user.Close() })
	fd := int(user.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 200, Col: 120}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	s := &session{t: t, user: user, closed: make(chan struct{})}
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Args = append([]string{"lola"}, args...) // by that name this binary is the command
	s.cmd.Env = append(os.Environ(), "NO_COLOR=1", "TERM=xterm")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	go func() {
		defer close(s.closed)
		buf := make([]byte, 4096)
		for {
			n, err := user.Read(buf)
			s.mu.Lock()
			s.seen.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

// expect waits until a text is on the screen behind what was expected before.
func (s *session) expect(text string) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		i := strings.Index(s.seen.String()[s.read:], text)
		if i >= 0 {
			s.read += i + len(text)
		}
		all := s.seen.String()
		s.mu.Unlock()
		if i >= 0 {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%q is not on the screen: %q", text, all)
		}
	}
}

func (s *session) press(keys string) {
	s.t.Helper()
	if _, err := s.user.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the command and returns its exit code and all that was on the screen.
func (s *session) end() (int, string) {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		s.t.Fatal("it does not end")
	}
	select { // what it printed last may still be on its way: nobody has the terminal open any more, so reading ends behind it
	case <-s.closed:
	case <-time.After(time.Minute):
		s.t.Fatal("the terminal stays open")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmd.ProcessState.ExitCode(), s.seen.String()
}

// terminalScene is a module that makes something run, with a file in the way of it, and a project.
func terminalScene(t *testing.T) (mod, project string, put func(path, text string)) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("LOLA_HOME", filepath.Join(dir, "home"))
	put = func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("mod/skills/s/SKILL.md", "text\n")
	put("mod/mcps.json", `{"mcpServers": {"srv": {"command": "one"}}}`)
	put("project/mine", "mine\n")
	return filepath.Join(dir, "mod"), filepath.Join(dir, "project"), put
}

func mustSnapshot(t *testing.T, dir string) string {
	t.Helper()
	tree, err := snapshot(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

const trustQuestion = "make that run by itself, now and whenever it is installed again? [y/N] "

// TestConsentAtTerminal: what runs is shown and asked about; only a yes is one, it is kept for that digest, and another
// digest is asked about again.
func TestConsentAtTerminal(t *testing.T) {
	mod, project, put := terminalScene(t)
	before := mustSnapshot(t, project)
	for name, c := range map[string]struct {
		keys string
		code int
		last string
	}{
		"n":              {"n\n", exitConsent, "lola: hint: nothing was changed"},
		"nothing":        {"\n", exitConsent, "lola: hint: nothing was changed"},
		"another word":   {"yess\n", exitConsent, "lola: hint: nothing was changed"},
		"end of input":   {"\x04", exitConsent, "lola: hint: nothing was changed"},
		"interrupted":    {"\x03", exitFailed, "lola: hint: interrupted; nothing was changed"},
		"half, then end": {"y\x04\x03", exitFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := atTerminal(t, "install", mod, "-a", "claude-code", "--project", project)
			s.expect("makes this run by itself")
			s.expect(`"command": "one"`)
			s.expect(trustQuestion)
			s.press(c.keys)
			code, screen := s.end()
			if code != c.code || !strings.Contains(screen, c.last) {
				t.Errorf("exit code %d, want %d with %q: %q", code, c.code, c.last, screen)
			}
			if after := mustSnapshot(t, project); after != before {
				t.Errorf("the project was\n%s\nis\n%s", before, after)
			}
		})
	}
	if t.Failed() {
		return
	}
	install := []string{"install", mod, "-a", "claude-code", "--project", project}
	s := atTerminal(t, install...)
	s.expect(trustQuestion)
	s.press("y\n")
	if code, screen := s.end(); code != exitOK || !strings.Contains(screen, "installed for claude-code") {
		t.Fatalf("y: exit code %d: %q", code, screen)
	}
	if code, _, errs := lola(t, "uninstall", "mod", "--project", project); code != exitOK {
		t.Fatal(errs)
	}
	if after := mustSnapshot(t, project); after != before {
		t.Errorf("the project was\n%s\nis\n%s", before, after)
	}

	// It is kept: not asked again, nor where there is no terminal.
	s = atTerminal(t, install...)
	if code, screen := s.end(); code != exitOK || strings.Contains(screen, "[y/N]") {
		t.Errorf("a second time: exit code %d: %q", code, screen)
	}
	if code, _, errs := lola(t, "undo", "--project", project); code != exitOK {
		t.Fatal(errs)
	}
	if code, _, errs := lola(t, install...); code != exitOK {
		t.Errorf("without a terminal: exit code %d: %s", code, errs)
	}

	// Another digest is another module.
	put("mod/mcps.json", `{"mcpServers": {"srv": {"command": "two"}}}`)
	installed := mustSnapshot(t, project)
	s = atTerminal(t, install...)
	s.expect(`"command": "two"`)
	s.expect(trustQuestion)
	s.press("n\n")
	if code, screen := s.end(); code != exitConsent {
		t.Errorf("another digest: exit code %d: %q", code, screen)
	}
	if code, _, _ := lola(t, install...); code != exitConsent {
		t.Errorf("another digest, without a terminal: exit code %d", code)
	}
	if after := mustSnapshot(t, project); after != installed {
		t.Errorf("the project was\n%s\nis\n%s", installed, after)
	}
	var consents []string
	_, out, _ := lola(t, "log", "--json")
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"event":"`+string(audit.EventPlan)+`"`) && strings.Contains(line, `"kind":"trust"`) {
			_, how, _ := strings.Cut(line, `"how":"`)
			how, _, _ = strings.Cut(how, `"`)
			consents = append(consents, how)
		}
	}
	if got := strings.Join(consents, " "); got != "asked stored stored" {
		t.Errorf("the log has the consents %q", got)
	}
}

// TestForeignAtTerminal: after the consent to what runs comes the question about what is overwritten, and each has its own
// answer. --yes answers the second alone.
func TestForeignAtTerminal(t *testing.T) {
	mod, project, put := terminalScene(t)
	put("project/.claude/skills/s/SKILL.md", "my own\n")
	before := mustSnapshot(t, project)
	install := []string{"install", mod, "-a", "claude-code", "--project", project}
	const foreign = "Overwrite, move or remove 1 path(s) that lola did not install? [y/N] "

	s := atTerminal(t, install...)
	s.expect("-my own")
	s.expect(trustQuestion)
	s.press("y\n")
	s.expect(foreign)
	s.press("n\n")
	if code, screen := s.end(); code != exitConsent || strings.Count(screen, "-my own") != 1 {
		t.Errorf("exit code %d, want %d and the preview once: %q", code, exitConsent, screen)
	}
	if after := mustSnapshot(t, project); after != before {
		t.Errorf("the project was\n%s\nis\n%s", before, after)
	}
	// A change that did not happen leaves no consent.
	if code, _, errs := lola(t, append(install, "--yes")...); code != exitConsent || !strings.Contains(errs, "--trust mod@sha256:") {
		t.Errorf("exit code %d: %s", code, errs)
	}

	s = atTerminal(t, append(install, "--yes")...)
	s.expect(trustQuestion)
	s.press("y\n")
	if code, screen := s.end(); code != exitOK || strings.Contains(screen, "Overwrite") {
		t.Errorf("--yes: exit code %d: %q", code, screen)
	}
}

// TestP24AtTerminal: what is changed while the question stands is seen after the answer.
func TestP24AtTerminal(t *testing.T) {
	mod, project, put := terminalScene(t)
	put("project/.mcp.json", "{}\n")
	s := atTerminal(t, "install", mod, "-a", "claude-code", "--project", project)
	s.expect(trustQuestion)
	put("project/.mcp.json", `{"mcpServers": {"srv": {"command": "mine"}}}`)
	before := mustSnapshot(t, project)
	s.press("y\n")
	if code, screen := s.end(); code != exitFailed || !strings.Contains(screen, `lola: error: ".mcp.json" changed since it was looked at`) {
		t.Errorf("exit code %d: %q", code, screen)
	}
	if after := mustSnapshot(t, project); after != before {
		t.Errorf("the project was\n%s\nis\n%s", before, after)
	}
	// Nor does a file that appears where one was to be made.
	put("project/.mcp.json", "{}\n")
	s = atTerminal(t, "install", mod, "-a", "claude-code", "--project", project)
	s.expect(trustQuestion)
	put("project/.claude/skills/s/SKILL.md", "mine\n")
	before = mustSnapshot(t, project)
	s.press("y\n")
	if code, screen := s.end(); code != exitFailed || !strings.Contains(screen, "changed since it was looked at") {
		t.Errorf("exit code %d: %q", code, screen)
	}
	if after := mustSnapshot(t, project); after != before {
		t.Errorf("the project was\n%s\nis\n%s", before, after)
	}
}

// TestHalfTerminal: without a terminal at both ends nobody is asked.
func TestHalfTerminal(t *testing.T) {
	mod, project, _ := terminalScene(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs strings.Builder
	if code := run(ctx, []string{"install", mod, "-a", "claude-code", "--project", project}, strings.NewReader("y\n"), &out, &errs); code != exitConsent || strings.Contains(errs.String(), "[y/N]") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
