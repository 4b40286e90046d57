package planner

import (
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// bindUploads marks uploaded objects as absent if they differ, so that they are uploaded again: an upload cannot be changed. An object that
// planform made is deleted, or kept unchanged if it is protected. An object of others stays beside the new one. A pull replaces nothing.
func bindUploads(differ *comparer) {
	for i, o := range differ.objects.all() {
		f := &differ.objects.states[i]
		if !o.Kind.Uploads() || f.presence != exists || f.foreign || differ.in.Pull || !differ.mustReplace(i) {
			continue
		}
		switch ours, protected := differ.objects.ownUpload(i); {
		case ours && protected:
			continue
		case ours:
			f.replaces = f.id
		}
		f.id, f.presence = "", absent
	}
}

// mustReplace reports whether a field of an uploaded object differs, and the manifest neither ignores nor keeps the difference.
func (cm *comparer) mustReplace(i objectID) bool {
	o, f := cm.in.Desired[i], &cm.objects.states[i]
	for k := range o.Values {
		v := &o.Values[k]
		if v.Implied || o.Ignores(v.Field) {
			continue
		}
		c, differs := cm.compare(v, f, cm.refs.idResolver(i))
		if differs && c.compared && (!cm.isDrift(c, f) || cm.in.onDrift(o) != Keep) {
			return true
		}
	}
	return false
}

// ownUpload reports whether planform made an uploaded object, and whether it is protected.
func (ob *objects) ownUpload(i objectID) (ours, protected bool) {
	o, f := ob.in.Desired[i], &ob.states[i]
	marked := func(a resource.Address) bool { return ob.in.marks().On(f.row, a) }
	ours, protected = slices.ContainsFunc(AllAddresses(o), marked), o.Protected(false)
	if f.prior != nil {
		ours, protected = ours || f.prior.CreatedByUs, o.Protected(f.prior.Protect)
	}
	return ours, protected
}
