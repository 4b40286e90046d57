// Package apiclient speaks HTTP with the service: authentication, paging, rate
// limit, retries, and errors that say what effect a request may have had.
//
// [New] checks the configuration, [Client.Do] makes one call of a
// [resource.Operation], [Client.List] reads a list to its end and [Client.Pages] page by
// page, [Client.Bulk] makes one call for many rows, and [Client.Read] reads a list or an
// object by its path. A Client is safe for concurrent use; all calls share connections and
// the rate limit. [Client.Upload] and [Client.Fetch] exchange files with the store to which
// the service leads, beside the limit and without the credential.
//
// Both versions of the service's API are spoken; the operation's path says which. Nothing
// in v2 is guessed: an answer that is not as documented is [ErrUndocumented].
//
// It guarantees:
//
//   - The credential goes to the configured host only, and over plain http to another
//     machine only if that is asked for. It is in no error, event or log line.
//     Neither are the signatures with which the service leads to a store of files.
//   - No store of files is used that is nearer to this machine than the service: on loopback, in
//     the local segment, in a private network. The address counts to which its name resolves.
//   - A write is sent again only if the first request certainly had no effect, if the service
//     says so (429, or 503 with Retry-After), or if the operation is idempotent. Before a create
//     is repeated because something else than the service's own throttle said so, the caller can
//     look ([Request.Again]). The [Effect] of a failed write says what may have happened.
//   - No redirect is followed, except that a request is repeated with the same method and
//     body if only the trailing slash of the path differs.
//   - A list is complete or an error. If the list changes while it is read, rows that
//     moved may be missing where the service pages by position, as v1 does.
//   - A bulk request is an error, or each of its rows was done, or has an error.
//   - No ID in an answer is anything but a UUID, and an answer about another object than the
//     one in the path is an error.
//   - After [Client.Stop], and once the service cannot be reached in spite of all
//     retries, nothing is sent any more.
//   - The body of an answer ends with its context, and no other protocol is switched to.
//   - Bodies, nesting, pages, rows, waits and attempts all have a limit.
//
// # Requests that net/http repeats by itself
//
// If a kept-alive connection breaks, [http.Transport] silently repeats a request on a
// new one in two cases: nothing was written and the body can be rewound (GetBody), or
// the request is "replayable", which means GET, HEAD, OPTIONS, TRACE or an
// Idempotency-Key header. Over HTTP/2 it also repeats, without end, requests that the
// peer declines with REFUSED_STREAM, GOAWAY or PROTOCOL_ERROR; the last of these does
// not prove that nothing was done. So the package speaks HTTP/1.1 only, sends no
// Idempotency-Key (the service ignores it), and gives no request a GetBody: the
// transport never repeats a body that it has begun to send. Every write without a body
// is idempotent, and repeating a read is harmless.
//
// The package must not know files, manifests, plans or output.
package apiclient
