package convert

import (
	"cmp"
	"errors"
	"io"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/table"
)

// userIDs and userEmails are the columns of a list of users.
func userIDs() []string {
	return []string{"User id", "Account id", "id", "login", "username"}
}

func userEmails() []string { return []string{"email", "e-mail", "Email address", "mail"} }

// users adds the e-mail addresses of a site's list of users to the people of an export.
func (c *collection) users(f File) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	r, err := table.Open(in, f.Name, func(header []string) bool {
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
			if p := c.people[table.Trim(row.Cell(i))]; p != nil {
				p.Email = cmp.Or(p.Email, table.Trim(row.Cell(email[0])))
			}
		}
	}
}
