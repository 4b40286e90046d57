package layout

import (
	"strings"

	"github.com/planform/planform/manifest"
)

// plain reports whether a text can stand without quotes, as manifests that planform writes have it.
func plain(text string, inFlow bool) bool {
	entry, want := manifest.Entry{Key: "k", Value: text}, "k: "+text
	if inFlow {
		entry, want = manifest.Entry{Key: text, Value: "v"}, text+": v"
	}
	_, line, _ := strings.Cut(string(manifest.Encode("", manifest.Map{entry})), "\n")
	return line == want+"\n"
}
