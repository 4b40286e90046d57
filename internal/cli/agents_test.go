package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestAnAgentAppliesNothingButThePlanThatAPersonRead plays an agent that has the hash of one plan, and tries to apply something else.
func TestAnAgentAppliesNothingButThePlanThatAPersonRead(t *testing.T) {
	t.Parallel()
	const manifest = "version: 1\nworkspace: acme\nprojects: [{identifier: WEB, work_items: [{key: a, name: A, priority: low}]}]\n"
	type try struct {
		args   func(s *service, hash string) []string
		before func(t *testing.T, s *service, plan string)
		says   string
	}
	saved := func(s *service, hash string) []string { return []string{s.dir + "/plan.json", "--expect", hash} }
	for name, tt := range map[string]try{
		"another plan in the same file is not applied": {saved, func(t *testing.T, s *service, _ string) {
			t.Helper()
			other := s.write(t, "other.yaml", strings.Replace(manifest, "low", "high", 1))
			s.must(t, "plan", other, "--out", s.dir+"/plan.json")
		}, "the plan has the hash "},
		"an edited plan is not applied": {saved, func(t *testing.T, s *service, plan string) {
			t.Helper()
			s.write(t, "plan.json", strings.Replace(plan, `"low"`, `"high"`, 1))
		}, "was changed after it was made"},
		"an edited plan that bears the hash of its new meaning": {saved, func(t *testing.T, s *service, plan string) {
			t.Helper()
			other := s.write(t, "other.yaml", strings.Replace(manifest, "low", "high", 1))
			s.must(t, "plan", other, "--out", s.dir+"/plan.json")
			text, err := os.ReadFile(s.dir + "/plan.json")
			if err != nil {
				t.Fatal(err)
			}
			s.write(t, "plan.json", hashes.ReplaceAllString(string(text), hashes.FindString(plan)))
		}, "was changed after it was made"},
		"an old plan, after somebody changed the workspace": {saved, func(t *testing.T, s *service, _ string) {
			t.Helper()
			theirs := s.write(t, "theirs.yaml", strings.Replace(manifest, "low", "urgent", 1))
			s.must(t, "apply", theirs, "--state", s.dir+"/theirs.json")
		}, "the plan is stale; nothing was done"},
		"an old plan, after the manifest changed": {saved, func(t *testing.T, s *service, _ string) {
			t.Helper()
			s.write(t, "m.yaml", strings.Replace(manifest, "low", "high", 1))
		}, "the plan is stale; nothing was done"},
		"a manifest with the hash": {func(s *service, hash string) []string { return []string{s.dir + "/m.yaml", "--expect", hash} }, func(t *testing.T, s *service, _ string) {
			t.Helper()
			s.write(t, "m.yaml", strings.Replace(manifest, "low", "high", 1))
		}, "the plan has the hash "},
		"the plan with another manifest beside it": {func(s *service, hash string) []string {
			return []string{s.dir + "/plan.json", s.dir + "/other.yaml", "--expect", hash}
		}, func(t *testing.T, s *service, _ string) {
			t.Helper()
			s.write(t, "other.yaml", strings.Replace(manifest, "low", "high", 1))
		}, "was made with "},
		"a manifest in JSON that took the place of the plan": {func(s *service, _ string) []string { return []string{s.dir + "/plan.json"} }, func(t *testing.T, s *service, _ string) {
			t.Helper()
			s.write(t, "plan.json", `{"version": 1, "workspace": "acme", "projects": [{"identifier": "WEB", "work_items": ["B"]}]}`)
		}, "is not a plan"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{})
			shown := s.must(t, "plan", s.write(t, "m.yaml", manifest), "--out", s.dir+"/plan.json")
			hash := hashes.FindString(shown.out)
			plan, err := os.ReadFile(s.dir + "/plan.json")
			if err != nil || hash == "" {
				t.Fatal(err, shown.out)
			}
			tt.before(t, s, string(plan))
			before := len(s.Log())
			r := s.run(t, append([]string{"apply"}, tt.args(s, hash)...)...)
			if _, writes := s.sent(before); r.code == 0 || writes > 0 || !strings.Contains(r.err, tt.says) {
				t.Errorf("exit %d, %d writes:%s\n%s", r.code, writes, s.written(before), r.err)
			}
		})
	}
	t.Run("the plan itself is applied", func(t *testing.T) {
		t.Parallel()
		s := newService(t, sandboxtest.Options{})
		shown := s.must(t, "plan", s.write(t, "m.yaml", manifest), "--out", s.dir+"/plan.json")
		if r := s.must(t, "apply", s.dir+"/plan.json", "--expect", hashes.FindString(shown.out)); !strings.Contains(r.out, "1 created") {
			t.Error(r.out)
		}
	})
}

var hashes = regexp.MustCompile("sha256:[0-9a-f]{64}")
