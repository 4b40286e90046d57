package resource

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Address identifies an object within a workspace by its kind, the keys of its ancestors and its own key, such as work_item/web/checkout.
// The state file, the plan and people use it. It never depends on the service's IDs.
type Address string

// NewAddress returns the address of an object from the keys of its ancestors and its own key, outermost first.
func NewAddress(kind string, keys ...string) Address {
	return Address(kind + "/" + strings.Join(keys, "/"))
}

// Kind returns the name of the kind.
func (a Address) Kind() string {
	kind, _, _ := strings.Cut(string(a), "/")
	return kind
}

// Path returns the part of the address after the kind.
func (a Address) Path() string {
	_, path, _ := strings.Cut(string(a), "/")
	return path
}

// Child returns the address of an object inside the object at a.
func (a Address) Child(kind, key string) Address {
	return Address(kind + "/" + a.Path() + "/" + key)
}

// Parent returns the address of the object that contains the object at a; "" = the workspace.
func (a Address) Parent() Address {
	k, ok := Lookup(a.Kind())
	if !ok || k.Parent == "" {
		return ""
	}
	depth := 1 // only the last key can contain slashes, such as a URL
	for p := MustLookup(k.Parent); p.Parent != ""; p = MustLookup(p.Parent) {
		depth++
	}
	keys := strings.SplitN(a.Path(), "/", depth+1)
	if len(keys) <= depth {
		return ""
	}
	return NewAddress(k.Parent, keys[:depth]...)
}

// Key returns the object's key within its parent.
func (a Address) Key() string {
	return strings.TrimPrefix(strings.TrimPrefix(a.Path(), a.Parent().Path()), "/")
}

// NumberingScope returns the common prefix of the addresses of one kind within one parent. The service numbers these objects in the order
// of their creation.
func (a Address) NumberingScope() string {
	return string(a[:max(0, strings.LastIndexByte(string(a), '/'))])
}

// Members returns the address of the n-th batch (from 1) of a container's members, such as cycle/web/sprint-14#work_items.
func (a Address) Members(plural string, n int) Address {
	s := string(a) + "#" + plural
	if n > 1 {
		s += "." + strconv.Itoa(n)
	}
	return Address(s)
}

// ParseMembership splits the address of a batch of members into the container, the membership, and the address of the first batch, under
// which the state stores all members. ok is false for the address of an object, even if it contains a #.
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

// IsObject reports whether the address names an object of a known kind, and not members.
func (a Address) IsObject() bool {
	_, known := Lookup(a.Kind())
	_, _, _, members := a.ParseMembership()
	return known && !members
}

// membershipRef identifies a membership by its container's kind and the word after # in the address of its members.
type membershipRef struct{ container, plural string }

//nolint:gochecknoglobals // computed once from the registry, never changed after
var membershipRefs = sync.OnceValue(func() map[membershipRef]*Kind {
	all := map[membershipRef]*Kind{}
	for _, k := range Memberships() {
		all[membershipRef{k.Membership.Container, k.Membership.Plural()}] = k
	}
	return all
})

// ValidKey reports whether a key of a manifest is valid in an address. It has letters, digits, and . _ - between them, at most 100.
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
