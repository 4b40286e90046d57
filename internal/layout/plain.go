package layout

import "github.com/planform/planform/manifest"

// plain reports whether a text can stand without quotes, as manifests that planform writes have it.
func plain(text string, inFlow bool) bool {
	return manifest.Scalar(text, inFlow) == text
}
