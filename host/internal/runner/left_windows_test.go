package runner

func childrenLeft() bool { return false }
