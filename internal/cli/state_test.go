package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/planner"
)

const onePage = "version: 1\nworkspace: acme\npages:\n  - {name: One, description: Text}\n"

// stateFile is where the service's state is by default.
func (s *service) stateFile(t *testing.T) string {
	t.Helper()
	path, err := state.DefaultPath(s.dir, s.url, "acme")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestASecondApplyIsToldWhoHoldsTheLock(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	manifest := s.write(t, "m.yaml", onePage)
	held, err := state.Open(t.Context(), s.stateFile(t), state.Options{BaseURL: s.url, Workspace: "acme", Command: "planform apply"})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()

	r := s.run(t, "apply", "-f", manifest)
	if r.code != 5 || !strings.Contains(r.err, "planform apply") || !strings.Contains(r.err, "process ") {
		t.Errorf("exit %d, want 5 and who holds the lock:\n%s", r.code, r.err)
	}
	if _, writes := s.sent(0); writes != 0 {
		t.Errorf("%d write requests without the lock", writes)
	}
	if r := s.run(t, "plan", "-f", manifest); r.code != 0 {
		t.Errorf("plan needs no lock: exit %d\n%s", r.code, r.err)
	}
}

func TestAStateThatIsNotOursIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, says string }{
		"a file that is no JSON is no state":      {"{\"format", "not from planform"},
		"a state of another workspace is refused": {`{"format_version":1,"lineage":"l","serial":1,"base_url":"URL","workspace":"other","objects":[]}`, "workspace"},
		"a state of another server is refused":    {`{"format_version":1,"lineage":"l","serial":1,"base_url":"https://plane.example.com","workspace":"acme","objects":[]}`, "server"},
		"a state of a newer planform is refused":  {`{"format_version":99,"lineage":"l","serial":1,"base_url":"URL","workspace":"acme","objects":[]}`, "newer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{})
			manifest := s.write(t, "m.yaml", onePage)
			path := s.stateFile(t)
			text := strings.ReplaceAll(tt.text, "URL", s.url)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{"plan", "apply"} {
				r := s.run(t, command, "-f", manifest)
				if r.code != 1 || !strings.Contains(r.err, tt.says) {
					t.Errorf("%s: exit %d, want 1 and a word on %q:\n%s", command, r.code, tt.says, r.err)
				}
			}
			if got, _ := os.ReadFile(path); string(got) != text {
				t.Errorf("the state file was changed to\n%s", got)
			}
			if _, writes := s.sent(0); writes != 0 {
				t.Errorf("%d write requests", writes)
			}
		})
	}
}

func TestALostStateCostsReadsAndNoDuplicates(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	manifest := s.write(t, "m.yaml", items(30))
	s.must(t, "apply", "-f", manifest)
	if err := os.RemoveAll(filepath.Dir(s.stateFile(t))); err != nil {
		t.Fatal(err)
	}
	before := len(s.Log())
	s.must(t, "apply", "-f", manifest)
	if _, writes := s.sent(before); writes != 0 {
		t.Errorf("%d write requests after the state was lost", writes)
	}
	if got := len(s.Rows("work_item")) - 1; got != 30 {
		t.Errorf("%d work items, want 30", got)
	}
}

func TestTheCredentialIsShownNowhere(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	manifest := s.write(t, "m.yaml", items(3))
	for _, args := range [][]string{
		{"plan", "-f", manifest, "--output", "json", "--log-level", "debug"},
		{"apply", "-f", manifest, "--log-level", "debug", "--log-format", "json"},
		{"get", "links", "--work-item", "WEB-1", "--output", "json", "--log-level", "debug"},
		{"get", "work-item", "WEB-999"},
	} {
		if r := s.run(t, args...); strings.Contains(r.out+r.err, sandbox.Key) {
			t.Errorf("planform %s shows the key", strings.Join(args, " "))
		}
	}
	err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), sandbox.Key) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestASecretIsInItsFileAndNowhereElse(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	manifest := s.write(t, "m.yaml", `{version: 1, workspace: acme, webhooks: [{name: CI, url: "https://ci.example.com", secret_file: ci.key}]}`)
	shown := s.must(t, "apply", "-f", manifest, "--output", "json", "--log-level", "debug")
	file := filepath.Join(s.dir, "ci.key")
	kept, err := os.ReadFile(file)
	secret := strings.TrimSpace(string(kept))
	if err != nil || len(secret) < 20 {
		t.Fatalf("the secret is %q: %v", secret, err)
	}
	shows := func(what, text string) {
		if strings.Contains(text, secret) {
			t.Errorf("%s shows the secret", what)
		}
	}
	shows("apply", shown.out+shown.err)
	s.write(t, "m.yaml", `{version: 1, workspace: acme, webhooks: [{name: CI, url: "https://ci.example.com/two", secret_file: ci.key}]}`)
	for _, args := range [][]string{
		{"plan", "-f", manifest, "--output", "json", "--log-level", "debug"},
		{"plan", "-f", manifest, "--out", filepath.Join(s.dir, "saved.json")},
		{"apply", "-f", manifest, "--log-level", "debug", "--log-format", "json"},
		{"get", "webhooks", "--workspace", "acme", "--output", "json", "--log-level", "debug"},
		{"export", "--workspace", "acme", "--to", filepath.Join(s.dir, "out")},
		{"state", "list", "-f", manifest, "--output", "json"},
		{"history", "-f", manifest, "--output", "json"},
	} {
		r := s.must(t, args...)
		shows(args[0], r.out+r.err)
	}
	err = filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != file {
			var text []byte
			text, err = os.ReadFile(path)
			shows(path, string(text))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAFileWithASecretIsNotOverwritten(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	manifest := s.write(t, "m.yaml", `{version: 1, workspace: acme, webhooks: [{name: CI, url: "https://ci.example.com", secret_file: ci.key}]}`)
	s.write(t, "ci.key", "of another one")
	r := s.run(t, "apply", "-f", manifest)
	if _, writes := s.sent(0); r.code != 1 || writes != 0 || !strings.Contains(r.err, "ci.key is not empty") {
		t.Errorf("%d, %d writes: %s", r.code, writes, r.err)
	}
	s.write(t, "m.yaml", `{version: 1, workspace: acme, webhooks: [{name: CI, url: "https://ci.example.com", secret_file: ../ci.key}]}`)
	if r := s.run(t, "validate", "-f", manifest); r.code == 0 || !strings.Contains(r.err+r.out, "outside the manifest's folder") {
		t.Errorf("%d: %s", r.code, r.err)
	}
}

// TestAnUndoSaysThatAWebhookGetsANewSecret: it knows of no file, and the service shows the secret once.
func TestAnUndoSaysThatAWebhookGetsANewSecret(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	manifest := s.write(t, "m.yaml", `{version: 1, workspace: acme, webhooks: [{name: CI, url: "https://ci.example.com", secret_file: ci.key}]}`)
	s.must(t, "apply", "-f", manifest)
	s.write(t, "m.yaml", `{version: 1, workspace: acme, webhooks: []}`)
	s.must(t, "apply", "-f", manifest, "--prune", "--yes", "--max-deletes", "1")
	r := s.must(t, "undo", "last", "-f", manifest, "--yes")
	if said := r.out + r.err; !strings.Contains(said, "webhook/ci gets a new secret, which is kept nowhere") || !strings.Contains(said, "regenerate it in Plane") {
		t.Error(said)
	}
}

func TestDocumentedOperationsCannotChangeAWorkItem(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Answers: sandbox.Contract})
	manifest := s.write(t, "m.yaml", items(2))
	s.must(t, "apply", "-f", manifest, "--api", "documented")
	s.write(t, "m.yaml", strings.Replace(items(3), "name: Item 0", "name: Another name", 1))

	before := len(s.Log())
	r := s.run(t, "apply", "-f", manifest, "--api", "documented")
	if r.code != 3 || !strings.Contains(r.out, "cannot change name of a work item after creation") {
		t.Errorf("exit %d, want 3 and which field cannot be changed:\n%s", r.code, r.out)
	}
	if _, writes := s.sent(before); writes != 3 { // the new item, its link, its membership
		t.Errorf("%d write requests, want the 3 of the rest:\n%s", writes, r.out)
	}
}

func TestAnErrorThatEndsARunIsReportedOnce(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Fault: func(r *http.Request) sandboxtest.Fault {
		if r.Method == http.MethodGet {
			return sandboxtest.Fault{}
		}
		return sandboxtest.Fault{Before: sandboxtest.Break{Status: http.StatusUnauthorized}}
	}})
	r := s.run(t, "apply", "-f", s.write(t, "m.yaml", items(3)), "--parallelism", "1")
	if told := strings.Count(r.err, "error: the run was stopped: "); r.code != 4 || told != 1 {
		t.Errorf("exit %d, want 4; told %d times:\n%s", r.code, told, r.err)
	}
}

func TestAnImportKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	manifest := s.write(t, "m.yaml", "version: 1\nworkspace: acme\nprojects: [{identifier: WEB, work_items: [{key: shop, name: Open, protect: true}]}]\n")
	s.must(t, "apply", "-f", manifest)
	record := func() planner.Record {
		known, err := state.Read(t.Context(), s.stateFile(t), state.Options{BaseURL: s.url, Workspace: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		r := known.Prior()["work_item/web/shop"]
		r.AppliedAt = time.Time{} // the import's own
		return r
	}
	want := record()
	s.must(t, "state", "import", "-f", manifest, "--id", want.ID, "--identifier", "WEB-9", "work_item/web/shop")
	want.Identifier = "WEB-9"
	if diff := cmp.Diff(want, record()); diff != "" {
		t.Error(diff)
	}
}

func TestAnAddressWithACredentialIsRefusedAndNotShown(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	manifest := s.write(t, "m.yaml", onePage)
	copied := s.write(t, "copy.json", `{"format_version":1,"lineage":"6f0c","serial":3,"base_url":"`+s.url+`","workspace":"acme","objects":[]}`)
	for _, address := range []string{
		"https://bob:very-secret@127.0.0.1/state", "s3://bob:very-secret@team/web.json", "https://bob:very/secret@127.0.0.1/state",
		"ftp://bob:very-secret@127.0.0.1/state", "https://127.0.0.1/state?private_token=very-secret", "http://127.0.0.1/state#very-secret",
		"https://127.0.0.1/state?very-secret", "https://127.0.0.1/state?job_token=very@secret", "s3://team/web.json?X-Amz-Signature=very-secret",
		"s3://team/web.json#very-secret", "ftp://127.0.0.1/state?t=very-secret", "HTTPS://127.0.0.1/state?t=very-secret",
		"http://other.example.com/state?t=very-secret", "https://127.0.0.1/a?x=1#very-secret",
	} {
		for _, args := range [][]string{
			{"plan", "--state", address},
			{"apply", "--yes", "--state", address},
			{"apply", "--dry-run", "--state", address},
			{"doctor", "--state", address},
			{"history", "--state", address},
			{"undo", "--state", address, "last"},
			{"state", "list", "--state", address},
			{"state", "unlock", "--state", address},
			{"state", "pull", "--state", address},
			{"state", "push", "--state", address, copied},
			{"state", "migrate", copied, address},
			{"state", "migrate", address, copied},
		} {
			got := s.run(t, append(args, "-f", manifest)...)
			if said := got.out + got.err; got.code == 0 || !strings.Contains(said, "state") || strings.Contains(said, "bob") || strings.Contains(said, "secret") {
				t.Errorf("%s: exit code %d: %s", args, got.code, said)
			}
		}
	}
}

// TestAPlanDoesNotWaitForARunThatIsAtWork: it would wait for as long as the run goes on.
func TestAPlanDoesNotWaitForARunThatIsAtWork(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	path := filepath.Join(s.dir, "state.json")
	file := s.write(t, "w.yaml", "version: 1\nworkspace: acme\nteamspaces: [{name: New}]\n")
	plan := []string{"plan", "-f", file, "--state", path, "--grace-period", "24h"}
	f, err := state.Open(t.Context(), path, state.Options{BaseURL: s.url, Workspace: sandbox.Workspace})
	if err != nil {
		t.Fatal(err)
	}
	k := resource.MustLookup("teamspace")
	op, _ := k.Op(resource.Create, resource.V1)
	create := &planner.Step{
		Action: planner.Create, Kind: k, Operation: op, Address: "teamspace/new", Write: &planner.Write{}, Object: &resource.Object{Kind: k, Key: "new", Address: "teamspace/new"},
	}
	if err := f.Begin(t.Context(), []*planner.Step{create}); err != nil {
		t.Fatal(err)
	}
	if r := s.must(t, plan...); !strings.Contains(r.err, "another run uses the state (") || !strings.Contains(r.out, "1 to create") {
		t.Error(r.out, r.err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
