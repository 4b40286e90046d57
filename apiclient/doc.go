// Package apiclient speaks HTTP with the service: authentication, paging, rate
// limit, retries, and errors that say what became of a request.
//
// [New] checks the configuration, [Client.Do] makes one call of a
// [resource.Operation], [Client.List] and [Client.All] read a list to its end, and
// [Client.Read] reads whatever a read shows. A Client may be used from any number
// of goroutines; they share connections and the rate limit.
//
// What the package guarantees:
//
//   - The credential goes to the configured host and no other, and never over
//     plain http to another machine unless that is asked for. It is in no error,
//     no event and no log line.
//   - A write is sent a second time only if it is certain that the first did
//     nothing, or if the operation says that repeating it is harmless. Every
//     failed write says by its [Effect] what may have happened.
//   - No redirect is followed by itself. One to the same address with or without
//     a trailing slash is answered by sending the same method and body there.
//   - A list is complete or an error. One that is changed while it is read may
//     lack what was moved, as with every service that pages by position.
//   - After [Client.Stop], and once the service cannot be reached however often it
//     is tried, nothing is sent any more.
//   - Nothing is unbounded: bodies, nesting, pages, rows, waits and attempts all have a limit.
//
// # What net/http re-sends by itself
//
// [http.Transport] repeats a request on a new connection without telling, if a
// kept-alive connection broke, in two cases: nothing at all was written and the
// body can be rewound (GetBody), or the request is "replayable", which means GET,
// HEAD, OPTIONS, TRACE or a request with an Idempotency-Key header. Over HTTP/2 it
// would also repeat, without end, what the peer declines with REFUSED_STREAM, GOAWAY
// or PROTOCOL_ERROR; the last of these does not prove that nothing was done. The
// package therefore speaks HTTP/1.1 only. It sends no Idempotency-Key (the service ignores it) and
// gives no request a GetBody, so that a body which has been touched is never sent
// again by the transport; a write without a body is one that may be repeated.
// Reads may be repeated, which is harmless.
//
// The package must not know files, manifests, plans or what is printed where.
package apiclient
