package launch

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The test binary is its own child: started with "child" as its first argument it does what the second one names. So the
// same tests run wherever the test binary itself runs, emulated platforms included.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		os.Exit(childMain(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// patience bounds what must not hang, generously: emulated machines are slow.
const patience = 2 * time.Minute

// pattern is a reader of n bytes that are the same each time and repeat with no short period.
type pattern struct {
	n, at int64
}

func (p *pattern) Read(b []byte) (int, error) {
	if p.at == p.n {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), p.n-p.at)]
	for i := range b {
		x := p.at + int64(i)
		b[i] = byte(x ^ x>>8 ^ x>>16)
	}
	p.at += int64(len(b))
	return len(b), nil
}

// sum counts bytes and takes a checksum of them.
type sum struct {
	n   int64
	crc uint32
}

func (s *sum) Write(b []byte) (int, error) {
	s.n += int64(len(b))
	s.crc = crc32.Update(s.crc, crc32.IEEETable, b)
	return len(b), nil
}

func (s *sum) String() string { return fmt.Sprintf("%d bytes, checksum %08x", s.n, s.crc) }

func sumOf(n int64) string {
	var s sum
	_, _ = io.Copy(&s, &pattern{n: n})
	return s.String()
}

// childMain is the child: it answers on stdout and says on stderr what it read.
func childMain(mode string, args []string) int {
	number := func(i int) int64 {
		n, err := strconv.ParseInt(args[i], 10, 64)
		if err != nil {
			panic(err)
		}
		return n
	}
	donated := func(name string) *os.File {
		for _, arg := range args {
			if n, ok := strings.CutPrefix(arg, name+"="); ok {
				fd, err := strconv.ParseUint(n, 10, 64)
				if err != nil {
					panic(err)
				}
				return os.NewFile(uintptr(fd), name)
			}
		}
		panic("no donation " + name)
	}
	read := func() {
		var s sum
		_, _ = io.Copy(&s, os.Stdin)
		fmt.Fprint(os.Stderr, &s)
	}
	write := func(n int64) { _, _ = io.Copy(os.Stdout, &pattern{n: n}) }
	forever := func() {
		for {
			time.Sleep(time.Hour)
		}
	}
	switch mode {
	case "read-write":
		read()
		write(number(0))
	case "write-read":
		write(number(0))
		read()
	case "both":
		done := make(chan bool)
		go func() { write(number(0)); done <- true }()
		read()
		<-done
	case "copy":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "never": // reads nothing, writes nothing, does not end
		forever()
	case "close": // reads nothing, and answers
		_ = os.Stdin.Close()
		write(number(0))
	case "messages": // many small writes
		for range number(0) {
			fmt.Printf("%0*d", int(number(1)), 7)
		}
	case "flood":
		stream := os.Stdout
		if args[0] == "stderr" {
			stream = os.Stderr
		}
		buf := make([]byte, 4096)
		for {
			if _, err := stream.Write(buf); err != nil {
				return 9
			}
		}
	case "stderr":
		_, _ = io.Copy(os.Stderr, &pattern{n: number(0)})
	case "exit":
		return int(number(0))
	case "about": // says what it was given
		dir, _ := os.Getwd()
		fmt.Printf("args=%q\nenv=%q\ndir=%q\nfds=%v\n", os.Args[3:], os.Environ(), dir, inheritedDescriptors())
	case "donated":
		data, err := io.ReadAll(donated("in"))
		fmt.Printf("%s %v", data, err)
		_, err = donated("out").WriteString("from the child")
		fmt.Printf(" %v", err)
	case "parent": // leaves a grandchild that holds stdout and stderr, and ends when its stdin does
		cmd := exec.Command(os.Args[0], "child", args[0], args[1])
		cmd.Stdin, cmd.Stdout, cmd.Stderr = donated("life"), os.Stdout, os.Stderr
		ownSession(cmd)
		fmt.Print("answered")
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		return 0
	case "hold":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "middle": // runs a leaf that has no other reason to end than its lifeline, until it is killed
		result, err := Run(context.Background(), Spec{
			Path: os.Args[0], Args: []string{"child", "leaf"}, Env: os.Environ(), KeepStdin: true, Request: strings.NewReader("x"),
			Deadline: patience, Donate: []Donation{{"alive", donated("alive")}},
		})
		fmt.Println(result, err)
	case "leaf":
		alive := donated("alive")
		buf := make([]byte, 1)
		if _, err := io.ReadFull(os.Stdin, buf); err != nil {
			return 3
		}
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		_, _ = alive.Write(buf)
		forever()
	case "lifeline": // ends when its stdin does, which must not be before it has answered
		buf := make([]byte, 3)
		_, err := io.ReadFull(os.Stdin, buf)
		fmt.Printf("%s %v", buf, err)
		_ = os.Stdout.Close()
		if _, err := os.Stdin.Read(buf); err != io.EOF {
			return 4
		}
		return 5
	default:
		panic("no mode " + mode)
	}
	return 0
}
