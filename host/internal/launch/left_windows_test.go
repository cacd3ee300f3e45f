package launch

import (
	"os"
	"testing"
)

func openDescriptors() int { return 0 }

func children() int { return 0 }

func leakDescriptor(*testing.T) int { return 0 }

func warmUp() {}

func descriptorPath(*os.File) string { return "" }
