package described

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
)

// youtrack describes the answers of /api/issues with the fields that were asked for. Each field of an issue is a custom field, because
// projects define their own; default fields are known by their names.
func youtrack() *api { return described(textOf("youtrack"), youtrackHooks) }

func youtrackHooks() hooks {
	return hooks{
		issue: func(x *reader, i *convert.Issue, v records.Value) {
			project, _, _ := strings.Cut(i.Key, "-")
			i.Project = cmp.Or(i.Project, project)
			count, _ := strconv.Atoi(x.text(v, []string{"commentsCount"}))
			for _, c := range v.At("comments") {
				if x.yes(c, []string{"deleted"}) {
					count--
				}
			}
			x.counted[i.Key] = max(x.counted[i.Key], count)
			if at := x.time(i, x.text(v, []string{"resolved"})); !at.IsZero() {
				field(i, "Resolved", dates.Minute(at), "resolved")
				i.State.Category = cmp.Or(i.State.Category, "completed")
			}
		},
		field: func(x *reader, v records.Value, texts []string) {
			kind := x.text(v, []string{"$type"})
			n, err := strconv.ParseInt(strings.Join(texts, " "), 10, 64)
			switch {
			case err != nil:
			case strings.Contains(kind, "Period"): // the user may have asked only for the minutes
				texts[0] = dates.Duration(int(n) * 60)
			case x.text(v, []string{"projectCustomField.field.fieldType.id"}) == "date and time":
				texts[0] = cmp.Or(dates.Minute(milli(n)), texts[0])
			case strings.HasSuffix(kind, "DateIssueCustomField"), strings.HasPrefix(kind, "Date"):
				texts[0] = cmp.Or(dates.Day(milli(n)), texts[0])
			}
		},
	}
}

// milli returns a time from milliseconds, or the zero time if the number is 0 or the year is not valid.
func milli(n int64) time.Time {
	at := time.UnixMilli(n).UTC()
	if n == 0 || !dates.Valid(at) {
		return time.Time{}
	}
	return at
}
