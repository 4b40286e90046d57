// Package sandbox is the service on this machine: an HTTP server that behaves
// like a Plane workspace, to experiment with and to test against.
//
// # What it promises
//
// It answers the twenty documented operations, and the reads and writes around
// them that a program needs to find and make what those operations refer to, as
// a real server was seen to answer them: the same status, the same shape of
// body, the same words in an error, the same silent drops. The recordings under
// testdata are replayed against it by its tests, and random sequences of requests
// can be played to it and to a real server side by side:
//
//	go test ./internal/sandbox -run AnswersAsTheReal -real http://127.0.0.1:8000
//
// The edition [Community] is the one that such a server was compared with.
//
// What it has answered it keeps. A write is one transaction of an embedded
// store; the answer is sent after the commit, and a process that is killed at
// any moment leaves a store that opens and holds every answered write. Only a
// loss of power may lose the latest ones, as nothing is forced to the disk.
//
// Requests may come in parallel. Sequence numbers of work items are dense and
// unique within a project.
//
// Files of attachments go to a store, as they do there: it has the same address, the path
// /uploads, and refuses whoever sends it a credential of the service.
//
// # Response profiles
//
// [Observed] answers as the running server does. [Contract] answers as the
// documented contract says, which differs in statuses, in paging, in the
// dialect of customer requests and in the one route without trailing slash.
// Both speak about the same store.
//
// # API v2
//
// The edition [Cloud] answers below /api/v2/ as well, by the published reference and on the same store: what one API
// writes, the other reads. It has the operations that planform calls, and few others. It answers as the service's own tests
// saw (v2_seen_test.go). Where they and the reference are silent:
//
//   - the order of the checks is that of API v1, and both share one limit; a batch is one request;
//   - a path without its slash is a 301, and a path that there is not answers as API v1 does;
//   - unknown body keys are ignored, or 400 if the server is strict, as it is for tests;
//   - rows of a batch are carried out in their order, and a row that failed has written nothing;
//   - a batch that failed as a whole has the code batch_failed, for which the examples have conflict;
//   - external IDs are unique where they are in API v1, but for comments: 409;
//   - what is switched off cannot be made: 400 in a project, 403 in the workspace;
//   - values in custom_fields have the shapes of API v1, and null removes one;
//   - drafts are not shown.
//
// A collection is one [resourceV2], another face of its kind: its fields and orders have the names of the reference there,
// and the checks of API v1. Requests of both take one way ([call.handle]); a [dialect] is what an API does there by itself.
//
// # How to add a kind
//
// A plain kind is one literal: its name, the path of its list below the workspace,
// its columns, the fields that a body may set, and what is unique. What it does
// differently from others is in its hooks. Requests that go wrong, a log of the requests and records
// that are not unique are for tests: package sandboxtest stands around the sandbox.
//
// # How it differs from a real server
//
//   - Everything a background worker does late (activities, link metadata) is
//     there with the answer to the request that causes it.
//   - The race between two writers of one external id does not happen: one of
//     them is told 409.
//   - The limiter is exact at any concurrency.
//   - Deletion is final but for references to deleted work items; there is no
//     restore.
//   - The fields of an answer are in the order of their names.
//   - Text outside of an element becomes a span in a description, as with the parser that the service asks for. With older
//     versions it becomes a paragraph.
//   - The address of a link is checked after its other fields.
//   - The rules and mistakes that only the community edition was seen to have
//     (former members stay listed, one relation for each ordered pair, modules
//     that are archived when they are completed) are in that edition only.
//   - Initiatives, teamspaces, customers, pages, types and estimates follow the
//     published reference and not a recording: no real one was at hand. Nor was a
//     project outside UTC, in whose time zone the days of a cycle begin and end here.
//   - Routes that planform does not call are not there, but for a few with a reason each (operations_test.go): stickies, epics,
//     worklogs, assets, pages of an item, the intake of API v1, and most of API v2. They answer with 501, as do orders and parameters
//     that planform does not send, and fields whose effect nobody saw.
//   - The work item behind an intake item is only an ID, also once it is accepted.
//   - It is one workspace with a handful of users, and listens on loopback only.
//
// It must not know the rest of the module, so that no mistake is made twice.
package sandbox
