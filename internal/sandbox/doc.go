// Package sandbox is a Plane service on this machine: an HTTP server that behaves like a Plane workspace, to experiment
// with and to test against.
//
// # Fidelity
//
// It answers the twenty documented operations, and further reads and writes that a program needs for them, as a real server was seen to
// answer: the same status, the same shape of body, the same words in an error, the same silent drops. Its tests replay the recordings
// under testdata, and can play random sequences of requests to it and to a real server side by side:
//
//	go test ./internal/sandbox -run AnswersAsTheReal -real http://127.0.0.1:8000
//
// The edition [Community] was compared with such servers, of each of [Versions].
//
// A write is one transaction of an embedded store, and its answer is sent after the commit. A process that is killed at
// any moment leaves a store that opens and holds every answered write. Only a loss of power may lose the latest writes,
// because nothing is forced to the disk.
//
// Requests may come in parallel. Sequence numbers of work items are dense and unique within a project.
//
// Files of attachments go to a separate store, as in the real service: it has the same host, the path /uploads, and
// refuses requests with a credential of the service.
//
// # Response profiles
//
// [Observed] answers as the running server does. [Contract] answers as the documented contract says. It differs in statuses, in paging,
// in the dialect of customer requests and in the one route without trailing slash. Both use the same store.
//
// # API v2
//
// The edition [Cloud] also answers below /api/v2/, by the published reference and on the same store: each API reads what
// the other writes. It has the operations that planform calls, and few others. It answers as the service's own tests saw
// (v2_seen_test.go). If they and the reference are silent:
//
//   - the checks run in the order of API v1, and both APIs share one limit; a batch counts as one request;
//   - a path without its slash is a 301, and an unknown path answers as in API v1;
//   - unknown body keys are ignored, or 400 if the server is strict, as it is for tests;
//   - rows of a batch are carried out in their order, and a failed row has written nothing;
//   - a batch that failed as a whole has the code batch_failed, for which the examples have conflict;
//   - external IDs must be unique if they must be in API v1, except for comments: 409;
//   - objects of a feature that is switched off cannot be created: 400 in a project, 403 in the workspace;
//   - values in custom_fields have the shapes of API v1, and null removes a value;
//   - drafts are not shown.
//
// A collection is one [resourceV2], another view of a kind: its fields and orders have the names of the reference, and it makes the
// checks of API v1. Requests of both APIs are handled in one place ([call.handle]); a [dialect] holds the differences.
//
// # How to add a kind
//
// A plain kind is one literal: its name, the path of its list below the workspace, its columns, the fields that a body
// may set, and its unique values. Its hooks hold everything that other kinds do differently. Failing requests, a log of
// the requests and duplicate records are for tests: package sandboxtest adds them around the sandbox.
//
// # Differences from a real server
//
//   - The effects of background workers (activities, link metadata) are there with the answer to the request that causes
//     them.
//   - Of two simultaneous writers of one external ID, one always gets 409.
//   - The limiter is exact at any concurrency.
//   - Deletion is final except for references to deleted work items; there is no restore.
//   - The fields of an answer are sorted by name.
//   - In a description, text outside of an element becomes a span, as with the latest parser. With older versions of the
//     parser it becomes a paragraph.
//   - The address of a link is checked after its other fields.
//   - Rules and mistakes that were seen in the community edition only are in that edition only: former members stay
//     listed, one relation for each ordered pair, modules are archived when they are completed.
//   - Initiatives, teamspaces, customers, pages, types and estimates follow the published reference and no recording,
//     because no real server had them. The same holds for projects outside UTC, in whose time zone the days of a cycle begin and end here.
//   - Routes that planform does not call are missing, except a few with a reason each (operations_test.go). Missing are
//     stickies, epics, worklogs, assets, pages of an item, the intake of API v1, and most of API v2. They answer with 501. So
//     do orders and parameters that planform does not send, and fields whose effect nobody saw.
//   - The work item behind an intake item is only an ID, even after the item is accepted.
//   - It serves one workspace, and listens on loopback only.
//
// It must not know the rest of the module, so that no mistake is made twice.
package sandbox
