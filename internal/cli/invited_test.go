package cli_test

import (
	"regexp"
	"testing"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestManyInvitedPeopleAreOneLineAndWhatWaitsForThemIsOneEntry(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	file := s.write(t, "people.yaml", `version: 1
workspace: acme
projects:
  - identifier: WEB
    members: [ann@example.com, ben@example.com, cleo@example.com, dan@example.com]
    work_items:
      - {key: a, name: A, assignees: [ann@example.com]}
      - {key: b, name: B, assignees: [ben@example.com]}
  - identifier: OPS
    work_items: [{key: c, name: C, assignees: [cleo@example.com]}]
`)
	for flags, counts := range map[string]map[string]int{
		"--full":            {`(?m)^! work_item/`: 3},
		"--output=markdown": {`(?m)^- ..3 work items.. \(ann`: 1},
		"--invite": {
			`(?m)^! project/web: 4 people have not accepted their invitations yet: ann@example.com, ben@example.com, cleo@example.com, dan@example.com; apply again then; if no mail came, an admin finds the link in Settings, Members$`: 1,
			`(?m)^    members: +\(none\) -> ann@example.com, ben@example.com, cleo@example.com, dan@example.com$`:                                                                                                                         1,
			`(?m)^! .*work items?: `: 1,
			`(?m)^! 3 work items: ann@example.com is invited to the workspace, and has not accepted yet: apply again then; if no mail came, an admin finds the link in Settings, Members; the same of ben@example.com, cleo@example.com$`: 1,
			`(?m)^    assignees: \(none\) -> ann@example.com, ben@example.com, cleo@example.com$`: 1,
			`(?m)^    work_item/web/a, work_item/web/b, work_item/ops/c$`:                         1,
			`(?m)^    role: +member$`: 4,
			`(?m)role: +15`:           0,
		},
	} {
		out := s.run(t, "plan", "-f", file, "--invite", flags).out
		for pattern, n := range counts {
			if got := regexp.MustCompile(pattern).FindAllString(out, -1); len(got) != n {
				t.Errorf("%s: %d times %s, want %d\n%s", flags, len(got), pattern, n, out)
			}
		}
	}
}
