package abi

// Right says which ops one kind of extension may use for one action.
type Right struct {
	Kind   Kind
	Action string
	Ops    []Op
	Result bool // the answer carries a result
}

// Rights is the table of what each kind may do (SPEC.md, "Kinds and actions"). What has no row is refused.
var Rights = []Right{
	{Kind: KindTarget, Action: "install", Ops: []Op{OpWrite, OpEdit, OpDelete, OpRename}},
	{Kind: KindTarget, Action: "uninstall", Ops: []Op{OpWrite, OpEdit, OpDelete, OpRename}},
	{Kind: KindSource, Action: "fetch", Ops: []Op{OpFetch, OpClone, OpWrite}},
	{Kind: KindCatalog, Action: "search", Result: true},
	{Kind: KindCatalog, Action: "resolve", Result: true},
	{Kind: KindCatalog, Action: "list", Result: true},
	{Kind: KindScan, Action: "scan", Result: true},
}

// RightOf returns the row for a kind and an action.
func RightOf(k Kind, action string) (Right, bool) {
	for _, r := range Rights {
		if r.Kind == k && r.Action == action {
			return r, true
		}
	}
	return Right{}, false
}
