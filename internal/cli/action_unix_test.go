//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// gh stands for GitHub's program: it answers what the test says, and notes what it is asked and given.
const gh = `#!/usr/bin/env bash
printf '%s\n' "$*" >>"$NOTES"
for arg in "$@"; do
  case $arg in body=@*) cat "${arg#body=@}" >>"$NOTES" ;; esac
done
case $* in
  *"/comments --jq "*) cat comment 2>/dev/null ;;
  *"/pulls --jq "*) echo abc123 ;;
  *"/artifacts?"*) echo 77 ;;
  "run download 77 "*) cp "$STORE/planform-acme.plan.json" . ;;
  "issue list "*) cat issue 2>/dev/null ;;
esac
exit 0
`

const seeded = `{version: 1, workspace: acme, projects: [{identifier: WEB, work_items: [{key: a, name: A, priority: PRIORITY}]}]}`

// TestTheActionPlansAppliesAndReportsDrift leads a change from the pull request to the workspace, with the script that action.yml runs.
func TestTheActionPlansAppliesAndReportsDrift(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("../../.github/action/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	s := newService(t, sandboxtest.Options{})
	bin, store, notes := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(gh), 0o700); err != nil {
		t.Fatal(err)
	}
	origin, repo := t.TempDir(), t.TempDir()
	env := append(os.Environ(), "PLANE_BASE_URL="+s.url, "PLANE_API_KEY="+sandbox.Key, "NO_COLOR=1", "PATH="+filepath.Dir(program(t))+":"+bin+":"+os.Getenv("PATH"), "NOTES="+notes, "STORE="+store, "RUNNER_TEMP="+t.TempDir(),
		"GITHUB_OUTPUT="+filepath.Join(store, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(store, "summary"), "GITHUB_REPOSITORY=acme/config", "GITHUB_SHA=abc",
		"FILES=web.yaml", "ARGS=", "APPLY_ARGS=", "NAME=acme", "COMMIT_STATE=true", "PULL_REQUEST=5",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com", "GIT_CONFIG_GLOBAL=/dev/null")
	run := func(name string, args ...string) (told string, code int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = repo, env
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	must := func(name string, args ...string) string {
		t.Helper()
		out, code := run(name, args...)
		if code != 0 {
			t.Fatalf("%s %q: exit code %d\n%s", name, args, code, out)
		}
		return out
	}
	act := func(command string) (asked string) {
		t.Helper()
		_ = os.Remove(notes)
		must("env", "COMMAND="+command, "bash", script)
		text, _ := os.ReadFile(notes)
		return string(text)
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	has := func(what, text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Fatalf("%s: no %q in\n%s", what, part, text)
			}
		}
	}
	must("git", "init", "--quiet", "--bare", origin)
	must("git", "clone", "--quiet", origin, ".")
	put("web.yaml", strings.ReplaceAll(seeded, "PRIORITY", "high"))
	must("git", "add", ".")
	must("git", "commit", "--quiet", "-m", "web")
	must("git", "push", "--quiet", "origin", "HEAD")

	has("a plan is a new comment", act("plan"), "--method POST repos/acme/config/issues/5/comments", "<!-- planform: acme -->", "work_item/web/a")
	put("comment", "99\n")
	has("or that of before", act("plan"), "--method PATCH repos/acme/config/issues/comments/99", "work_item/web/a")
	output, _ := os.ReadFile(filepath.Join(store, "output"))
	has("its outputs", string(output), "pending=true\n", "hash=sha256:")

	if err := os.Rename(filepath.Join(repo, "planform-acme.plan.json"), filepath.Join(store, "planform-acme.plan.json")); err != nil {
		t.Fatal(err)
	}
	has("the reviewed plan is carried out", act("apply"), "run download 77 --repo acme/config --name planform-acme")
	if n := len(s.Rows("work_item")); n != 2 {
		t.Errorf("%d work items", n)
	}
	has("and the state is pushed", must("git", "--git-dir", origin, "ls-tree", "-r", "--name-only", "HEAD"), ".planform/")
	must("git", "pull", "--quiet")

	if asked := act("drift"); strings.Contains(asked, "issue create") || strings.Contains(asked, "issue close") {
		t.Errorf("nothing drifted: %s", asked)
	}
	put("theirs.yaml", strings.ReplaceAll(seeded, "PRIORITY", "low"))
	s.must(t, "apply", "-f", filepath.Join(repo, "theirs.yaml"), "--state", filepath.Join(store, "theirs.json"))
	has("drift is an issue", act("drift"), "issue create --repo acme/config --title The workspace differs from its manifests (acme)")
	put("issue", "12\n")
	has("that is updated", act("drift"), "issue edit 12")
	_ = os.Remove(filepath.Join(repo, "planform-acme.plan.json")) // that of the drift check
	if out, code := run("env", "COMMAND=apply", "bash", script); code == 0 || !strings.Contains(out, "stale") {
		t.Errorf("a plan whose changes were undone since is stale: exit code %d\n%s", code, out)
	}
	s.must(t, "apply", "-f", filepath.Join(repo, "web.yaml"))
	has("and closed", act("drift"), "issue close 12")
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
