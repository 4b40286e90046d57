package manifest

import (
	"cmp"
	"fmt"
	"strconv"
)

// Limits bound what a manifest may cost. A zero field takes its default.
type Limits struct {
	FileBytes   int64 // size of one file; 256 MiB
	ScalarBytes int   // size of one text, and of a file that a page names; 5 MiB, what the service takes in one request
	Elements    int   // of all files together, about; 3 million, and as far as [dense] allows
	Depth       int   // of objects within objects, and of a field that holds JSON; 100
	Expanded    int   // elements that aliases and merge keys add: 100,000 and twice the elements written; that templates stand for: 500,000 and twice
	Findings    int   // findings that are told one by one; 100
}

func (l Limits) withDefaults() Limits {
	l.FileBytes = cmp.Or(l.FileBytes, 256<<20)
	l.ScalarBytes = cmp.Or(l.ScalarBytes, 5<<20)
	l.Elements = cmp.Or(l.Elements, 3_000_000)
	l.Depth = cmp.Or(l.Depth, 100)
	l.Findings = cmp.Or(l.Findings, 100)
	return l
}

// dense is how many elements and objects a text of that many bytes may have. They cost
// memory, not the bytes: a list of commas some 500 bytes for each comma. An element is a
// mark that may begin one, such as a colon, or a line without any. People and programs
// write one for every twenty bytes, and an object for every forty. So much is allowed that
// a megabyte takes no more than about 300 MB.
func dense(bytes int64) (elements, objects int) {
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

// budget is what the files of one call of Load may cost, and cost so far.
type budget struct {
	limits   Limits
	spent    spending
	expanded int64 // elements reached through aliases and merge keys
	exceeded bool  // the limit on them was passed, which is told once a file
	filled   int64 // elements that templates stand for
	overfull bool  // the limit on them was passed
}

// What templates make, and what is searched for that, counts as an element where it is so many bytes of text, or pairs of a mapping.
const (
	elementBytes  = 64
	matchedBytes  = 256
	searchedBytes = 4096
	searchedPairs = 32
)

// fill counts elements that templates stand for, and reports whether that is still within the limit: about 50,000 objects of ten.
func (b *budget) fill(elements int) bool {
	b.filled += int64(elements)
	b.overfull = b.overfull || b.filled > b.allowed(500_000)
	return !b.overfull
}

// expand counts what aliases and merge keys add, and reports whether it is still within the limit.
func (b *budget) expand(elements int) bool {
	b.expanded += int64(elements)
	within := b.expanded <= b.allowed(100_000)
	b.exceeded = b.exceeded || !within
	return within
}

// allowed is how many elements may come of those that are written: so many in any case, and twice these.
func (b *budget) allowed(anyway int64) int64 {
	if b.limits.Expanded > 0 {
		return int64(b.limits.Expanded)
	}
	return anyway + 2*int64(b.spent.elements)
}
