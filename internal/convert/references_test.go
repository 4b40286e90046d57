package convert

import (
	"testing"

	"github.com/planform/planform/internal/convert/mapping"
)

func TestTextsLinkToTheItemsThatTheyName(t *testing.T) {
	t.Parallel()
	jira := func(key string, number int) *Issue { return &Issue{Key: key, Project: "PROJ", Number: number} }
	github := func(project, key string) *Issue {
		return &Issue{Key: key, Project: project, Number: int(key[0] - '0'), URL: "https://github.com/" + project + "/issues/" + key}
	}
	ops := jira("OPS-1", 1)
	ops.Project = "OPS"
	for name, tt := range map[string]struct {
		site, browse string
		issues       []*Issue // the text is of the first
		plain        bool
		texts        map[string]string
	}{
		"Jira": {
			site: "https://old.example.com", browse: "/browse/{key}", issues: []*Issue{jira("PROJ-1", 1), jira("PROJ-12", 12), ops},
			texts: map[string]string{
				"PROJ-12, (PROJ-12) and OPS-1.":                                          "[PROJ-12](planform:work_item/proj/PROJ-12), ([PROJ-12](planform:work_item/proj/PROJ-12)) and [OPS-1](planform:work_item/ops/OPS-1).",
				"`PROJ-12` a/PROJ-12 xPROJ-12 PROJ-12.png PROJ-12-x !PROJ-12":            "`PROJ-12` a/PROJ-12 xPROJ-12 PROJ-12.png PROJ-12-x !PROJ-12",
				"UTF-8, SHA-1, #12, a@b/c#12":                                            "UTF-8, SHA-1, #12, a@b/c#12",
				"once OLD-3":                                                             "once [OLD-3](planform:work_item/proj/PROJ-12)",
				"PROJ-1 itself":                                                          "PROJ-1 itself",
				"gone: PROJ-99":                                                          "gone: [PROJ-99](https://old.example.com/browse/PROJ-99)",
				"https://old.example.com/browse/PROJ-12.":                                "[PROJ-12](planform:work_item/proj/PROJ-12).",
				"https://old.example.com/browse/PROJ-12?focusedId=5#c":                   "[PROJ-12](planform:work_item/proj/PROJ-12)",
				"https://old.example.com/browse/PROJ-99 https://x/PROJ-12":               "https://old.example.com/browse/PROJ-99 https://x/PROJ-12",
				"[PROJ-12](https://old.example.com/browse/PROJ-12) [PROJ-12](https://x)": "[PROJ-12](planform:work_item/proj/PROJ-12) [PROJ-12](https://x)",
			},
		},
		"without a site only known issues become links": {
			issues: []*Issue{jira("PROJ-1", 1), jira("PROJ-12", 12)},
			texts:  map[string]string{"PROJ-12 PROJ-99": "[PROJ-12](planform:work_item/proj/PROJ-12) PROJ-99"},
		},
		"GitHub": {
			issues: []*Issue{github("acme/shop", "1"), github("acme/shop", "7"), github("acme/web", "7")},
			texts: map[string]string{
				"#7, \\#7, acme/web#7 and #1":                        "[#7](planform:work_item/shop/7), [\\#7](planform:work_item/shop/7), [acme/web#7](planform:work_item/web/7) and #1",
				"a#7 #7a C#7 &#7;":                                   "a#7 #7a C#7 &#7;",
				"#99 acme/web#99 other/repo#5":                       "[#99](https://github.com/acme/shop/issues/99) [acme/web#99](https://github.com/acme/web/issues/99) [other/repo#5](https://github.com/other/repo/issues/5)",
				"https://github.com/acme/web/pull/7#issuecomment-12": "[#7](planform:work_item/web/7)",
				"PROJ-7": "PROJ-7",
			},
		},
		"Linear": {
			site: "https://linear.app/acme", browse: "/issue/{key}", issues: []*Issue{jira("PROJ-1", 1), jira("PROJ-13", 13)},
			texts: map[string]string{"[PROJ-13](https://linear.app/acme/issue/PROJ-13/a-title)": "[PROJ-13](planform:work_item/proj/PROJ-13)"},
		},
		"the mapping may turn links off": {
			plain: true, issues: []*Issue{jira("PROJ-1", 1), jira("PROJ-12", 12)},
			texts: map[string]string{"PROJ-12": "PROJ-12"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &composer{
				format: &Format{}, found: newCollection(nil, nil), report: &Report{}, placed: map[string]place{}, pages: map[string]place{},
				moved: map[string]place{}, mapping: &mapping.Mapping{},
			}
			c.mapping.Text.NoLinks, c.mapping.Source.Site = tt.plain, tt.site
			c.found.browse = tt.browse
			keys := map[string]string{"PROJ": "proj", "OPS": "ops", "acme/shop": "shop", "acme/web": "web"}
			c.found.previously[tt.issues[1%len(tt.issues)]] = []string{"OLD-3"}
			for _, i := range tt.issues {
				c.found.Project(Project{Key: i.Project})
				c.put(place{i, &mapping.Project{Key: keys[i.Project]}, i.Key})
			}
			for text, want := range tt.texts {
				if got := c.refer(tt.issues[0], text); got != want {
					t.Errorf("%q\n got %q\nwant %q", text, got, want)
				}
			}
		})
	}
}
