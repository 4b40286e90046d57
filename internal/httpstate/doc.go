// Package httpstate keeps a state behind Terraform's HTTP state protocol, which GitLab and others serve: it is [state.Objects] in one
// document. It must not know what is in the objects, and it prints nothing.
//
// The document is what a server of that protocol takes for a state without resources; planform's objects stand in it as texts. Each write
// takes the server's lock, reads the document, checks the version of the object, writes the document and gives the lock back: so the
// server's lock is held for a moment only, and what several runs agree on is in the document. A lock of planform
// that stays the same for [stuckTime] belongs to a run that died between two of these requests. It is taken away, and a late write under it is
// refused by the server. A lock of another program is left, and reported as [state.LockedError].
//
// TF_HTTP_USERNAME and TF_HTTP_PASSWORD are the credential; TF_HTTP_LOCK_ADDRESS, TF_HTTP_UNLOCK_ADDRESS, TF_HTTP_LOCK_METHOD and
// TF_HTTP_UNLOCK_METHOD say how to lock where that is not as usual. The credential goes to the host of the state only.
package httpstate
