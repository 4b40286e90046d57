package sandbox

// whyLeft says why a mismatch with the real server is left as it is, or "".
func whyLeft(*mismatch) string { return "" }
