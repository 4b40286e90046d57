package described

import (
	"cmp"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/tabular"
)

// gitlabUpload matches a link to an uploaded file.
var gitlabUpload = regexp.MustCompile(`\[[^\]\n]*\]\(/uploads/([0-9a-f]{32})/([^)\s]+)\)`)

// gitlab describes the export of a project of GitLab: the files below tree/ of the archive, or of the folder that it was unpacked to.
//
// issues.ndjson has an issue a line, with its notes, labels and milestone; project_members.ndjson says who the user IDs are, and
// project.json describes the project. Older versions wrote all of it into one project.json. Merge requests, pipelines and the
// like are left out.
func gitlab() *api {
	a := described(textOf("gitlab"), gitlabHooks)
	a.beside = func(name string) bool { // the other parts of an export, by the folder of all
		part, ok := strings.CutSuffix(strings.ReplaceAll(name, "\\", "/"), ".ndjson")
		return ok && strings.HasSuffix(path.Dir(part), "tree/project") &&
			!slices.Contains([]string{"issues", "labels", "milestones", "project_members"}, path.Base(part))
	}
	return a
}

func gitlabHooks() hooks {
	about := map[string]string{} // descriptions of projects, by the path of their files
	closers := map[*convert.Issue]string{}
	return hooks{
		title: func(name string) string { return strings.ReplaceAll(name, "_", " ") },
		record: func(x *reader, r records.Record, v records.Value) (bool, error) {
			if v.Has("visibility_level") && r.List == "" {
				about[gitlabFolder(r.Position.File)] = x.text(v, []string{"description"})
			}
			x.scope = "project-" + x.text(v, []string{"project_id"})
			return false, nil
		},
		issue: func(x *reader, i *convert.Issue, v records.Value) {
			i.Left["reactions"] = len(v.At("award_emoji")) + len(v.At("notes.award_emoji"))
			if v.Has("closed_at") {
				closers[i] = x.firstPerson(v, []string{"closed_by_id"})
			}
			tabular.GitLab(i, x.words)
		},
		finish: func(x *reader) {
			for _, i := range x.latest {
				text, ok := about[gitlabFolder(i.Position.File)]
				if !ok && len(about) == 1 { // a file outside its folder belongs to the only project
					text = slices.Collect(maps.Values(about))[0]
				}
				x.project(i.Project).Description = text
			}
		},
		complete: func(x *reader, i *convert.Issue) {
			if id := closers[i]; id != "" {
				field(i, "Closed by", cmp.Or(x.known[id], id), "closed_by_id")
			}
			for _, m := range gitlabUpload.FindAllStringSubmatch(x.publicTexts(i), -1) { // the files are in folder uploads of the archive
				name, err := url.PathUnescape(m[2])
				if err != nil {
					name = m[2]
				}
				if file := (convert.Attachment{ID: m[1], Name: name}); !slices.Contains(i.Attachments, file) {
					i.Attachments = append(i.Attachments, file)
				}
			}
		},
	}
}

// gitlabFolder returns the folder of a project's files, or the name of its only file without its extension.
func gitlabFolder(file string) string {
	of := strings.TrimSuffix(strings.ReplaceAll(file, "\\", "/"), ".json")
	if strings.HasSuffix(of, ".ndjson") {
		of = path.Dir(of)
	}
	return of
}
