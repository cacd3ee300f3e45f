package policy

import (
	"math"
	"time"
)

// Limit is one bound of a process, by the name of getrlimit(2) without RLIMIT_.
type Limit struct {
	Name       string
	Soft, Hard uint64 // bytes, seconds or a count
}

const (
	// dataSlack is what the child may have beside twice the guest's memory: code and what it is made from. Go's own bound,
	// at which it collects garbage, must stay below it, or a child dies that only had to tidy up.
	dataSlack = 1 << 30
	// stored is the most bytes of a file of compiled code. The largest in sight has 17 MB for a module of 4 MB.
	stored = 512 << 20
	// descriptors is how many a child may have open: 0 to 2, a module, a folder, what Go's runtime opened when it started,
	// its poller, and one file at a time. What is open already stays open whatever its number.
	descriptors = 64
	// cpuMargin is what a child may use beyond the deadline, which counts from outside: while garbage is collected several
	// processors work for it. The deadline is what ends a child; this is for when nobody is there to keep it.
	cpuMargin = 2 * time.Second
	cpuFactor = 4
)

// Limits returns the bounds of a child with so much guest memory, that is given so much time. 0 for cpu: no bound on it.
//
// Go survives these. It does not survive: NOFILE 0 before its poller runs; a bound on AS, since it reserves more than it
// uses; NPROC, which counts threads of the whole user, and for root is not looked at. Authority: getrlimit(2).
func Limits(stage Stage, memory int64, cpu time.Duration) []Limit {
	same := func(name string, n uint64) Limit { return Limit{name, n, n} }
	size := uint64(0)
	if stage == Store {
		size = stored
	}
	limits := []Limit{
		same("CORE", 0), // a core file would hold request and plan, and be a file
		same("FSIZE", size),
		same("NOFILE", descriptors),
		same("DATA", uint64(min(max(memory, 0), math.MaxInt64/4))*2+dataSlack),
	}
	if cpu > 0 {
		// At the soft one Go's runtime gets a signal that it ignores. The hard one kills.
		seconds := uint64((min(cpu, math.MaxInt64/4)*cpuFactor + cpuMargin + time.Second - 1) / time.Second)
		limits = append(limits, Limit{"CPU", seconds, seconds + 1})
	}
	return limits
}
