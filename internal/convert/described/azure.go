package described

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
)

var (
	azureFile = regexp.MustCompile(`(?i)https?://[^\s"'<>]+/_apis/wit/attachments/([0-9a-f-]{36})\?[^\s"'<>]*?fileName=([^\s"'<>&]+)`)
	azureHTML = regexp.MustCompile(`(?i)^\s*<(?:div|p|ul|ol|span|table|h[1-6]|b|strong|br|pre)\b`)
	azureWord = regexp.MustCompile(`([^A-Z])([A-Z])`)
)

// azure describes the answers of Azure DevOps' REST API for work items with their relations, for their comments, and for their updates.
func azure() *api {
	return described(textOf("azure"), func() hooks {
		return hooks{
			place: azurePlace,
			issue: func(_ *reader, i *convert.Issue, _ records.Value) {
				for _, m := range azureFile.FindAllStringSubmatch(i.Text.Body, -1) { // a picture within a text is no relation
					if id := strings.ToLower(m[1]); !slices.ContainsFunc(i.Attachments, func(a convert.Attachment) bool { return a.ID == id }) {
						name, _ := url.QueryUnescape(m[2])
						i.Attachments = append(i.Attachments, convert.Attachment{ID: id, Name: name, URL: m[0]})
					}
				}
			},
			title: func(name string) string { return azureWord.ReplaceAllString(lastPart(name, '.'), "$1 $2") }, // ReproSteps is Repro Steps
			link: func(kind string) (name, way string) { // such as System.LinkTypes.Dependency-Forward
				name, way, _ = strings.Cut(lastPart(kind, '.'), "-")
				return name, cmp.Or(way, "BOTH")
			},
		}
	})
}

// azurePlace sets the address of an item, and appends other fields with long texts to its description.
func azurePlace(x *reader, i *convert.Issue, v records.Value) {
	if !strings.HasSuffix(i.URL, "/edit/"+i.Key) { // an old server has the ID in the query only
		i.URL = ""
	}
	if base, _, ok := strings.Cut(x.text(v, []string{"url"}), "/_apis/"); ok && i.URL == "" {
		i.URL = base + "/" + url.PathEscape(i.Project) + "/_workitems/edit/" + i.Key
	}
	for _, f := range byName(v.At("fields.*")) {
		title, text := x.called(f.Name), strings.Join(x.texts([]records.Value{f}), ", ")
		switch {
		case text == "" || x.roles.Of(f.Name) != convert.OfField:
		case f.Name == "System.Reason":
			i.Fields = append(i.Fields, convert.Field{Name: title, Value: text, Source: f.Name, Noise: true})
		case strings.EqualFold(x.reads(v)("multilineFieldsFormat."+f.Name), "markdown") || i.Text.Markup == convert.Markdown && azureHTML.MatchString(text):
			i.Take(f.Name, convert.OfText)
			i.Text = convert.Text{Markup: convert.Markdown, Body: i.Text.Body + "\n\n## " + title + "\n\n" + text}
		case azureHTML.MatchString(text):
			i.Take(f.Name, convert.OfText)
			i.Text.Body += "<h2>" + title + "</h2>" + text
		case text != "0" && text != "false":
			field(i, title, text, f.Name)
		}
	}
}
