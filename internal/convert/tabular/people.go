package tabular

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
)

var (
	nameAndMail = regexp.MustCompile(`^(.*?)\s*<([^<>@\s]+@[^<>@\s]+)>$`)
	isMail      = regexp.MustCompile(`^[^<>@\s]+@[^<>@\s]+\.[^<>@\s]+$`)
)

// People adds the people of a row, and returns their IDs. IDs, names and addresses are three fields.
func (c *Cells) People(ids, names, emails string) []string {
	id, name, email := c.All(ids), c.All(names), c.All(emails)
	var all []string
	for n := range max(len(id), len(name), len(email)) {
		if one := c.Person(entry(id, n), entry(name, n), entry(email, n)); one != "" && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// entry returns an entry of a list, or "" behind its end.
func entry(list []string, n int) string {
	if n < len(list) {
		return list[n]
	}
	return ""
}

// Person adds a person, and returns the person's ID: the ID in the export, else the e-mail address, else the name.
func (c *Cells) Person(id, name, email string) string {
	for _, text := range []string{id, name} {
		if m := nameAndMail.FindStringSubmatch(text); m != nil {
			id, name, email = m[2], m[1], m[2]
		}
	}
	if isMail.MatchString(id) {
		email = cmp.Or(email, id)
	}
	key := cmp.Or(id, email, name)
	nobody := []string{"", "unassigned", "none", "null", "nobody", "n/a", "-", "sin asignar"}
	if slices.Contains(nobody, strings.ToLower(key)) {
		return ""
	}
	if key == name {
		name = ""
	}
	c.e.to.Person(convert.Person{ID: key, Name: name, Email: email, Bot: c.e.Bot != nil && c.e.Bot(id, name)})
	return key
}
