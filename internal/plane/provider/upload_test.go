package provider_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

const attaching = `{version: 1, projects: [{key: web, identifier: WEB, work_items: [{key: old, identifier: WEB-1, attachments: [{key: design, file: files/design.pdf}]}]}]}`

// attachments returns the visible files, with the digest of their contents in the store.
func (sv *service) attachments() []string {
	var list []string
	for _, r := range sv.Rows("attachment") {
		if r["is_uploaded"] == true {
			attributes, _ := r["attributes"].(map[string]any)
			content, _ := base64.StdEncoding.DecodeString(fmt.Sprint(r["content"]))
			sum := sha256.Sum256(content)
			list = append(list, fmt.Sprint(attributes["name"], " ", attributes["type"], " ", hex.EncodeToString(sum[:4])))
		}
	}
	slices.Sort(list)
	return list
}

// attached returns the attachment with some content.
func attached(end string) []string {
	sum := sha256.Sum256([]byte("%PDF" + end))
	return []string{"design.pdf application/pdf " + hex.EncodeToString(sum[:4])}
}

func TestAnAttachmentIsUploadedOnceAndReplacedWhenItsFileChanges(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	expect := func(what string, a applied, writes, requests int, want []string) {
		t.Helper()
		if failed := a.failed(); len(failed) > 0 || len(a.warnings()) > 0 {
			t.Fatalf("%s: %q %v", what, failed, a.warnings())
		}
		if a.writes != writes || a.plan.Summary.Requests != requests {
			t.Errorf("%s: %d writes, %d planned", what, a.writes, a.plan.Summary.Requests)
		}
		if got := s.attachments(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", what, got, want)
		}
	}
	s.file = []byte("one")
	expect("uploading", s.apply(t, applying{manifest: attaching}), 3, 3, attached("one"))
	expect("again", s.apply(t, applying{manifest: attaching}), 0, 0, attached("one"))
	s.file = []byte("two")
	changed := s.apply(t, applying{manifest: attaching})
	expect("changing it to one of the same size", changed, 4, 4, attached("two"))
	if n := len(s.Rows("attachment")); n != 1 {
		t.Errorf("%d attachments are left", n)
	}
	expect("again", s.apply(t, applying{manifest: attaching}), 0, 0, attached("two"))
	s.dir = t.TempDir()
	expect("the state lost", s.apply(t, applying{manifest: attaching}), 0, 0, attached("two"))
	s.file = []byte("three")
	expect("the file longer, and the state lost", s.apply(t, applying{manifest: attaching}), 4, 4, attached("three"))
	removed := strings.Replace(attaching, "{key: design, file: files/design.pdf}", "", 1)
	expect("pruning", s.apply(t, applying{manifest: removed, prune: true}), 1, 1, nil)
}

func TestAProtectedAttachmentIsNotReplaced(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	s.file = []byte("one")
	protected := strings.Replace(attaching, "key: design", "key: design, protect: true", 1)
	s.apply(t, applying{manifest: protected})
	s.file = []byte("two")
	a := s.apply(t, applying{manifest: protected})
	if got := s.attachments(); a.writes != 0 || !slices.Equal(got, attached("one")) || len(a.reasons()) != 1 {
		t.Errorf("%d writes, %q, %q", a.writes, got, a.reasons())
	}
}

// TestAnAttachmentOfOthersStaysBesideAnotherFile adopts a file of others by name and size.
func TestAnAttachmentOfOthersStaysBesideAnotherFile(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	s.file = []byte("one")
	s.apply(t, applying{manifest: strings.Replace(attaching, "key: design", "key: other", 1)})
	elsewhere := *s
	elsewhere.dir = t.TempDir()
	for _, r := range s.Rows("attachment") {
		if r["external_source"] != "planform" {
			t.Fatal(r)
		}
	}
	adopted := elsewhere.apply(t, applying{manifest: attaching})
	if got := s.attachments(); adopted.writes != 0 || adopted.plan.Summary.Adopt != 1 || !slices.Equal(got, attached("one")) {
		t.Fatalf("%d writes, %+v, %q", adopted.writes, adopted.plan.Summary, got)
	}
	elsewhere.file = []byte("two")
	beside := elsewhere.apply(t, applying{manifest: attaching})
	want := append(attached("one"), attached("two")...)
	slices.Sort(want)
	if got := s.attachments(); beside.writes != 3 || !slices.Equal(got, want) {
		t.Errorf("%d writes, %q", beside.writes, got)
	}
	again := elsewhere.apply(t, applying{manifest: attaching})
	if again.writes != 0 || !again.plan.Empty() {
		t.Errorf("again: %d writes", again.writes)
	}
}

// TestAfterAnyFaultOfAnUploadThereIsOneAttachment gives each request of an upload, and
// of a replacement, each fault, and runs again until nothing is left to do.
func TestAfterAnyFaultOfAnUploadThereIsOneAttachment(t *testing.T) {
	t.Parallel()
	what := faultsOfWrites()
	what["refused by the store"] = writeFault{trouble: trouble{fault: sandboxtest.Fault{Before: sandboxtest.Break{Status: 403, Body: "<Error><Code>AccessDenied</Code></Error>"}}}}
	what["redirected"] = writeFault{trouble: trouble{fault: sandboxtest.Fault{Before: sandboxtest.Break{Status: 307, Header: http.Header{"Location": {"http://127.0.0.1/elsewhere"}}}}}}
	for name, requests := range map[string]int{"upload": 3, "replacement": 4} {
		for n := 1; n <= requests; n++ {
			for how, m := range what {
				if m.moment != never && n > 1 { // an upload is one step
					continue
				}
				if !sample.Takes(n+len(how), 8) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/%s", name, n, how), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						dir := t.TempDir()
						s := newServiceOf(t, resource.V1, sandboxtest.Options{Path: filepath.Join(dir, "db")})
						s.virtual, s.file = true, []byte("one")
						again := applying{manifest: attaching, grace: time.Minute}
						if name == "replacement" {
							s.apply(t, again)
							s.file = []byte("two")
						}
						suffering := m.run(n, 1, len(how)%2*3)
						suffering.manifest, suffering.grace = attaching, time.Minute
						first := s.apply(t, suffering)
						second := s.apply(t, again)
						s.Drain()
						third := s.apply(t, again)
						if failed := append(second.failed(), third.failed()...); len(failed) > 0 {
							t.Errorf("%q", failed)
						}
						if got := s.attachments(); !slices.Equal(got, attached(string(s.file))) {
							t.Errorf("attached: %q", got)
						}
						if end := s.apply(t, again); end.writes != 0 || !end.plan.Empty() {
							t.Errorf("the last run made %d writes", end.writes)
						}
						if _, made := s.remembered(t); !made["attachment/web/old/design"] {
							t.Error("the state does not say that planform made it")
						}
						if t.Failed() {
							t.Logf("first: %q\nsecond: %q %d\nthird: %d", first.failed(), second.failed(), second.writes, third.writes)
						}
						state, err := os.ReadFile(filepath.Join(s.dir, "state.json"))
						if err != nil || strings.Contains(strings.ToLower(string(state)), "signature") {
							t.Errorf("the state: %v %s", err, state)
						}
					})
				})
			}
		}
	}
}

func TestTheWordsOfTheStoreAreShownWithoutTheSignature(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	refused := func(body string) string {
		a := s.apply(t, applying{manifest: attaching, fault: func(req *http.Request, _ run) sandboxtest.Fault {
			if !strings.HasSuffix(req.URL.Path, "/uploads") {
				return sandboxtest.Fault{}
			}
			if req.Header.Get("X-Api-Key")+req.Header.Get("Authorization")+req.Header.Get("Cookie") != "" {
				t.Error("a credential came to the store")
			}
			text := body
			for _, r := range s.Rows("attachment") {
				text = strings.ReplaceAll(text, "SECRET", fmt.Sprint(r["signature"]))
			}
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: 403, Body: text}}
		}})
		if len(a.failed()) != 1 || len(s.attachments()) != 0 {
			t.Fatalf("%q", a.failed())
		}
		text := a.failed()[0]
		for _, r := range s.Rows("attachment") {
			if strings.Contains(text, fmt.Sprint(r["signature"])) {
				t.Error(text)
			}
		}
		return text
	}
	if text := refused("<Error><Code>SignatureDoesNotMatch</Code><Message>It does not match.</Message><Signed>SECRET</Signed></Error>"); !strings.Contains(text, "403: SignatureDoesNotMatch: It does not match.") {
		t.Error(text)
	}
	if text := refused("you sent SECRET to me"); !strings.Contains(text, "you sent [redacted] to me") {
		t.Error(text)
	}
}

func TestAFileAboveTheLimitOfTheServiceIsReported(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V1, sandboxtest.Options{FileLimit: 5})
	s.file = []byte("too much")
	a := s.apply(t, applying{manifest: attaching})
	if failed := a.failed(); len(failed) != 1 || !strings.Contains(failed[0], "the service takes no file of 12 bytes") {
		t.Errorf("%q", failed)
	}
}

func TestAFileThatChangesAfterThePlanIsNotSent(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	a := s.apply(t, applying{manifest: attaching, file: func() {
		if err := os.WriteFile(filepath.Join(s.dir, "files", "design.pdf"), []byte("other"), 0o600); err != nil {
			t.Error(err)
		}
	}})
	if failed := a.failed(); a.writes != 0 || len(failed) != 1 || !strings.Contains(failed[0], "has changed since the plan") {
		t.Errorf("%d writes, %q", a.writes, failed)
	}
}
