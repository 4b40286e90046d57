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

// createAudited creates a link or a comment. It refuses a wrong author or date only after it has stored the record.
func createAudited(k *kind) handler {
	return func(c *call, t *tx) reply {
		answer := k.create(c, t)
		if _, refused := c.givenAudit(t, k); refused != nil && answer.status == http.StatusCreated {
			return *refused
		}
		return answer
	}
}

// givenAudit returns the author and the date that a body gives to a new record. The service writes both after the record.
func (c *call) givenAudit(t *tx, k *kind) (set row, refused *reply) {
	set = row{}
	if at, given := c.in["created_at"]; given && k != c.kinds.link {
		s, isText := at.(string)
		when, ok := parseMoment(s)
		switch {
		case at == nil:
			return nil, new(badPayload())
		case !isText:
			return nil, new(serverError())
		case !ok:
			return nil, new(refuse(http.StatusBadRequest, "error", textBadDetail))
		}
		set["created_at"] = momentText(when)
	}
	if by, given := c.in["created_by"]; given {
		set["created_by"] = nil
		if by == nil || by == "" {
			return set, nil
		}
		id := pythonText(by)
		_, err := uuid.Parse(id)
		switch pythonType(by) {
		case "int", "bool":
			err = nil // Python makes a UUID of a number
		}
		switch {
		case err != nil:
			return nil, new(refuse(http.StatusBadRequest, "error", textBadDetail))
		case t.find(c.kinds.user, id) == nil:
			return nil, new(badPayload())
		}
		set["created_by"] = id
	}
	return set, nil
}

// inItem returns the scope of the contents of the route's work item. It includes the route's project, because contents
// that were posted through another project's route are only shown there.
func inItem(c *call) []byte { return scope(c.vars["item"], c.vars["project"]) }

func (ks *kinds) describeLinks() {
	ks.link = ks.add(&kind{
		name:    "link",
		columns: audit("title url metadata created_by updated_by project workspace issue"),
		indexes: []index{{name: "link URL", fields: []string{"issue", "url"}, clash: linkURL}},
		fields:  bodyFields("title=text?", field{name: "url", required: true, check: str(unlimited, false)}),
		param:   "link", scope: inItem,
		prepare: func(c *call, t *tx, old, r row) *reply {
			if old != nil {
				return nil // a change is not checked
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
			set, _ := c.givenAudit(t, c.kinds.link)
			maps.Copy(r, set)
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

// linkURL refuses a second link of an item to the same address. It does not check changes.
func linkURL(c *call, old, _ row, _ string) *reply {
	if old != nil || c.snapshot.ignoresAll() {
		return nil
	}
	return new(refuse(http.StatusBadRequest, "error", "URL already exists for this Issue"))
}

// fetchMetadata does the work of the service's background worker: it reads the address, stores what it found, and clears the author.
func (c *call) fetchMetadata(t *tx, r row) {
	s, _ := t.get(c.kinds.link, text(r, "id"))
	s.row["metadata"] = row{"url": r["url"], "title": nil, "favicon": "data:image/svg+xml;base64,PHN2Zy8+", "favicon_url": nil}
	s.row["created_by"], s.row["updated_by"] = nil, nil
	t.save(c.kinds.link, s)
}

// webAddress checks an http or https URL. Its host must have a dot, or be localhost or an IP address.
func webAddress(s string) (address string, complaint []string) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || len(s) > 2048 || strings.ContainsAny(s, " \t\n\r") || !isPublicHost(u.Hostname()) {
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

// isPublicHost reports whether the service accepts a host in a link.
func isPublicHost(host string) bool {
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

func notInHost(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' }
