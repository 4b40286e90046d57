package cli_test

import (
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

const oneItem = "version: 1\nworkspace: acme\nprojects:\n  - {identifier: WEB, work_items: [{name: One}]}\n"

// What is wrong with address, credential or workspace is told before anything is concluded from other answers.
func TestWrongAddressesCredentialsAndWorkspacesAreReportedFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		edition sandbox.Edition
		key     string // of whom; "" = ada
		base    string // behind the service's address
		args    []string
		code    int
		says    string
		hint    string
	}{
		"an unknown workspace gets the hint to its slug": {
			args: []string{"--workspace", "acmee"}, code: 4,
			says: "error: the service gives no access to acmee: there is no such workspace, or ada (ada@example.com) is not a member of it",
			hint: "check the slug",
		},
		"an unknown workspace of the community edition may be one without an invitation": {
			edition: sandbox.Community, args: []string{"--workspace", "acmee"}, code: 4,
			says: "there is no such workspace, or ada (ada@example.com) is not a member of it", hint: "have an admin of the workspace invite ada",
		},
		"no such workspace with all operations":    {args: []string{"--workspace", "acmee", "--api", "v1"}, code: 4, says: "the service gives no access to acmee"},
		"no such workspace with the documented 20": {args: []string{"--workspace", "acmee", "--api", "documented"}, code: 4, says: "the service gives no access to acmee"},
		"the address of a page in the browser": {
			base: "/acme/projects", code: 1,
			says: "/acme/projects answers, but has no Plane API", hint: "leave /acme/projects out of the base URL",
		},
		"the address of a page in the browser has no API on the community edition": {
			edition: sandbox.Community, base: "/acme/projects", code: 1, says: "has no Plane API", hint: "leave /acme/projects out of the base URL",
		},
		"a wrong key may be mistyped, expired or revoked": {key: "plane_api_wr0ng", code: 4, says: "is not accepted", hint: "it may be mistyped, expired or revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{Edition: tt.edition})
			s.url += tt.base
			file := s.write(t, "m.yaml", oneItem)
			args := tt.args
			if tt.key != "" {
				args = append(args, "--api-key-file", s.write(t, "key", tt.key))
			}
			for _, command := range [][]string{{"plan", "-f", file}, {"apply", "-f", file, "--yes"}, {"export", "--to", s.dir + "/out", "--workspace", "acme"}} {
				if command[0] == "export" && strings.Contains(strings.Join(args, " "), "documented") {
					continue
				}
				r := s.run(t, append(command, args...)...)
				if r.code != tt.code || !strings.Contains(r.err, tt.says) || !strings.Contains(r.err, tt.hint) || strings.Contains(r.err, "--api") || strings.Contains(r.err, "scope") {
					t.Errorf("%s: exit %d\n%s%s", command[0], r.code, r.out, r.err)
				}
			}
			if _, writes := s.sent(0); writes > 0 {
				t.Errorf("%d writes", writes)
			}
		})
	}
}

// The community edition has none of the lists that the documented operations are about.
func TestTheDocumentedOperationsAloneDoNotServeTheCommunityEdition(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Community})
	r := s.run(t, "plan", "-f", s.write(t, "m.yaml", oneItem), "--api", "documented")
	if r.code != 1 || !strings.Contains(r.err, "this edition lacks what the documented operations need: use --api auto") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}

func TestAProjectOfOthersIsReportedAsSuch(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	key := s.write(t, "key", sandboxtest.KeyEve)
	r := s.run(t, "plan", "-f", s.write(t, "m.yaml", oneItem), "--api-key-file", key)
	if r.code != 4 || !strings.Contains(r.err, "eve (eve@example.com) is not a member of the project WEB") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	for _, command := range [][]string{{"work-item", "WEB-1"}, {"links", "--work-item", "WEB-1"}} {
		r = s.run(t, append([]string{"get", command[0], "--workspace", "acme", "--api-key-file", key}, command[1:]...)...)
		want := "error: the service gives no access to the project WEB: there is no such project, or eve (eve@example.com) is not a member of it"
		if r.code != 4 || !strings.HasPrefix(r.err, want) {
			t.Errorf("%s: exit %d\n%s%s", command, r.code, r.out, r.err)
		}
	}
}

func TestAReadThatIsRefusedIsExplained(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	for _, tt := range []struct {
		workspace, identifier, says string
	}{
		{"acme", "NOPE-1", "error: the service gives no access to the project NOPE: there is no such project, or ada (ada@example.com) is not a member of it, or has too low a role in it\n  check the identifier"},
		{"acmee", "WEB-1", "error: the service gives no access to acmee: there is no such workspace, or ada (ada@example.com) is not a member of it\n  check the slug"},
	} {
		if r := s.run(t, "get", "work-item", "--workspace", tt.workspace, tt.identifier); r.code != 4 || !strings.HasPrefix(r.err, tt.says) {
			t.Errorf("%s: exit %d\n%s%s", tt.identifier, r.code, r.out, r.err)
		}
	}
	if r := s.run(t, "get", "work-item", "--workspace", "acme", "--api-key-file", s.write(t, "key", "plane_api_wr0ng"), "WEB-1"); r.code != 4 || !strings.Contains(r.err, "is not accepted") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}
