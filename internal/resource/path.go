package resource

import "strconv"

// Path is where the object is in its document, such as projects[0].work_items[3].
func (o *Object) Path() string {
	if o.Kind.Section == "" {
		return ""
	}
	path := o.Kind.Section + "[" + strconv.Itoa(o.Index) + "]"
	around := o.Outer
	if around == nil {
		around = o.Parent
	}
	if around == nil {
		return path
	}
	return around.Path() + "." + path
}

// PathOf is where one of the object's fields is, or a member of its list (-1 = all of it).
func (o *Object) PathOf(f *Field, member int) string {
	path := o.Path() + "." + f.Path()
	if member >= 0 && f.Type == RefSet {
		path += "[" + strconv.Itoa(member) + "]"
	}
	return path
}
