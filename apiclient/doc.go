// Package apiclient talks to the service over HTTP: authentication, paging, rate limit, retries, and errors that tell what effect a request
// may have had.
//
// [New] checks the configuration, [Client.Do] makes one call of a [resource.Operation], [Client.List] reads a whole list and [Client.Pages]
// one page at a time, [Client.Bulk] makes one call for many rows, and [Client.Read] reads a list or an object by its path. A Client is safe
// for concurrent use; all calls share connections and the rate limit. [Client.Upload] and [Client.Fetch] exchange files with the file store
// that the service names, outside the rate limit and without the credential.
//
// The package supports both versions of the service's API; the path of an operation decides. Nothing in v2 is guessed: an answer that is
// not as documented is [ErrUndocumented].
//
// It guarantees:
//
//   - The credential goes only to the configured host, and over plain http to another
//     machine only on request. No error, event or log line contains it, or the
//     signatures of addresses in a file store.
//   - No file store is used that is nearer to this machine than the service: on loopback,
//     in the local segment, or in a private network. The resolved address counts.
//   - A write is sent again only if the first request certainly had no effect, if the
//     service says so (429, or 503 with Retry-After), or if the operation is idempotent.
//     If something other than the service's own throttle said so, the caller can check
//     before a create is repeated ([Request.Again]). The [Effect] of a failed write tells
//     what may have happened.
//   - No redirect is followed. If only the trailing slash of the path differs, the request
//     is repeated with the same method and body.
//   - A list is complete, or there is an error. If the list changes while it is read, moved
//     rows may be missing if the service pages by position, as v1 does.
//   - A bulk request fails, or each of its rows was done or has an error.
//   - Every ID in an answer is a UUID, and an answer about another object than the one in
//     the path is an error.
//   - After [Client.Stop], and after the service could not be reached in spite of all
//     retries, nothing more is sent.
//   - The body of an answer ends with its context, and protocols are never switched.
//   - Bodies, nesting, pages, rows, waits and attempts are all limited.
//
// # Requests that net/http repeats by itself
//
// If a kept-alive connection breaks, [http.Transport] silently repeats a request on a new one in two cases: nothing was written and the
// body can be rewound (GetBody), or the request is "replayable": GET, HEAD, OPTIONS, TRACE, or with an Idempotency-Key header. Over HTTP/2
// it also repeats, without a limit, requests that the peer declines with REFUSED_STREAM, GOAWAY or PROTOCOL_ERROR, and the last of these
// does not prove that nothing was done. So the package uses only HTTP/1.1, sends no Idempotency-Key (the service ignores it), and gives
// requests no GetBody: the transport never repeats a body that it has begun to send. Every write without a body is idempotent, and
// repeating a read is harmless.
//
// The package must not know files, manifests, plans or output.
package apiclient
