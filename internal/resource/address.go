package resource

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Address names one thing within a workspace: its kind and the keys that lead
// to it, such as work_item/web/checkout. It is what the state file, the plan and
// people use, and it never depends on the service's IDs.
type Address string

// NewAddress builds the address of a thing of a kind from the keys that lead to it, outermost first.
func NewAddress(kind string, keys ...string) Address {
	return Address(kind + "/" + strings.Join(keys, "/"))
}

// Kind is the kind's name.
func (a Address) Kind() string {
	kind, _, _ := strings.Cut(string(a), "/")
	return kind
}

// Path is what follows the kind.
func (a Address) Path() string {
	_, path, _ := strings.Cut(string(a), "/")
	return path
}

// Child is the address of a thing of a kind that lives in a.
func (a Address) Child(kind, key string) Address {
	return Address(kind + "/" + a.Path() + "/" + key)
}

// Parent is the address of what a thing lives in, or "".
func (a Address) Parent() Address {
	k, ok := Lookup(a.Kind())
	if !ok || k.Parent == "" {
		return ""
	}
	depth := 1 // a key may have slashes in it only if it is the last, such as a URL
	for p := MustLookup(k.Parent); p.Parent != ""; p = MustLookup(p.Parent) {
		depth++
	}
	keys := strings.SplitN(a.Path(), "/", depth+1)
	if len(keys) <= depth {
		return ""
	}
	return NewAddress(k.Parent, keys[:depth]...)
}

// Key is the key of a thing among those of its kind in its parent.
func (a Address) Key() string {
	return strings.TrimPrefix(strings.TrimPrefix(a.Path(), a.Parent().Path()), "/")
}

// NumberingScope is what the addresses of one kind within one parent begin with: the
// service numbers such things in the order in which they are made.
func (a Address) NumberingScope() string {
	return string(a[:max(0, strings.LastIndexByte(string(a), '/'))])
}

// Members is the address of the n-th batch (from 1) of a container's members
// that the field declares, such as cycle/web/sprint-14#work_items.
func (a Address) Members(plural string, n int) Address {
	s := string(a) + "#" + plural
	if n > 1 {
		s += "." + strconv.Itoa(n)
	}
	return Address(s)
}

// ParseMembership takes the address of a batch of members apart: whose members they are, in
// which membership, and the address of the first batch, where the state keeps all
// of them. ok is false where it is the address of a thing, such as of a link whose
// URL has a # in it.
func (a Address) ParseMembership() (container Address, membership *Kind, first Address, ok bool) {
	hash := strings.LastIndexByte(string(a), '#')
	if hash < 0 {
		return "", nil, "", false
	}
	container, first = a[:hash], a
	plural := string(a[hash+1:])
	if name, n, batch := strings.Cut(plural, "."); batch && n != "" && strings.Trim(n, "0123456789") == "" {
		plural, first = name, a[:hash+1+len(name)]
	}
	membership, ok = membershipRefs()[membershipRef{container.Kind(), plural}]
	if !ok {
		return "", nil, "", false
	}
	return container, membership, first, true
}

// IsObject reports whether it is the address of a thing of a known kind, and not of
// the members of one.
func (a Address) IsObject() bool {
	_, known := Lookup(a.Kind())
	_, _, _, members := a.ParseMembership()
	return known && !members
}

// membershipRef is what the addresses of members end in, for the containers of a kind.
type membershipRef struct{ container, plural string }

//nolint:gochecknoglobals // computed once from the registry, never changed after
var membershipRefs = sync.OnceValue(func() map[membershipRef]*Kind {
	all := map[membershipRef]*Kind{}
	for _, k := range Memberships() {
		all[membershipRef{k.Membership.Container, k.Membership.Plural()}] = k
	}
	return all
})

// ValidKey reports whether a key written in a manifest may stand in an address:
// letters, digits, and . _ - between them, 100 at most.
func ValidKey(key string) bool {
	if key == "" || len(key) > 100 {
		return false
	}
	for i, r := range key {
		if isKeyRune(r) || (i > 0 && (r == '-' || r == '_' || r == '.')) || unicode.IsUpper(r) {
			continue
		}
		return false
	}
	return true
}

func isKeyRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127 && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.IsUpper(r)
}
