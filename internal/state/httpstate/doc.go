// Package httpstate keeps a state on a server of Terraform's HTTP state protocol, such as GitLab. It implements [state.Objects] in one
// document. It must not know what the objects hold, and it prints nothing.
//
// To the server the document looks like a Terraform state without resources; planform's objects are texts in it. Each write takes the
// server's lock, reads the document, checks the version of the object, writes the document and releases the lock. So the server's lock is
// held only for a moment, and the document itself holds the lease on which runs agree. A lock of planform that stays the same for
// [stuckTime] belongs to a run that died between two of these requests. It is released, and the server refuses a late write under it. A
// lock of another program is left, and reported as [state.LockedError].
//
// TF_HTTP_USERNAME and TF_HTTP_PASSWORD hold the credential. TF_HTTP_LOCK_ADDRESS, TF_HTTP_UNLOCK_ADDRESS, TF_HTTP_LOCK_METHOD and
// TF_HTTP_UNLOCK_METHOD change how the lock is taken and released. The credential goes only to the host of the state.
package httpstate
