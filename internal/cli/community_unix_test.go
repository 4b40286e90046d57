//go:build unix

package cli_test

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheNightlyServiceIsGivenUpWithItsLog runs .github/community/start with programs that stand for curl and docker.
func TestTheNightlyServiceIsGivenUpWithItsLog(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	script, err := filepath.Abs("../../.github/community/start")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		status, made, out, says string
		version                 string // asked for; default v9.9.9
	}{
		"a service that comes up gives its key":       {status: "401", made: "PLANE_API_KEY=plane_api_1", out: "PLANE_API_KEY=plane_api_1\n"},
		"the newest version is looked up":             {status: "401", made: "PLANE_API_KEY=plane_api_1", out: "PLANE_API_KEY=plane_api_1\n", version: "latest"},
		"a service that does not come up is given up": {status: "502", says: "start: the service does not ask for a key after 0 seconds"},
		"a service that makes no keys is given up":    {status: "401", made: "Traceback", says: "start: no keys came of the workspaces"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			for program, text := range map[string]string{
				"curl":   "case $* in *users/me*) printf " + test.status + " ;; *releases/latest*) echo https://example.com/releases/tag/v9.9.9 ;; *releases/download/v9.9.9/*) echo APP_RELEASE=stable >\"${!#}\" ;; *) exit 22 ;; esac",
				"docker": "case $2 in exec) cat >/dev/null; echo '" + test.made + "' ;; logs) echo 'migrator: relation does not exist' ;; esac",
				"sleep":  "exit 0",
			} {
				if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/usr/bin/env bash\n"+text+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "bash", script, dir, "one,two")
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "PLANE_START_SECONDS=0", "PLANE_VERSION="+cmp.Or(test.version, "v9.9.9"))
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); (err != nil) != (test.says != "") {
				t.Errorf("ends with %v:\n%s", err, &errs)
			}
			if settings, err := os.ReadFile(filepath.Join(dir, ".env")); err != nil || string(settings) != "APP_RELEASE=v9.9.9\n" {
				t.Errorf("the settings are %q, %v: images of another release", settings, err)
			}
			if out.String() != test.out {
				t.Errorf("prints %q, want %q", &out, test.out)
			}
			if test.says != "" && (!strings.Contains(errs.String(), test.says) || !strings.Contains(errs.String(), "relation does not exist")) {
				t.Errorf("says\n%s, and not %q with the log", &errs, test.says)
			}
		})
	}
}
