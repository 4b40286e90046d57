package convert

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

// userIDs returns the names of columns that hold IDs in a list of users.
func userIDs() []string {
	return []string{"User id", "Account id", "id", "login", "username"}
}

// userEmails returns the names of columns that hold e-mail addresses in a list of users.
func userEmails() []string { return []string{"email", "e-mail", "Email address", "mail"} }

// users adds the e-mail addresses of a site's list of users to the people of an export.
func (cl *collection) users(in io.Reader, name string) error {
	r, err := table.Open(in, name, func(header []string) bool {
		return len((&table.Reader{Header: header}).Columns(userEmails()...)) > 0
	})
	if err != nil {
		return diag.WithHint(err, "the list of users has the columns User id, User name and email")
	}
	id, email := r.Columns(userIDs()...), r.Columns(userEmails()...)
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, i := range id {
			if p := cl.people[strings.TrimSpace(row.Cell(i))]; p != nil {
				cl.Person(Person{ID: p.ID, Email: row.Cell(email[0])})
			}
		}
	}
}

func (cl *collection) words(id string) []string {
	if p := cl.people[id]; p != nil {
		return []string{id, p.Name, p.Email}
	}
	return []string{id}
}

var mailAddress = regexp.MustCompile(`[^\s"'<>,;:|(){}\[\]]+@[^\s"'<>,;:|(){}\[\]@]+`)

// membersOf records the members of the workspace: each e-mail address in the file, which may be a table or JSON.
func (cl *collection) membersOf(in io.Reader, name string) error {
	const most = 64 << 20
	text, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return err
	}
	all := mailAddress.FindAllString(string(text), -1)
	if len(all) == 0 {
		return diag.WithHint(fmt.Errorf("%s: there is no e-mail address of a member in it", name),
			"write the file with planform get members --workspace SLUG > "+filepath.Base(name))
	}
	if cl.members == nil {
		cl.members = map[string]bool{}
	}
	for _, one := range all {
		cl.members[strings.ToLower(one)] = true
	}
	return nil
}

// isOutsider reports whether an e-mail address belongs to no member. It returns false if the members are not known.
func (cl *collection) isOutsider(email string) bool {
	return email != "" && cl.members != nil && !cl.members[strings.ToLower(email)]
}

// AdviseOnMember returns a hint on the mapping for a person in a converted manifest who is no member. It returns "" if convert did not
// write the manifest.
func AdviseOnMember(manifest, email string) string {
	text, err := os.ReadFile(manifest) //nolint:gosec // it was read as a manifest
	if err != nil || !strings.HasPrefix(string(text), "# "+signature) {
		return ""
	}
	path := filepath.Join(filepath.Dir(manifest), "mapping.yaml")
	_, m, err := readMapping(path)
	if err != nil {
		return ""
	}
	for _, id := range m.People.Named(func(p mapping.Person) bool { return strings.EqualFold(p.Email, email) }) {
		return fmt.Sprintf("write %s: text under people: in %s and convert again, or give convert all members: "+
			"--members members.json, which planform get members --output json writes", id, path)
	}
	return ""
}
