package view

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/text/diag"
)

// githubFormat is the text format plus a workflow command for each finding. GitHub Actions shows the command beside the line of the file.
type githubFormat struct{ textFormat }

func (g githubFormat) findings(p *printer, list diag.List) {
	g.textFormat.findings(p, list)
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	commands := map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning"}
	for _, d := range list {
		at := []string{"title=" + property.Replace(Safe("planform "+d.Code))}
		if !d.Position.IsZero() {
			at = append(at, "file="+property.Replace(Safe(d.Position.File)))
		}
		if d.Position.Line > 0 {
			at = append(at, "line="+strconv.Itoa(d.Position.Line))
		}
		if d.Position.Column > 0 {
			at = append(at, "col="+strconv.Itoa(d.Position.Column))
		}
		text := Safe(d.Summary)
		if d.Hint != "" {
			text += "\n" + Safe(d.Hint)
		}
		p.print("::", cmp.Or(commands[d.Severity], "notice"), " ", strings.Join(at, ","), "::", data.Replace(text), "\n")
	}
}
