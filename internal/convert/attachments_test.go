package convert_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// withFiles is an export of issues with attachments, each as id, name and size.
func withFiles(t *testing.T, issues ...[][3]any) fixture {
	t.Helper()
	var list []any
	for n, files := range issues {
		var attachments []any
		for _, f := range files {
			attachments = append(attachments, map[string]any{"id": f[0], "filename": f[1], "size": f[2], "content": "https://jira.example/content/" + f[0].(string)}) //nolint:forcetypeassert // as written below
		}
		number := string(rune('1' + n))
		list = append(list, map[string]any{"id": "1000" + number, "key": "A-" + number, "fields": map[string]any{"summary": "Item " + number, "attachment": attachments}})
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "issues.json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return fixture{files: []string{name}}
}

// lay puts files into a folder.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesOfTheFolderAreAttachedAndTheOthersLinkedTo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := withFiles(t, [][3]any{
		{"1", "plan.pdf", 4},
		{"2", "same.txt", 4},
		{"3", "same.txt", 5},
		{"4", "only.txt", 4},
		{"5", "../x", 4},
		{"6", "page.png", 0},
		{"7", "empty.txt", 0},
		{"8", "cut.txt", 9},
		{"9", "mail.eml", 4},
		{"10", "film.mp4", 6 << 20},
		{"11", "grown.mp4", 0},
		{"12", "out.txt", 0},
		{"../13", "odd.txt", 4},
		{"14", "folder.txt", 0},
		{"15", `..\x`, 4},
	}, [][3]any{{"20", "same.txt", 4}, {"21", "", 4}, {"22", "far.txt", 4}})
	lay(t, dir, map[string]string{
		"attachments/1-plan.pdf": "plan", "attachments/A-1/same.txt": "same", "attachments/same.txt": "same", "attachments/only.txt": "only", "x": "away", "attachments/5-x": "away", "attachments/x": "away",
		"attachments/6-page.png": "\ufeff <!DOCTYPE html><title>Log in</title>", "attachments/7-empty.txt": "", "attachments/8-cut.txt": "cut", "attachments/9-mail.eml": "mail",
		"attachments/11-grown.mp4": strings.Repeat("x", 5<<20+1), "attachments/14-folder.txt/x": "y",
	})
	outside := filepath.Join(t.TempDir(), "secret")
	lay(t, filepath.Dir(outside), map[string]string{"secret": "secret"})
	if err := os.Symlink(outside, filepath.Join(dir, "attachments", "12-out.txt")); err != nil {
		t.Fatal(err)
	}
	r := must(t, dir, f, nil)
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(contents(t, dir)["attachments.tsv"]), "\n")[1:] {
		cells := strings.Split(line, "\t")
		got = append(got, strings.Join([]string{cells[0], cells[1], cells[4], cells[5]}, " | "))
	}
	if diff := cmp.Diff([]string{
		"A-1 | plan.pdf | attachments/1-plan.pdf | upload",
		"A-1 | same.txt | attachments/A-1/same.txt | upload",
		"A-1 | same.txt | attachments/A-1/same.txt | size-differs",
		"A-1 | only.txt | attachments/only.txt | upload",
		"A-1 | ../x |  | name-refused",
		"A-1 | page.png | attachments/6-page.png | web-page",
		"A-1 | empty.txt | attachments/7-empty.txt | empty",
		"A-1 | cut.txt | attachments/8-cut.txt | size-differs",
		"A-1 | mail.eml |  | type-refused",
		"A-1 | film.mp4 |  | too-large",
		"A-1 | grown.mp4 | attachments/11-grown.mp4 | too-large",
		"A-1 | out.txt | attachments/12-out.txt | unreadable",
		"A-1 | odd.txt | attachments/13-odd.txt | missing",
		"A-1 | folder.txt | attachments/14-folder.txt | unreadable",
		`A-1 | ..\x |  | name-refused`,
		"A-2 | same.txt | attachments/20-same.txt | missing",
		"A-2 | 21 | attachments/21-21 | missing", // it has no name
		"A-2 | far.txt | attachments/22-far.txt | missing",
	}, got); diff != "" {
		t.Error(diff)
	}
	if r.Report.Counts.Attachments != 18 || r.Report.Carried.Attachments != 3 {
		t.Errorf("%+v", r.Report)
	}
	lost := map[string]int{}
	for _, l := range r.Report.Losses {
		lost[l.Kind] = l.Count
	}
	if lost["attachments"] != 4 || lost["attachments-refused"] != 11 {
		t.Error(lost)
	}
	m, findings := manifest.Load(t.Context(), []string{dir}, manifest.Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	var attached, linked []string
	for _, o := range m.Objects {
		switch o.Kind.Name {
		case "attachment":
			attached = append(attached, string(o.Address))
		case "link":
			linked = append(linked, o.Text("title"))
		}
	}
	if diff := cmp.Diff([]string{"attachment/a/A-1/1", "attachment/a/A-1/2", "attachment/a/A-1/4"}, attached); diff != "" {
		t.Error(diff)
	}
	if len(linked) != 15 {
		t.Error(linked)
	}
}

func TestTheFolderOfAttachmentsLiesBelowTheManifests(t *testing.T) {
	t.Parallel()
	f := withFiles(t, [][3]any{{"1", "plan.pdf", 4}})
	for folder, want := range map[string]string{"files/of/jira": "", "../files": "is no folder below", "/tmp": "is no folder below", ".": "is no folder below", "a/..": "is no folder below", ".planform": "is no folder below"} {
		dir := t.TempDir()
		lay(t, dir, map[string]string{"mapping.yaml": "attachments: {folder: " + folder + "}", folder + "/1-plan.pdf": "plan"})
		r, err := run(t, dir, f, nil)
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error()+diag.HintOf(err), "such as attachments")):
			t.Errorf("%s: %v", folder, err)
		case want == "" && (err != nil || r.Report.Carried.Attachments != 1 || !strings.Contains(contents(t, dir)["a.yaml"], "file: "+folder+"/1-plan.pdf")):
			t.Errorf("%s: %v %s", folder, err, contents(t, dir)["a.yaml"])
		}
	}
	dir := t.TempDir()
	lay(t, dir, map[string]string{"mapping.yaml": "attachments: {to: skip}"})
	r := must(t, dir, f, nil)
	if all := contents(t, dir); all["attachments.tsv"] != "" || strings.Contains(all["a.yaml"], "plan.pdf") || !strings.Contains(all["report.md"], "attachments (1)") || len(r.Report.Losses) > 0 {
		t.Errorf("skipped all the same: %v", all)
	}
}

func TestFilesThatTextsPointToAreAttachmentsOfGitHub(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "issues.json")
	if err := os.WriteFile(name, []byte(`[{"number": 1, "title": "First", "state": "open", "body": "![shot.png](https://github.com/user-attachments/assets/9f-1) [a](https://github.com/acme/shop/pull/1/files)\r\n<img src=\"https://user-images.githubusercontent.com/1/2-b.png\">",
		"comments": [{"body": "[log.zip](https://github.com/user-attachments/files/77/my%20log.zip) and https://github.com/acme/shop/files/78/old.zip, ![shot.png](https://github.com/user-attachments/assets/9f-1)"}]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	must(t, dir, fixture{files: []string{name}}, func(o *convert.Options) { o.Format = "github" })
	want := "github/1\tshot.png\t\thttps://github.com/user-attachments/assets/9f-1\tattachments/9f-1-shot.png\tmissing\n" +
		"github/1\t2-b.png\t\thttps://user-images.githubusercontent.com/1/2-b.png\tattachments/1/2-b.png\tmissing\n" +
		"github/1\tmy log.zip\t\thttps://github.com/user-attachments/files/77/my%20log.zip\tattachments/77-my log.zip\tmissing\n" +
		"github/1\told.zip\t\thttps://github.com/acme/shop/files/78/old.zip\tattachments/78-old.zip\tmissing\n"
	if _, got, _ := strings.Cut(contents(t, dir)["attachments.tsv"], "\n"); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func TestTextsShowTheFilesThatAreUploaded(t *testing.T) {
	t.Parallel()
	const shot, log = "https://github.com/user-attachments/assets/9f-1", "https://github.com/user-attachments/files/77/my%20log.zip"
	const rest = `[{"id": "1", "key": "A-1", "self": "https://x.atlassian.net/rest/api/2/issue/1", "fields": {"summary": "One", "project": {"key": "A", "name": "A"}, "description": %q,
		"attachment": [{"id": "5", "filename": "shot.png", "size": 4, "content": "https://x.atlassian.net/a/5"}, {"id": "6", "filename": "my log.zip", "size": 4, "content": "https://x.atlassian.net/a/6"}, {"id": "7", "filename": "gone.png", "size": 4, "content": "https://x.atlassian.net/a/7"}]}}]`
	for name, tt := range map[string]struct {
		export string
		files  []string
		want   []string
	}{
		"GitHub": {
			`[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "body": "![shot](` + shot + `) [![](` + shot + `)](https://x.test) ` + log + "\\n<img src=\\\"" + shot + `\"> ` + "`" + shot + "`" + `"}]`,
			[]string{"9f-1-shot", "77-my log.zip"},
			[]string{
				"![shot](planform:attachment/b/1/9f-1) [![](planform:attachment/b/1/9f-1)](https://x.test) [my log.zip](planform:attachment/b/1/77)",
				`<img src="planform:attachment/b/1/9f-1"> ` + "`" + shot + "`",
			},
		},
		"Jira": {
			fmt.Sprintf(rest, "!shot.png|thumbnail! [^my log.zip] !gone.png! https://x.atlassian.net/a/6"),
			[]string{"5-shot.png", "6-my log.zip"},
			[]string{"![shot.png](planform:attachment/a/A-1/5) [my log.zip](planform:attachment/a/A-1/6) [image: gone.png](https://x.atlassian.net/a/7) [my log.zip](planform:attachment/a/A-1/6)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, file := range tt.files {
				put(t, dir, map[string]string{"attachments/" + file: "file"})
			}
			must(t, dir, inline(t, "i.json", tt.export), nil)
			all := contents(t, dir)
			text := all["a.yaml"] + all["b.yaml"]
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			if _, findings := manifest.Load(t.Context(), []string{dir}, manifest.Options{}); len(findings) > 0 {
				t.Error(findings)
			}
		})
	}
}

func TestFilesOfOneNameInAnItemHavePathsOfTheirOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, map[string]string{"attachments/A-1/a.png": "first", "attachments/A-1/2-a.png": "second"})
	must(t, dir, inline(t, "a.csv", "Key,Title,Attachments\nA-1,One,https://x.test/1/a.png;https://x.test/2/a.png;https://x.test/3/a.png\n"), nil)
	all := contents(t, dir)
	for _, want := range []string{"file: attachments/A-1/a.png", "file: attachments/A-1/2-a.png", "https://x.test/3/a.png\tattachments/A-1/3-a.png\tmissing"} {
		if !strings.Contains(all["csv.yaml"]+all["attachments.tsv"], want) {
			t.Errorf("no %q in\n%s\n%s", want, all["csv.yaml"], all["attachments.tsv"])
		}
	}
}
