package planner

import (
	"maps"
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// sourceGone reports whether what a record is of stood only in manifests that are
// read, or gone: if these do not have it, none has. A record that does not say
// where it stood may be another's.
func (in *Input) sourceGone(r *Record) bool {
	return len(r.Sources) > 0 && in.otherSource(r) == ""
}

// otherSource is a manifest that is not read and in which the object of a record stood, or "".
func (in *Input) otherSource(r *Record) string {
	for _, file := range r.Sources {
		if in.OtherSources[file] {
			return file
		}
	}
	return ""
}

// recordSources notes where what the state knows stands now.
func (b *builder) recordSources() {
	note := func(a resource.Address, now []string) {
		r, known := b.in.Prior[a]
		if !known || slices.Equal(r.Sources, now) {
			return
		}
		files := now
		if len(r.Sources) > 0 {
			files = slices.DeleteFunc(slices.Clone(r.Sources), func(file string) bool { return !b.in.OtherSources[file] })
			files = union(files, now)
		}
		if len(files) == 0 || slices.Equal(files, r.Sources) {
			return // what is orphaned stands where it stood last
		}
		if b.plan.Sources == nil {
			b.plan.Sources = map[resource.Address][]string{}
		}
		b.plan.Sources[a] = files
	}
	for _, o := range b.in.Desired {
		note(o.Address, o.Files)
	}
	for _, r := range b.memberSets {
		if b.sourcesKnown(r) {
			note(r.address(), b.sourcesOf(r))
		}
	}
	if len(b.in.OtherSources) == 0 {
		return
	}
	for a := range b.in.Prior {
		if _, wanted := b.indexOf(a); !wanted && a.IsObject() && b.in.targeted(a) {
			note(a, nil)
		}
	}
}

// sourcesKnown reports whether it is known of all members that the state has of a container where they stand.
func (b *builder) sourcesKnown(r *memberSet) bool {
	prior := b.in.Prior[r.address()]
	if len(prior.Sources) > 0 || len(prior.Members) == 0 {
		return true
	}
	wanted := map[string]bool{}
	for _, e := range r.entries {
		wanted[b.memberID(r, e)] = true
	}
	return !slices.ContainsFunc(prior.Members, func(id string) bool { return !wanted[id] })
}

// sourcesOf lists the manifests that want the members of a container in it.
func (b *builder) sourcesOf(r *memberSet) []string {
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

// warnOtherSources says what prune leaves alone since another manifest may want it.
func (b *builder) warnOtherSources() {
	of, unknown := map[string]int{}, 0
	for _, l := range b.orphans {
		switch {
		case l.decision != otherSource || !l.record.CreatedByUs:
		case len(l.record.Sources) == 0:
			unknown++
		default:
			of[b.in.otherSource(&l.record)]++
		}
	}
	for _, file := range slices.Sorted(maps.Keys(of)) {
		n := of[file]
		whose := file
		if file == standardInput {
			whose = "standard input"
		}
		b.notice("of-another", diag.Count(n, "object")+" from "+whose+" "+are(n)+" left alone: it is not part of this run", "")
	}
	if unknown > 0 {
		b.notice("of-unknown", diag.Count(unknown, "object")+" "+are(unknown)+" left alone: the state file does not say which manifest had "+them(unknown),
			"to delete: write "+them(unknown)+" once more, apply, and remove "+them(unknown)+" again; to keep: planform state rm ADDRESS")
	}
}

// standardInput is the name of the manifest that is read from it.
const standardInput = "-"
