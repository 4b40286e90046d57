package sandbox

import (
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/google/uuid"
)

// createWithAuthor creates a link or a comment. An author who does not exist is
// refused when the record is there already.
func createWithAuthor(k *kind) handler {
	return func(c *call, t *tx) reply {
		author, given := c.in["created_by"]
		id, _ := author.(string)
		if !given || author == nil || t.find(c.kinds.user, id) != nil {
			return k.create(c, t)
		}
		c.in = maps.Clone(c.in)
		delete(c.in, "created_by")
		delete(c.in, "created_at") // the service writes both at once
		answer := k.create(c, t)
		switch _, err := uuid.Parse(id); {
		case answer.status != http.StatusCreated:
			return answer
		case err != nil:
			return refuse(http.StatusBadRequest, "error", textBadDetail)
		}
		return badPayload()
	}
}

// inItem is the scope of what hangs on the work item of the route. The project
// of the route is part of it: what is posted through another project's route
// shows there only.
func inItem(c *call) []byte { return scope(c.vars["item"], c.vars["project"]) }

func (k *kinds) links() {
	k.link = k.add(&kind{
		name:    "link",
		columns: audit("title", "url", "metadata", "created_by", "updated_by", "project", "workspace", "issue"),
		indexes: []index{{name: "link URL", fields: []string{"issue", "url"}, clash: linkURL}},
		fields: []field{
			{name: "title", check: str(255, true), null: true},
			{name: "url", required: true, check: str(unlimited, false)},
			{name: "created_by", check: anything, null: true, derived: true, frozen: true},
		},
		param: "link", scope: inItem,
		prepare: func(c *call, t *tx, old, r row) *reply {
			if old != nil {
				return nil // a change is checked for nothing
			}
			address, complaint := webAddress(text(r, "url"))
			if complaint != nil {
				return new(invalid(row{"url": complaint}))
			}
			r["url"] = address
			issue := c.vars["item"]
			if !c.everExisted(t, issue) {
				return new(badPayload())
			}
			r["issue"] = issue
			r["metadata"] = row{}
			r["updated_by"] = c.user
			return nil
		},
		afterWrite: func(c *call, t *tx, old, r row) {
			if old != nil {
				c.logActivity(t, "updated", "link", text(old, "url"), text(r, "url"), "updated a link")
			} else {
				c.logActivity(t, "created", "link", nil, text(r, "url"), "created a link")
			}
			c.fetchMetadata(t, r)
		},
		afterDelete: func(c *call, t *tx, r row) {
			c.logActivity(t, "deleted", "link", text(r, "url"), nil, "deleted the link")
		},
	})
}

// linkURL answers a second link of an item to one address. A change is not checked.
func linkURL(c *call, old, _ row, _ string) *reply {
	if old != nil || c.snapshot.ignoresAll() {
		return nil
	}
	return new(refuse(http.StatusBadRequest, "error", "URL already exists for this Issue"))
}

// fetchMetadata does what the service's worker does a moment later: it looks at the
// address, notes what it found, and takes the author away.
func (c *call) fetchMetadata(t *tx, r row) {
	s, ok := t.get(c.kinds.link, text(r, "id"))
	if !ok {
		return
	}
	s.row["metadata"] = row{"url": r["url"], "title": nil, "favicon": "data:image/svg+xml;base64,PHN2Zy8+", "favicon_url": nil}
	s.row["created_by"], s.row["updated_by"] = nil, nil
	t.save(c.kinds.link, s)
}

// webAddress is an http or https URL with a host that has a dot, or is
// localhost, or is an IP address.
func webAddress(s string) (address string, complaint []string) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || len(s) > 2048 || strings.ContainsAny(s, " \t\n\r") || !publicHost(u.Hostname()) {
		return "", message("Invalid URL format.")
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return s, nil
	case "ftp", "ftps":
		return "", message("Invalid URL scheme.")
	}
	return "", message("Invalid URL format.")
}

func publicHost(host string) bool {
	if host == "localhost" || net.ParseIP(host) != nil {
		return true
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, label := range labels {
		inner := strings.Trim(label, "-")
		if inner == "" || inner != label || len(label) > 63 || strings.ContainsFunc(label, notInHost) {
			return false
		}
	}
	last := []rune(labels[len(labels)-1])
	return len(labels) > 1 && len(last) > 1 && unicode.IsLetter(last[0])
}

func notInHost(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-'
}
