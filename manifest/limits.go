package manifest

import (
	"cmp"
	"fmt"
	"strconv"
)

// Limits bounds the resources that a manifest may use. A zero field stands for its default.
type Limits struct {
	FileBytes   int64 // size of one file; 256 MiB
	ScalarBytes int   // size of one text, and of the file of a page; 5 MiB, the limit of the service for one request
	Elements    int   // of all files together, approximately; 3 million, and at most what densityLimits allows
	Depth       int   // of objects within objects, and of a field that holds JSON; 100
	Expanded    int   // elements that aliases and merge keys add: 100,000 plus twice the elements written; elements of expanded templates: 500,000 plus twice
	Findings    int   // findings that are reported one by one; 100
}

func (l Limits) withDefaults() Limits {
	l.FileBytes = cmp.Or(l.FileBytes, 256<<20)
	l.ScalarBytes = cmp.Or(l.ScalarBytes, 5<<20)
	l.Elements = cmp.Or(l.Elements, 3_000_000)
	l.Depth = cmp.Or(l.Depth, 100)
	l.Findings = cmp.Or(l.Findings, 100)
	return l
}

// densityLimits returns how many elements and objects a text of this size may contain. Elements use memory, not bytes: a list of commas
// uses about 500 bytes for each comma. An element is a character that may begin one, such as a colon, or a line without such a character.
// Real manifests have one element for every twenty bytes, and one object for every forty. With these limits a megabyte uses at most about
// 300 MB.
func densityLimits(bytes int64) (elements, objects int) {
	return 100_000 + int(bytes/5), 50_000 + int(bytes/16)
}

const splitHint = "split it and apply the parts one after another"

func bytesText(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + " MiB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

func runeName(r rune) string { return fmt.Sprintf("U+%04X", r) }

// budget counts the resources that the files of one call of Load use, and holds their limits.
type budget struct {
	limits   Limits
	spent    spending
	expanded int64 // elements reached through aliases and merge keys
	exceeded bool  // the limit on them was exceeded in the current file
	filled   int64 // elements of expanded templates
	overfull bool  // the limit on them was exceeded
}

// Expanding a template counts as one element for so many bytes of text, or pairs of a mapping.
const (
	elementBytes  = 64
	matchedBytes  = 256
	searchedBytes = 4096
	searchedPairs = 32
)

// fill counts elements of expanded templates, and reports whether the limit allows them: about 50,000 objects of ten elements.
func (b *budget) fill(elements int) bool {
	b.filled += int64(elements)
	b.overfull = b.overfull || b.filled > b.expansionLimit(500_000)
	return !b.overfull
}

// expand counts elements that aliases and merge keys add, and reports whether the limit allows them.
func (b *budget) expand(elements int) bool {
	b.expanded += int64(elements)
	within := b.expanded <= b.expansionLimit(100_000)
	b.exceeded = b.exceeded || !within
	return within
}

// expansionLimit returns the limit on added elements: a fixed number plus twice the written elements.
func (b *budget) expansionLimit(anyway int64) int64 {
	if b.limits.Expanded > 0 {
		return int64(b.limits.Expanded)
	}
	return anyway + 2*int64(b.spent.elements)
}
