package convert

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// Numbers is a series of items to which Plane will give consecutive numbers.
type Numbers struct {
	Project string `json:"project"` // its identifier
	From    string `json:"from"`    // key of the first item in the source
	To      string `json:"to"`      // and of the last
	New     int    `json:"new"`     // number of the first item
}

// number predicts the numbers of a project's items, which Plane counts from 1 in the order of creation. If the mapping fills gaps, it
// returns the missing numbers before each issue.
func (c *composer) number(places []place) (fill map[*Issue][]int) {
	has := map[int]bool{}
	for _, at := range places {
		if at.issue.Number <= 0 || has[at.issue.Number] { // the source does not number them
			return nil
		}
		has[at.issue.Number] = true
	}
	var gaps []int
	last := places[len(places)-1].issue
	const most = 10_000
	if c.mapping.Numbers != "new" {
		for n := 1; n < last.Number && len(gaps) <= most; n++ {
			if !has[n] {
				gaps = append(gaps, n)
			}
		}
		if len(gaps) > 0 {
			count := diag.Count(len(gaps), "number")
			if len(gaps) > most {
				count = fmt.Sprintf("more than %d numbers", most)
			}
			c.found.Note("number-gaps", fmt.Sprintf("%s: %s below %s missing: %s", last.Project, count, last.Key, ranges(gaps)))
		}
	}
	if c.mapping.Numbers == "fill" && len(gaps) <= most {
		fill = map[*Issue][]int{}
	}
	next := 1
	var runs []Numbers
	var end int // number of the last issue in the source
	visit := func(i *Issue) {
		for fill != nil && len(gaps) > 0 && gaps[0] < i.Number {
			fill[i] = append(fill[i], gaps[0])
			gaps = gaps[1:]
			next++
		}
		if n := len(runs) - 1; n >= 0 && i.Number == end+1 && next == runs[n].New+i.Number-c.placed[i.Project+"/"+runs[n].From].issue.Number {
			runs[n].To = i.Key
		} else {
			runs = append(runs, Numbers{Project: places[0].project.Identifier, From: i.Key, To: i.Key, New: next})
		}
		if end = i.Number; next != i.Number && c.mapping.Numbers != "new" {
			c.of(i).lose("numbers-changed", i, 1)
		}
		next++
	}
	first := c.parents // Plane creates parents first, unless the manifest asks for the exact order
	if c.mapping.Numbers != "new" {
		first = func(*Issue) []*Issue { return nil }
	}
	issues := make([]*Issue, len(places))
	for n, at := range places {
		issues[n] = at.issue
	}
	graph.DepthFirst(issues, first, visit, func([]*Issue) {})
	c.report.Numbers = append(c.report.Numbers, runs...)
	return fill
}

// placeholder returns an item that takes a number which the export lacks.
func placeholder(project string, n int) manifest.Map {
	return manifest.Map{
		{Key: "key", Value: fmt.Sprintf("placeholder-%d", n)},
		{Key: "name", Value: fmt.Sprintf("Number %d of %s is not in the export", n, project)},
		{Key: "state", Value: "Cancelled"},
	}
}

// ranges returns numbers as text, with consecutive ones as a range, and at most 20 entries.
func ranges(list []int) string {
	const most = 20
	var words []string
	for n := 0; n < len(list); {
		end := n
		for end+1 < len(list) && list[end+1] == list[end]+1 {
			end++
		}
		word := strconv.Itoa(list[n])
		if end > n {
			word = fmt.Sprintf("%d to %d", list[n], list[end])
		}
		if len(words) == most {
			return strings.Join(words, ", ") + fmt.Sprintf(" and %d more", len(list)-n)
		}
		words = append(words, word)
		n = end + 1
	}
	return strings.Join(words, ", ")
}
