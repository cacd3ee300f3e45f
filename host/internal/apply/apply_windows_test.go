package apply_test

// platformSabotages: links need a right that users do not have, and there are no FIFOs.
func platformSabotages(bool) []sabotage { return nil }
