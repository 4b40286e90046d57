package resource

import (
	"cmp"
	"strconv"
)

// Path returns the path of the object in its document, such as projects[0].work_items[3].
func (o *Object) Path() string {
	if o.Kind.Section == "" {
		return ""
	}
	path := o.Kind.Section + "[" + strconv.Itoa(o.Index) + "]"
	outer := cmp.Or(o.Outer, o.Parent)
	if outer == nil {
		return path
	}
	return outer.Path() + "." + path
}

// PathOf returns the path of a field of the object, or of an element of its list (-1 = the whole list).
func (o *Object) PathOf(f *Field, member int) string {
	path := o.Path() + "." + f.Path()
	if member >= 0 && f.Type == RefSet {
		path += "[" + strconv.Itoa(member) + "]"
	}
	return path
}
