//go:build unix

package docs_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
)

// gh stands for GitHub's program: it notes what it is asked and given, and answers from the files of the folder GITHUB,
// through the program that its --jq is named after.
const gh = `#!/usr/bin/env bash
printf '%s\n' "$*" >>"$GITHUB/notes"
filter=. dir= last=
for arg in "$@"; do
  case $last in --jq) filter=$arg ;; --dir) dir=$arg ;; esac
  case $arg in body=@*) cat "${arg#body=@}" >>"$GITHUB/notes" ;; esac
  last=$arg
done
case $* in
  "api graphql "*"repo:acme/config is:issue is:open"*) jq -r "$filter" "$GITHUB/issues" ;;
  "api graphql "*) jq -r "$filter" "$GITHUB/comments" ;;
  *"/commits/abc/pulls "*) jq -r "$filter" "$GITHUB/pulls" ;;
  *"/actions/workflows/plan.yml/runs?head_sha=abc123&event=pull_request"*) jq -r "$filter" "$GITHUB/runs" ;;
  *"/actions/"*) echo '{"workflow_runs": []}' | jq -r "$filter" ;;
  "api "*"/issues/5/labels --jq "*) jq -r "$filter" "$GITHUB/labels" ;;
  "run download "*) cp -R "$GITHUB/artifact-$3" "$dir" ;;
esac
`

// action is a repository in which the steps of action.yml run.
type action struct {
	*service
	origin, repo, temp, github string
	env                        []string
}

// steps runs the steps of action.yml as a runner does, with inputs by their names, and returns what they print. It skips steps that use
// another action.
func (a *action) steps(t *testing.T, inputs map[string]string) (told string, code int) {
	t.Helper()
	var file struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				If, Shell, Run, Uses string
				Env                  map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(inRepository(t, "action.yml")), &file); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"github.token": "t0ken", "github.event.pull_request.number": "5"}
	for name := range inputs {
		if _, declared := file.Inputs[name]; !declared && values[name] == "" {
			t.Fatalf("action.yml has no input %s", name)
		}
	}
	for name, input := range file.Inputs {
		values["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		values[cmp.Or(map[bool]string{true: name}[values[name] != ""], "inputs."+name)] = value
	}
	expand := func(text string) string {
		return regexp.MustCompile(`\$\{\{ (\S+) \}\}`).ReplaceAllStringFunc(text, func(expression string) string {
			value, known := values[strings.Trim(expression, "${} ")]
			if !known {
				t.Fatalf("action.yml refers to %s, which a runner does not know", expression)
			}
			return value
		})
	}
	for _, step := range file.Runs.Steps {
		name, other, compares := strings.Cut(step.If, " != ")
		if step.Uses != "" || compares && values[name] == strings.Trim(other, "'") {
			continue
		}
		if step.Shell != "bash" || step.If != "" && !compares {
			t.Fatalf("action.yml has a step that this test cannot run: %+v", step)
		}
		env := []string{"GITHUB_ACTION_PATH=" + root}
		for name, value := range step.Env {
			env = append(env, name+"="+expand(expand(value))) // the default of an input may be an expression
		}
		told, code = a.run(t, "env", append(env, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)...)
		if code != 0 {
			break
		}
	}
	return told, code
}

func newAction(t *testing.T, manifests map[string]string) *action {
	t.Helper()
	for _, name := range []string{"jq", "git", "xargs"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	a := &action{newService(t), t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir(), nil}
	a.env = append(os.Environ(), "PLANE_BASE_URL="+a.url, "PLANE_API_KEY="+sandbox.Key, "NO_COLOR=1", "PATH="+filepath.Dir(program(t))+":"+a.github+":"+os.Getenv("PATH"),
		"GITHUB="+a.github, "RUNNER_TEMP="+a.temp, "GITHUB_OUTPUT="+filepath.Join(a.github, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(a.github, "summary"),
		"GITHUB_SERVER_URL=https://github.com", "GITHUB_REPOSITORY=acme/config", "GITHUB_SHA=abc", "GITHUB_REF_NAME=main", "GITHUB_RUN_ID=77",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com", "GIT_CONFIG_GLOBAL=/dev/null")
	for name, text := range map[string]string{
		"gh": gh, "issues": issues(), "labels": "[]", "comments": comments(),
		"pulls": `[{"head": {"sha": "never"}, "base": {"ref": "main"}}, {"merged_at": "t", "head": {"sha": "to-dev"}, "base": {"ref": "dev"}},
			{"merged_at": "t", "head": {"sha": "abc123"}, "base": {"ref": "main"}}]`,
		"runs": `{"workflow_runs": [{"id": 79, "run_number": 5, "repository": {"id": 1}, "head_repository": {"id": 2}},
			{"id": 76, "run_number": 3, "repository": {"id": 1}, "head_repository": {"id": 1}}, {"id": 77, "run_number": 4, "repository": {"id": 1}, "head_repository": {"id": 1}}]}`,
	} {
		a.put(t, a.github, name, text)
	}
	a.must(t, "git", "init", "--quiet", "--bare", a.origin)
	a.must(t, "git", "clone", "--quiet", a.origin, ".")
	for name, text := range manifests {
		a.put(t, a.repo, name, text)
	}
	a.must(t, "git", "add", ".")
	a.must(t, "git", "commit", "--quiet", "-m", "web")
	a.must(t, "git", "push", "--quiet", "origin", "HEAD")
	return a
}

// comments are what the API shows of the comments on the pull request: one of somebody else, and own ones.
func comments(own ...string) string {
	nodes := []string{`{"viewerDidAuthor": false, "body": "<!-- planform: acme -->\nmine", "url": "https://github.com/acme/config/pull/5#issuecomment-66"}`}
	for _, id := range own {
		nodes = append(nodes, `{"viewerDidAuthor": true, "body": "<!-- planform: acme -->\nplan", "url": "https://github.com/acme/config/pull/5#issuecomment-`+id+`"}`)
	}
	return `{"data": {"repository": {"pullRequest": {"comments": {"nodes": [` + strings.Join(nodes, ",") + `]}}}}}`
}

// driftTitle is the title of the issue about drift.
const driftTitle = "The workspace differs from its manifests (acme)"

// issues are what the API finds by that title: those of others and of other uses, and own ones.
func issues(own ...string) string {
	nodes := []string{
		`{}`, // a pull request
		`{"viewerDidAuthor": false, "number": 61, "title": "` + driftTitle + `"}`,
		`{"viewerDidAuthor": true, "number": 62, "title": "` + driftTitle + `: why?"}`,
		`{"viewerDidAuthor": true, "number": 63, "title": "About: ` + driftTitle + `"}`,
		`{"viewerDidAuthor": true, "number": 64, "title": "The workspace differs from its manifests (acme-staging)"}`,
		`{"viewerDidAuthor": true, "number": 65, "title": "the workspace differs from its manifests (ACME)"}`,
	}
	for _, number := range own {
		nodes = append(nodes, `{"viewerDidAuthor": true, "number": `+number+`, "title": "`+driftTitle+`"}`)
	}
	return `{"data": {"search": {"nodes": [` + strings.Join(nodes, ",") + `]}}}`
}

func (a *action) put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
}

// run runs a program in the repository.
func (a *action) run(t *testing.T, name string, args ...string) (told string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = a.repo, a.env
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

func (a *action) must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, code := a.run(t, name, args...)
	if code != 0 {
		t.Fatalf("%s %q: exit code %d\n%s", name, args, code, out)
	}
	return out
}

// act runs the action with a command and inputs such as ARGS=--prune, and returns what GitHub was asked and what was told.
func (a *action) act(t *testing.T, command string, settings ...string) (asked, told string, code int) {
	t.Helper()
	_ = os.Remove(filepath.Join(a.github, "notes"))
	inputs := map[string]string{"command": command, "files": "web.yaml", "name": "acme"}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		if strings.HasPrefix(name, "PLANE_") || strings.HasPrefix(name, "GITHUB_") { // a variable of the workflow or of the runner
			a.env = append(a.env, setting)
			continue
		}
		inputs[cmp.Or(map[string]string{"PULL_REQUEST": "github.event.pull_request.number"}[name], strings.ReplaceAll(strings.ToLower(name), "_", "-"))] = value
	}
	told, code = a.steps(t, inputs)
	text, _ := os.ReadFile(filepath.Join(a.github, "notes"))
	return string(text), told, code
}

// acts is act that has to succeed.
func (a *action) acts(t *testing.T, command string, settings ...string) (asked string) {
	t.Helper()
	asked, told, code := a.act(t, command, settings...)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s", command, code, told)
	}
	return asked
}

// store makes the plan of the last run the artifact of a run, and leaves what it leaves on a new machine: nothing.
func (a *action) store(t *testing.T, run string) {
	t.Helper()
	dir := filepath.Join(a.github, "artifact-"+run)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Rename(filepath.Join(a.temp, "planform-acme.plan.json"), filepath.Join(dir, "planform-acme.plan.json"))); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Fatalf("%s: no %q in\n%s", what, part, text)
		}
	}
}

const seeded = `{version: 1, workspace: acme, vars: {title: A}, projects: [{identifier: WEB, work_items: [{key: a, name: "${{ vars.title }}", priority: PRIORITY}]}]}`

func withPriority(priority string) string { return strings.ReplaceAll(seeded, "PRIORITY", priority) }

// TestTheActionPlansAppliesAndReportsDrift leads a change from the pull request to the workspace, with the steps of action.yml.
func TestTheActionPlansAppliesAndReportsDrift(t *testing.T) {
	t.Parallel()
	a := newAction(t, map[string]string{"web.yaml": withPriority("high")})
	const title = "ARGS=--order any\n--var 'title=Two  words'"

	has(t, "a plan is a new comment", a.acts(t, "plan", title), "--method POST repos/acme/config/issues/5/comments", "<!-- planform: acme -->", "work_item/web/a", "Two  words")
	a.put(t, a.github, "comments", comments("99", "100"))
	has(t, "or that of before", a.acts(t, "plan", title), "--method PATCH repos/acme/config/issues/comments/99 ", "work_item/web/a")
	output, _ := os.ReadFile(filepath.Join(a.github, "output"))
	asked, _ := os.ReadFile(filepath.Join(a.github, "notes"))
	has(t, "the comment links the page that is an artifact", string(asked), "(https://github.com/acme/config/actions/runs/77#artifacts)", "`planform-acme-page`")
	page, _ := os.ReadFile(filepath.Join(a.temp, "planform-acme.plan.html"))
	has(t, "which shows the plan", string(page), "<!DOCTYPE html>", "work_item/web/a")
	has(t, "and which action.yml uploads", inRepository(t, "action.yml"), "name: planform-${{ inputs.name }}-page\n        path: ${{ runner.temp }}/planform-${{ inputs.name }}.plan.html\n")
	has(t, "its outputs", string(output), "pending=true\n", "hash=sha256:")
	a.store(t, "77")
	has(t, "the reviewed plan is carried out", a.acts(t, "apply", title), "run download 77 --repo acme/config --name planform-acme")
	if rows := a.Rows("work_item"); len(rows) != 2 || !strings.Contains(fmt.Sprint(rows), "Two  words") {
		t.Errorf("work items: %v", rows)
	}
	has(t, "and the state is pushed", a.must(t, "git", "--git-dir", a.origin, "ls-tree", "-r", "--name-only", "HEAD"), ".planform/")
	a.must(t, "git", "pull", "--quiet")

	if asked := a.acts(t, "drift", title); regexp.MustCompile(`issue (create|edit|close)`).MatchString(asked) {
		t.Errorf("nothing drifted, and issues of others stay open: %s", asked)
	}
	a.put(t, a.repo, "theirs.yaml", withPriority("low"))
	a.must(t, "planform", "apply", "--yes", "-f", filepath.Join(a.repo, "theirs.yaml"), "--state", filepath.Join(a.github, "theirs.json"))
	has(t, "drift is an issue", a.acts(t, "drift", title), "issue create --repo acme/config --title "+driftTitle+" ")
	a.put(t, a.github, "issues", issues("12", "13"))
	has(t, "that is updated", a.acts(t, "drift", title), "issue edit 12")
	if _, told, code := a.act(t, "apply", title); code == 0 || !strings.Contains(told, "stale") {
		t.Errorf("a plan whose changes were undone since is stale: exit code %d\n%s", code, told)
	}
	a.must(t, "planform", "apply", "--yes", "-f", filepath.Join(a.repo, "web.yaml"), "--var", "title=Two  words")
	has(t, "and closed", a.acts(t, "drift", title), "issue close 12")
}

// TestTheActionLabelsThePullRequest: with what its plan does, and with nothing if there is no plan.
func TestTheActionLabelsThePullRequest(t *testing.T) {
	t.Parallel()
	const stale = `[{"name": "bug"}, {"name": "planform acme: deletions"}, {"name": "planform other: changes"}]`
	gone, added := "--method DELETE repos/acme/config/issues/5/labels/planform%20acme%3A%20deletions", "--method POST repos/acme/config/issues/5/labels --field labels[]=planform acme: "
	for name, tt := range map[string]struct {
		manifest, labels string
		settings         []string
		want, not        []string
	}{
		"changes":                     {withPriority("high"), "[]", nil, []string{added + "changes "}, []string{"DELETE"}},
		"in place of what was":        {withPriority("high"), stale, nil, []string{gone, added + "changes "}, []string{"labels/bug", "labels/planform%20other"}},
		"not twice":                   {withPriority("high"), `[{"name": "planform acme: changes"}]`, nil, nil, []string{added, "DELETE"}},
		"deletions":                   {"{version: 1, workspace: acme, projects: [{identifier: WEB}]}", "[]", []string{"ARGS=--prune"}, []string{added + "deletions "}, nil},
		"nothing":                     {"{version: 1, workspace: acme, projects: [{identifier: WEB}]}", stale, nil, []string{gone, added + "nothing "}, nil},
		"no plan":                     {"{version: 1, workspace: acme, x: 1}", stale, nil, []string{gone}, []string{added}},
		"none, if that is not wanted": {withPriority("high"), stale, []string{"LABEL=false"}, nil, []string{"/labels"}},
		"no comment on an empty plan": {"{version: 1, workspace: acme, projects: [{identifier: WEB}]}", "[]", []string{"COMMENT_EMPTY=false"}, []string{added + "nothing "}, []string{"/comments --field"}},
		"but on one with changes":     {withPriority("high"), "[]", []string{"COMMENT_EMPTY=false"}, []string{"/comments --field"}, nil},
	} {
		if !sample.TakesNamed(name, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAction(t, map[string]string{"web.yaml": tt.manifest})
			if name == "deletions" {
				a.put(t, a.repo, "web.yaml", withPriority("high"))
				a.must(t, "planform", "apply", "--yes", "-f", filepath.Join(a.repo, "web.yaml"))
				a.put(t, a.repo, "web.yaml", tt.manifest)
			}
			a.put(t, a.github, "labels", tt.labels)
			asked, told, _ := a.act(t, "plan", tt.settings...)
			for _, part := range tt.want {
				if !strings.Contains(asked, part) {
					t.Errorf("no %q in\n%s\n%s", part, asked, told)
				}
			}
			for _, part := range tt.not {
				if strings.Contains(asked, part) {
					t.Errorf("%q in\n%s", part, asked)
				}
			}
		})
	}
}

// TestTheActionSaysInTheCommentThatThereIsNoPlan: a reviewer must not approve the plan of a former push.
func TestTheActionSaysInTheCommentThatThereIsNoPlan(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		manifest string
		settings []string
		code     int
		errors   []string
	}{
		"a manifest with an error": {
			"version: 1\nworkspace: acme\nprojects: [{identifier: WEB, work_items: [{key: a, nam: \"@all ``` </details>\"}]}]\n", nil, 1,
			[]string{"\n    error: unknown field \"nam\" in a work item", "\n      --> web.yaml:3:"},
		},
		"a service that refuses":       {withPriority("high"), []string{"PLANE_API_KEY=wrong"}, 4, []string{"\n    error: "}},
		"arguments with an open quote": {withPriority("high"), []string{"ARGS=--var 'a"}, 64, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAction(t, map[string]string{"web.yaml": tt.manifest})
			a.put(t, a.github, "comments", comments("99"))
			asked, told, code := a.act(t, "plan", tt.settings...)
			if code != tt.code {
				t.Fatalf("exit code %d, want %d\n%s", code, tt.code, told)
			}
			if tt.errors == nil {
				has(t, "the log", told, "::error::a quote is not closed in: --var 'a")
				return
			}
			has(t, "the comment", asked, append(tt.errors, "--method PATCH repos/acme/config/issues/comments/99 ",
				fmt.Sprintf("\n**planform could not plan this change** (exit code %d): [log](https://github.com/acme/config/actions/runs/77). Earlier plans are void.\n\n    ", tt.code))...)
			if strings.Contains(asked, "::error") {
				t.Errorf("the comment holds annotations:\n%s", asked)
			}
			if _, err := os.Stat(filepath.Join(a.temp, "planform-acme.plan.json")); err == nil {
				t.Error("there is a plan")
			}
			summary, _ := os.ReadFile(filepath.Join(a.github, "summary"))
			has(t, "the summary", string(summary), "planform could not plan this change")
		})
	}
}

// TestTheActionAppliesNothingButTheReviewedPlan: neither a plan of the repository, nor one of another workflow, of a fork, or of
// other manifests and flags than those of the workflow.
func TestTheActionAppliesNothingButTheReviewedPlan(t *testing.T) {
	t.Parallel()
	const evil, plan = "docs/evil.yaml", "planform-acme.plan.json"
	artifact := func(t *testing.T, a *action, args ...string) {
		t.Helper()
		a.must(t, "planform", append([]string{"plan", "--out", filepath.Join(a.temp, plan)}, args...)...)
		a.store(t, "77")
	}
	for name, tt := range map[string]struct {
		before   func(t *testing.T, a *action)
		settings []string
		told     string
	}{
		"a plan of the repository": {func(t *testing.T, a *action) {
			t.Helper()
			a.must(t, "planform", "plan", "-f", evil, "--out", plan)
			artifact(t, a, "-f", "web.yaml")
		}, nil, ""},
		"a plan of the repository, and none that was reviewed": {func(t *testing.T, a *action) {
			t.Helper()
			a.must(t, "planform", "plan", "-f", evil, "--out", plan)
		}, nil, "there is no plan planform-acme of abc123: run the plan of the pull request again"},
		"of other manifests": {func(t *testing.T, a *action) {
			t.Helper()
			artifact(t, a, "-f", evil)
		}, nil, "was made with -f docs/evil.yaml, not with -f web.yaml"},
		"with other flags": {func(t *testing.T, a *action) {
			t.Helper()
			artifact(t, a, "-f", "web.yaml", "--var", "title=EVIL")
		}, nil, "was made with -f web.yaml --var 'title=EVIL', not with -f web.yaml"},
		"beside further files": {func(t *testing.T, a *action) {
			t.Helper()
			artifact(t, a, "-f", "web.yaml")
			a.put(t, a.github, "artifact-77/.git/hooks/post-commit", "touch owned")
		}, nil, "the artifact planform-acme of abc123 is not one plan"},
		"that is a link": {func(t *testing.T, a *action) {
			t.Helper()
			a.must(t, "planform", "plan", "-f", "web.yaml", "--out", plan)
			a.must(t, "mkdir", filepath.Join(a.github, "artifact-77"))
			a.must(t, "ln", "-s", filepath.Join(a.repo, plan), filepath.Join(a.github, "artifact-77", plan))
		}, nil, "the artifact planform-acme of abc123 is not one plan"},
		"of a workflow that did not run": {func(t *testing.T, a *action) {
			t.Helper()
			artifact(t, a, "-f", "web.yaml")
		}, []string{"PLAN_WORKFLOW=other.yml"}, "the workflow other.yml did not run for abc123: the input plan-workflow names the file of the one that plans"},
		"of a fork": {func(t *testing.T, a *action) {
			t.Helper()
			artifact(t, a, "-f", "web.yaml")
			a.put(t, a.github, "runs", `{"workflow_runs": [{"id": 77, "run_number": 5, "repository": {"id": 1}, "head_repository": {"id": 2}}]}`)
		}, nil, "the workflow plan.yml did not run for abc123"},
		"of a pull request into another branch": {func(t *testing.T, a *action) {
			t.Helper()
			artifact(t, a, "-f", "web.yaml")
		}, []string{"GITHUB_REF_NAME=release"}, "abc is of no pull request that was merged into release: there is no reviewed plan"},
	} {
		if !sample.TakesNamed(name, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAction(t, map[string]string{"web.yaml": withPriority("high"), evil: strings.ReplaceAll(withPriority("high"), "title: A", "title: EVIL")})
			tt.before(t, a)
			_, told, code := a.act(t, "apply", tt.settings...)
			want := 2
			if tt.told != "" {
				want = 1
				has(t, "the log", told, tt.told)
			}
			if rows := a.Rows("work_item"); (code == 0) != (tt.told == "") || len(rows) != want || strings.Contains(fmt.Sprint(rows), "EVIL") {
				t.Errorf("exit code %d, work items: %v\n%s", code, rows, told)
			}
			if _, err := os.Stat(filepath.Join(a.repo, "owned")); err == nil {
				t.Error("a file of the artifact was run")
			}
		})
	}
}

// gitlab stands for curl: it notes what it is asked and given, and answers as GitLab's API does from the files of a folder.
const gitlab = `#!/usr/bin/env bash
printf '%s\n' "$*" >>"$GITLAB/notes"
for arg in "$@"; do
  case $arg in body@*) cat "${arg#body@}" >>"$GITLAB/notes" ;; esac
done
case $* in
  *"--header PRIVATE-TOKEN: secret "*) ;;
  *) exit 22 ;;
esac
case $* in
  *" https://gitlab/api/v4/user") echo '{"id": 7}' ;;
  *" https://gitlab/api/v4/projects/1/merge_requests/5/notes?sort=asc&per_page=100") cat "$GITLAB/comments" ;;
  *" https://gitlab/api/v4/projects/1/repository/commits/abc/merge_requests") echo '[{"iid": 4, "state": "closed"}, {"iid": 5, "state": "merged"}]' ;;
  *" --output plan.json https://gitlab/api/v4/projects/1/jobs/artifacts/refs%2Fmerge-requests%2F5%2Fhead/raw/plan.json?job=plan") cp "$GITLAB/plan.json" . ;;
  *" --request "*" --data-urlencode body@plan.md "*) ;;
  *) exit 22 ;;
esac
`

// TestTheGitLabPipelineAppliesWhatWasReviewed runs the scripts of the pipeline that docs/ci.md shows.
func TestTheGitLabPipelineAppliesWhatWasReviewed(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip(err)
	}
	var jobs map[string]struct{ Script []string }
	for _, b := range blocks(t, "../../docs/ci.md") {
		if b.file == ".gitlab-ci.yml" {
			if err := yaml.Unmarshal([]byte(b.text), &jobs); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := newService(t)
	lab, checkout := t.TempDir(), t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(lab, "curl"), gitlab)
	put(filepath.Join(lab, "comments"), `[{"id": 66, "author": {"id": 8}, "body": "<!-- planform -->\nmine"}]`)
	job := func(name string) (asked, told string, code int) {
		t.Helper()
		_ = os.Remove(filepath.Join(lab, "notes"))
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", strings.Join(jobs[name].Script, "\n"))
		cmd.Dir = checkout
		cmd.Env = append(os.Environ(), "PLANE_BASE_URL="+s.url, "PLANE_API_KEY="+sandbox.Key, "NO_COLOR=1", "PATH="+filepath.Dir(program(t))+":"+lab+":"+os.Getenv("PATH"), "GITLAB="+lab,
			"API=https://gitlab/api/v4/projects/1", "CI_API_V4_URL=https://gitlab/api/v4", "CI_MERGE_REQUEST_IID=5", "CI_COMMIT_SHA=abc", "CI_JOB_URL=https://gitlab/job/1", "API_TOKEN=secret")
		out, _ := cmd.CombinedOutput()
		notes, _ := os.ReadFile(filepath.Join(lab, "notes"))
		return string(notes), string(out), cmd.ProcessState.ExitCode()
	}
	manifest := filepath.Join(checkout, "workspace.yaml")

	put(manifest, withPriority("high"))
	asked, told, code := job("plan")
	if code != 0 {
		t.Fatalf("plan: exit code %d\n%s", code, told)
	}
	has(t, "a plan is a new note", asked, "--request POST --data-urlencode body@plan.md https://gitlab/api/v4/projects/1/merge_requests/5/notes\n<!-- planform -->\n### planform plan", "work_item/web/a")
	put(filepath.Join(lab, "comments"), `[{"id": 66, "author": {"id": 8}, "body": "<!-- planform -->\nmine"}, {"id": 99, "author": {"id": 7}, "body": "<!-- planform -->\nplan"}]`)
	if err := os.Rename(filepath.Join(checkout, "plan.json"), filepath.Join(lab, "plan.json")); err != nil {
		t.Fatal(err)
	}

	put(manifest, "version: 2\n")
	asked, _, code = job("plan")
	if code != 1 {
		t.Errorf("a plan that fails: exit code %d", code)
	}
	has(t, "a failed plan replaces the note", asked, "--request PUT --data-urlencode body@plan.md https://gitlab/api/v4/projects/1/merge_requests/5/notes/99\n<!-- planform -->\n**planform could not plan this change:** [log](https://gitlab/job/1)\n")

	put(manifest, withPriority("high"))
	if _, told, code := job("apply"); code != 0 || len(s.Rows("work_item")) != 2 {
		t.Errorf("apply: exit code %d\n%s", code, told)
	}
}

// curl stands for the download of a release: it takes the files of a folder, whatever the address before them.
const curl = `#!/usr/bin/env bash
for arg in "$@"; do
  case $arg in https://github.com/planform/planform/releases/download/v1.2.3/*) cp "$RELEASE/${arg##*/}" . || exit 22 ;; esac
done
`

// TestTheActionInstallsOnlyWhatHasItsChecksum: an archive that was exchanged, or that checksums.txt does not name, is not unpacked.
func TestTheActionInstallsOnlyWhatHasItsChecksum(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("../../.github/action/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		after string // what happens to the release
		code  int
	}{
		"as released":                 {after: "true"},
		"exchanged":                   {after: "echo evil >planform; for f in planform_*; do tar czf $f planform; done", code: 1},
		"without a line for it":       {after: "sed -i.bak s/tar.gz/zip/ checksums.txt", code: 1},
		"with a line for its list":    {after: "sed -i.bak s/tar.gz/tar.gz.sbom.json/ checksums.txt", code: 1},
		"without a checksum at all":   {after: ">checksums.txt", code: 1},
		"a version that is not there": {after: "rm checksums.txt", code: 22},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin, release, temp := t.TempDir(), t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(bin, "curl"), []byte(curl), 0o700); err != nil {
				t.Fatal(err)
			}
			run := func(dir string, words ...string) (out string, code int) {
				cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RELEASE="+release, "RUNNER_TEMP="+temp, "GITHUB_PATH="+filepath.Join(temp, "path"), "VERSION=v1.2.3")
				text, _ := cmd.CombinedOutput()
				return string(text), cmd.ProcessState.ExitCode()
			}
			if out, code := run(release, "bash", "-ec", `echo program >planform
				for s in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64; do tar czf planform_$s.tar.gz planform; done
				if command -v sha256sum >/dev/null; then sha256sum planform_*; else shasum -a 256 planform_*; fi >checksums.txt
				`+tt.after); code != 0 {
				t.Fatal(out)
			}
			out, code := run(temp, "bash", script)
			_, err := os.Stat(filepath.Join(temp, "planform", "planform"))
			if code != tt.code || (err == nil) != (code == 0) {
				t.Errorf("exit code %d, installed: %v\n%s", code, err == nil, out)
			}
		})
	}
}

// TestTheActionSplitsArgumentsAsAShellAndExpandsNothing gives the script's function random texts of what shells act on.
func TestTheActionSplitsArgumentsAsAShellAndExpandsNothing(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../.github/action/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	function := regexp.MustCompile(`(?ms)^words\(\) \{$.*?^\}$`).FindString(string(script))
	if function == "" {
		t.Fatal("the script has no function words")
	}
	texts := []string{"", " \t\n ", "--prune", "--var 'a b'  -x", `--var "it's"`, `'' ""`, "-n", "-e x", "--", "$(touch x) `touch x` ${HOME} ~ * ?", `a\ b \' \"`, "%s %d \\n", "'a", "_", "é '日 本'"}
	random := rand.New(rand.NewSource(1))
	pieces := []string{"a", "-", "--x=", " ", " ", "\n", "\t", "'", "'", `"`, `"`, `\`, "$(touch x)", "`touch x`", "$HOME", "*", "~", "{a,b}", ";touch x", "|", "&", ">x", "#", "%s", "%n", "é", "=", "!!", "[a]"}
	for range 300 {
		var b strings.Builder
		for range 1 + random.Intn(9) {
			b.WriteString(pieces[random.Intn(len(pieces))])
		}
		texts = append(texts, b.String())
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{
		"-euc", function + `
for text; do
  (words "$text" >/dev/null 2>&1; printf '%s\1' ${words[@]+"${words[@]}"}) || printf 'refused\1'
  printf '\2'
done`, "bash",
	}, texts...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(string(out), "\x02")
	for i, text := range texts {
		if want := shellWords(text); got[i] != want {
			t.Errorf("%q is split into %q, want %q", text, got[i], want)
		}
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("something ran: %v, %v", made, err)
	}
}

// shellWords splits a text at white space. Quotes hold together what is on one line, and a backslash takes the next character as it is.
func shellWords(text string) string {
	var words strings.Builder
	word, quote := "", rune(0)
	flush := func() {
		for part := range strings.SplitSeq(word, "\n") {
			if part != "" {
				words.WriteString(part + "\x01")
			}
		}
		word = ""
	}
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			word, escaped = word+string(r), false
		case quote != 0 && r == '\n':
			return "refused\x01"
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote = r
		case r == '\\':
			escaped = true
		case strings.ContainsRune(" \t\n", r):
			flush()
		default:
			word += string(r)
		}
	}
	if flush(); quote != 0 {
		return "refused\x01"
	}
	return cmp.Or(words.String(), "\x01") // printf writes its format once, without any
}
