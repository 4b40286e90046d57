package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	reference = regexp.MustCompile(`\{[a-z][A-Za-z0-9 .]*\}`)
	digits    = regexp.MustCompile(`[0-9]+`)
	anyUUID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyMoment = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
)

// unknownID is the ID of nothing.
const unknownID = "11111111-1111-4111-8111-111111111111"

// estimateWeb is the ID of the seeded estimate.
const estimateWeb = "6a6b5f0c-3d0b-4b43-9d52-0c1f0b6f7a10"

// normal is an answer in terms that can be compared: IDs are the names of their
// records, moments of today are "now", and what depends on chance is left out.
func (cn *contender) normal(o outcome) outcome {
	return outcome{o.status, cn.normalValue("", o.body), cn.normalLocation(o.location)}
}

// normalLocation returns the address of a redirect below the workspace, or a fixed text for a file in a store.
func (cn *contender) normalLocation(address string) string {
	u, err := url.Parse(address)
	switch base, _ := url.Parse(cn.workspace); {
	case err != nil, address == "":
		return address
	case u.Query().Has("X-Amz-Signature"):
		return "<file>"
	default:
		address = strings.TrimPrefix(u.RequestURI(), base.Path)
	}
	return fmt.Sprint(cn.normalText(address))
}

func (cn *contender) normalValue(field string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		_, link := v["url"]
		_, upload := v["x-amz-signature"]
		_, workspace := v["slug"]
		_, person := v["display_name"]
		for name, value := range v {
			comesLate := link && (name == "created_by" || name == "updated_by")
			if upload {
				value = "<signed>"
			}
			if !dependsOnChance(name) && !(person && isPersonal(name)) && !comesLate && !(workspace && (name == "name" || name == "slug")) {
				out[name] = cn.normalValue(name, value)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, value := range v {
			out = append(out, cn.normalValue(field, value))
		}
		if withoutOrder(field, out) || cn.version >= "1.4" && areRelations(out) {
			slices.SortFunc(out, func(a, b any) int { return cmp.Compare(inJSON(a), inJSON(b)) })
		}
		return out
	case string:
		return cn.normalText(v)
	}
	return v
}

// dependsOnChance says whether a field is left out of the comparison: the icon
// of a project is random, and what
// a worker of the service finds about a link or a file comes late, as does that it takes
// the author of a link away.
func dependsOnChance(field string) bool {
	switch field {
	case "logo_props", "metadata", "storage_metadata", "asset", "workspace__slug":
		return true
	}
	return false
}

// isPersonal says whether a field is of who somebody is, which differs between the servers.
func isPersonal(field string) bool {
	switch field {
	case "email", "first_name", "last_name", "display_name", "avatar", "avatar_url", "is_bot":
		return true
	}
	return false
}

// withoutOrder says whether a list has no order that means anything: a list of
// IDs, one of people, who are in the order in which they signed up, or one of
// memberships, which are added in the order of a set.
func withoutOrder(field string, list []any) bool {
	if field == "assignees" || field == "labels" || field == "members" {
		return true
	}
	for _, v := range list {
		record, ok := v.(map[string]any)
		if record["issue"] != nil && (record["cycle"] != nil || record["module"] != nil) {
			continue
		}
		if _, person := map[string]bool{"<admin>": true, "<member>": true, "<guest>": true}[text(record, "id")]; !ok || !person {
			return false
		}
	}
	return true
}

// areRelations reports whether a list holds relations. Since 1.4 the service gives them in no order.
func areRelations(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool {
		record, _ := v.(map[string]any)
		return record["issue_id"] == nil && record["relation_type"] == nil
	})
}

func (cn *contender) normalText(s string) any {
	if anyMoment.MatchString(s) {
		at, ok := parseMoment(s)
		if away := time.Since(at); ok && away < 48*time.Hour && away > -48*time.Hour {
			return "<now>"
		}
		return at.UTC().Format(stampLayout)
	}
	if strings.HasSuffix(s, "/uploads") {
		return "<store>"
	}
	s = strings.ReplaceAll(s, "/workspaces/"+path.Base(cn.workspace)+"/", "/workspaces/<workspace>/")
	return anyUUID.ReplaceAllStringFunc(s, func(id string) string {
		switch name := cn.names[id]; {
		case name != "":
			return "<" + name + ">"
		case id == unknownID:
			return id
		}
		return "<id>"
	})
}

func inJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// compareOutcomes is the places where two normal answers differ.
func compareOutcomes(got, want outcome) []*mismatch {
	if got.status != want.status {
		describe := func(o outcome) string { return fmt.Sprintf("%d %.400s", o.status, inJSON(o.body)) }
		return []*mismatch{{at: fmt.Sprintf("status %s/%s", letters(got.status), letters(want.status)), got: describe(got), want: describe(want)}}
	}
	var out []*mismatch
	if got.location != want.location {
		out = append(out, &mismatch{at: "location", got: got.location, want: want.location})
	}
	compareValues("body", got.body, want.body, &out)
	return out
}

// letters is a status without digits, which signatures leave out.
func letters(status int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'A' }, strconv.Itoa(status))
}

func compareValues(at string, got, want any, out *[]*mismatch) {
	differ := func() {
		*out = append(*out, &mismatch{at: at, got: fmt.Sprintf("%.400s", inJSON(got)), want: fmt.Sprintf("%.400s", inJSON(want))})
	}
	switch got := got.(type) {
	case map[string]any:
		want, ok := want.(map[string]any)
		if !ok {
			differ()
			return
		}
		keys := maps.Clone(got)
		maps.Copy(keys, want)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			_, inGot := got[key]
			_, inWant := want[key]
			if inGot != inWant {
				*out = append(*out, &mismatch{at: at + "." + key, got: presence(got, key), want: presence(want, key)})
				continue
			}
			compareValues(at+"."+key, got[key], want[key], out)
		}
	case []any:
		want, ok := want.([]any)
		if !ok || len(want) != len(got) {
			differ()
			return
		}
		for i := range got {
			compareValues(fmt.Sprintf("%s[%d]", at, i), got[i], want[i], out)
		}
	default:
		if got != want {
			differ()
		}
	}
}

func presence(record map[string]any, key string) string {
	v, ok := record[key]
	if !ok {
		return "has no such field"
	}
	return inJSON(v)
}
