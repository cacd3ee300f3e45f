package launch

import "testing"

func openDescriptors() int { return 0 }

func children() int { return 0 }

func leakDescriptor(*testing.T) int { return 0 }

func warmUp() {}
