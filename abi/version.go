package abi

// Version is the protocol version that this package describes and that requests and plans carry under "abi".
const Version = 1

// Versions says what each version of the protocol carries. A host refuses a version that has no row.
//
// # Upgrading to V1
//
// The first version; nothing to upgrade from. It freezes at the first release: until then a change to it is a change to
// SPEC.md, plan.cddl and the vectors in one commit.
var Versions = []VersionRow{
	{Version: 1, Ops: []Op{OpWrite, OpEdit, OpDelete, OpRename, OpFetch, OpClone}, Kinds: []Kind{KindTarget, KindSource, KindCatalog, KindScan}},
}

// VersionRow is one row of [Versions].
type VersionRow struct {
	Version int
	Ops     []Op
	Kinds   []Kind
}
