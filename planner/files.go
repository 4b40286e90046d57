package planner

import (
	"maps"
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// abandoned reports whether what a record is of stood only in manifests that are
// read, or gone: if these do not have it, none has. A record that does not say
// where it stood may be another's.
func (in *Input) abandoned(r *Record) bool {
	return len(r.Files) > 0 && in.other(r) == ""
}

// other is a manifest that is not read and in which the thing of a record stood, or "".
func (in *Input) other(r *Record) string {
	for _, file := range r.Files {
		if in.Elsewhere[file] {
			return file
		}
	}
	return ""
}

// stand notes where what the state knows stands now.
func (b *builder) stand() {
	note := func(a resource.Address, now []string) {
		r, known := b.in.Prior[a]
		if !known || slices.Equal(r.Files, now) {
			return
		}
		files := now
		if len(r.Files) > 0 {
			files = slices.DeleteFunc(slices.Clone(r.Files), func(file string) bool { return !b.in.Elsewhere[file] })
			files = union(files, now)
		}
		if len(files) == 0 || slices.Equal(files, r.Files) {
			return // what is left over stands where it stood last
		}
		if b.plan.Files == nil {
			b.plan.Files = map[resource.Address][]string{}
		}
		b.plan.Files[a] = files
	}
	for _, o := range b.in.Desired {
		note(o.Address, o.Files)
	}
	for _, r := range b.rosters {
		if b.told(r) {
			note(r.address(), b.naming(r))
		}
	}
	if len(b.in.Elsewhere) == 0 {
		return
	}
	for a := range b.in.Prior {
		if _, wanted := b.placeOf(a); !wanted && a.IsThing() && b.in.targeted(a) {
			note(a, nil)
		}
	}
}

// told reports whether it is known of all members that the state has of a container where they stand.
func (b *builder) told(r *roster) bool {
	prior := b.in.Prior[r.address()]
	if len(prior.Files) > 0 || len(prior.Members) == 0 {
		return true
	}
	wanted := map[string]bool{}
	for _, e := range r.entries {
		wanted[b.memberID(r, e)] = true
	}
	return !slices.ContainsFunc(prior.Members, func(id string) bool { return !wanted[id] })
}

// naming lists the manifests that want the members of a container in it.
func (b *builder) naming(r *roster) []string {
	if m := r.kind.Membership; m.On == m.Container {
		return b.in.Desired[r.object].Files
	}
	var files []string
	for _, e := range r.entries {
		files = union(files, b.in.Desired[e.member].Files)
	}
	return files
}

// union is what is in one of two sorted lists.
func union(one, other []string) []string {
	for _, text := range other {
		if at, found := slices.BinarySearch(one, text); !found {
			one = slices.Insert(slices.Clip(one), at, text)
		}
	}
	return one
}

// othersNotices says what prune leaves alone since another manifest may want it.
func (b *builder) othersNotices() {
	of, unknown := map[string]int{}, 0
	for _, l := range b.leftovers {
		switch {
		case l.fate != alone || !l.record.Made:
		case len(l.record.Files) == 0:
			unknown++
		default:
			of[b.in.other(&l.record)]++
		}
	}
	for _, file := range slices.Sorted(maps.Keys(of)) {
		n := of[file]
		whose := file + ", which is not named here,"
		if file == standardInput {
			whose = "standard input, which is not read here,"
		}
		b.notice("of-another", diag.Count(n, "thing")+" of "+whose+" "+are(n)+" left alone", "")
	}
	if unknown > 0 {
		b.notice("of-unknown", diag.Count(unknown, "thing")+" of which the state does not say in what manifest "+stood(unknown)+" left alone",
			"write them once more and apply that, then take them out; planform state rm forgets a thing")
	}
}

// standardInput is the name of the manifest that is read from it.
const standardInput = "-"
