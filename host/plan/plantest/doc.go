// Package plantest holds host/plan, and what applies its plans, to a second reading of the specification, for tests alone:
//
//	pairs := plantest.Conflicts(proposals)          // every two intents that conflict, and the rule that they break
//	want, err := before.Apply(proposals, effects)   // what a plan without conflicts makes of a tree
//	diff := plantest.Diff(got, want)                // "" if the disk holds that
//
// [Conflicts] compares each intent with each other one, as SPEC section 5 words it, and is as slow as that sounds. It was
// written from the specification without a look at how host/plan finds conflicts, and must stay so: a fault of the one is
// then not a fault of the other. [Proposals] makes small plans full of near misses from random numbers or from the bytes
// of a fuzzer, [Shapes] make large ones for measuring, and [Tree] is a directory tree in memory.
//
// A property test of host/plan makes proposals, asks Check and the model, and compares two things: whether any finding is
// of a conflict rule, and which intents take part in one ([Participants]). It compares no pairs: if
// 65,536 intents touch one path there are two thousand million, so Check may name one partner for each intent. Findings of other
// rules are none of the model's business, but they must not hide a conflict. conflict_test.go is that test.
//
// The package does not judge paths: it takes those that [Proposals] makes and any other that host/plan would accept. It
// knows nothing of grants, kinds, links, limits or of what lies in a root. What may change: everything, as only tests
// import it.
package plantest
