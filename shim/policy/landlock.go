package policy

// Rights are sets of Landlock's rights, by the names of linux/landlock.h without their prefixes.
type Rights struct {
	Version int      // the version of Landlock's ABI that brought them
	Files   []string // LANDLOCK_ACCESS_FS_
	Net     []string // LANDLOCK_ACCESS_NET_
	Scopes  []string // LANDLOCK_SCOPE_
	Closes  string   // what is open without them, for a person
}

// landlockVersions is what each version of Landlock's ABI can take away. All of it is taken away. Versions that bring no
// right have no row. Authority: the kernel's Documentation/userspace-api/landlock.rst.
var landlockVersions = []Rights{
	{Version: 1, Files: []string{
		"EXECUTE", "WRITE_FILE", "READ_FILE", "READ_DIR", "REMOVE_DIR", "REMOVE_FILE",
		"MAKE_CHAR", "MAKE_DIR", "MAKE_REG", "MAKE_SOCK", "MAKE_FIFO", "MAKE_BLOCK", "MAKE_SYM",
	}},
	{Version: 2, Files: []string{"REFER"}}, // without it no file moves to another folder, whatever is handled
	{Version: 3, Files: []string{"TRUNCATE"}, Closes: "cutting files short"},
	{Version: 4, Net: []string{"BIND_TCP", "CONNECT_TCP"}, Closes: "TCP"},
	{Version: 5, Files: []string{"IOCTL_DEV"}, Closes: "control of devices that are open already"},
	{Version: 6, Scopes: []string{"ABSTRACT_UNIX_SOCKET", "SIGNAL"}, Closes: "abstract Unix sockets, signals to your other processes"},
	{Version: 9, Files: []string{"RESOLVE_UNIX"}, Closes: "Unix sockets in the file system"},
	{Version: 10, Net: []string{"BIND_UDP", "CONNECT_SEND_UDP"}, Closes: "UDP"},
}

// LandlockThreads is the version from which on one call confines all threads of a process.
const LandlockThreads = 8

// LandlockScopes is the version that scopes signals. A kernel that has it with its second erratum keeps the threads of
// one process from signalling each other, which Go's scheduler does: there the scopes of that version are left out.
const LandlockScopes = 6

// LandlockErratum is that erratum, as its bit in what the kernel says it fixed.
const LandlockErratum = 1 << 1

// Handled returns all rights that a version can take away, in the order of the versions.
func Handled(version int) Rights {
	all := Rights{Version: version}
	for _, v := range landlockVersions {
		if v.Version <= version {
			all.Files = append(all.Files, v.Files...)
			all.Net = append(all.Net, v.Net...)
			all.Scopes = append(all.Scopes, v.Scopes...)
		}
	}
	return all
}

// FolderRights returns the rights to files that stay within the one folder of a stage, none for a stage without one.
func FolderRights(stage Stage) []string {
	switch stage {
	case Store:
		return []string{"READ_FILE", "READ_DIR", "WRITE_FILE", "TRUNCATE", "MAKE_REG", "MAKE_DIR", "REMOVE_FILE"}
	case Load:
		return []string{"READ_FILE", "READ_DIR"}
	default:
		return nil
	}
}
