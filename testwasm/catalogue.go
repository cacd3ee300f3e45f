package testwasm

// Language is a programming language that guests are written in; it is the name of a folder too.
type Language string

// The languages.
const (
	Go   Language = "go"
	Rust Language = "rust"
)

// Languages lists all of them.
func Languages() []Language { return []Language{Go, Rust} }

// Behaviour is what a guest does, in the same way in every language.
type Behaviour struct {
	// Name is a folder below that of the language.
	Name string
	// Does completes the sentence "a guest that ...".
	Does string
	// Ends says what a host sees.
	Ends Ending
	// Param is the one parameter it obeys; empty: none.
	Param string
	// Values are what the parameter may be, if that is a list of texts.
	Values []string
}

// Ending is how a run ends if the host does its part.
type Ending string

// The endings.
const (
	EndsWithPlan   Ending = "plan"          // with a plan
	EndsByDeadline Ending = "deadline"      // the host kills it at the deadline
	EndsByMemory   Ending = "memory"        // by itself, when the memory ceiling stops it from growing
	EndsByExit     Ending = "exit"          // with proc_exit inside lola_run, an error whatever the status
	EndsByTrap     Ending = "trap"          // with a trap of the engine
	EndsRefused    Ending = "refused reply" // with a reply that the host refuses, or error text
)

// Behaviours lists all of them. Each is there in each language.
func Behaviours() []Behaviour {
	return []Behaviour{
		{Name: "echo", Does: "answers with a plan made of the request, the same bytes in every language", Ends: EndsWithPlan},
		{Name: "spin", Does: "never answers", Ends: EndsByDeadline},
		{Name: "hog", Does: "allocates and touches memory without bound", Ends: EndsByMemory},
		{Name: "lie", Does: "says of its reply what is not so", Ends: EndsRefused, Param: "lie", Values: Lies()},
		{Name: "exit", Does: "calls proc_exit in the middle of its answer, with a status of the host's choice", Ends: EndsByExit, Param: "code"},
		{Name: "trap", Does: "traps", Ends: EndsByTrap},
	}
}

// Lies lists what the parameter "lie" may be. Those with "error-" end with a status other than 0 and error text; all others
// with status 0.
func Lies() []string {
	return []string{
		"length",        // a length from a good pointer to far beyond memory
		"huge",          // 4 GiB less one byte, from 0
		"pointer",       // a short plan beyond memory
		"wrap",          // pointer and length whose sum wraps 32 bits
		"limit",         // 65 MiB that are there, over the plan limit
		"nothing",       // success, and no bytes
		"garbage",       // bytes that are no CBOR
		"count",         // a header that counts more intents than follow
		"trailing",      // a header that counts fewer
		"error-length",  // error text that reaches beyond memory
		"error-utf8",    // error text that is no UTF-8
		"error-control", // error text with controls, a CI command and a bidirectional override
	}
}

// Guest is one module.
type Guest struct {
	Language Language
	Behaviour
}

// ID is the guest's name for [Module], as in "go/echo".
func (g Guest) ID() string { return string(g.Language) + "/" + g.Name }

// Catalogue lists every guest: each behaviour in each language.
func Catalogue() []Guest {
	var all []Guest
	for _, l := range Languages() {
		for _, b := range Behaviours() {
			all = append(all, Guest{Language: l, Behaviour: b})
		}
	}
	return all
}
