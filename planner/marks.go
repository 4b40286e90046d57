package planner

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// sameNaturalKey finds the records that have the natural key of an object, but for those which planform made as
// something else that the manifest has. Of several objects of one name, of which one is marked as each is, the name tells nothing.
func (s *Snapshot) sameNaturalKey(l *listing, o *resource.Object, t *kindInfo) (hits []resource.Row, field string) {
	hits, field = l.sameNaturalKey(o, t)
	if len(hits) == 0 || !t.externalIDs {
		return hits, field
	}
	if s.hasSharedName(o) {
		return nil, ""
	}
	hits = slices.DeleteFunc(slices.Clone(hits), func(row resource.Row) bool {
		mark, _ := row["external_id"].(string)
		at, wanted := s.ownersByExternalID()[mark]
		return wanted && row.HasExternalID(mark) && s.in.Desired[at] != o
	})
	return hits, field
}

// ownersByExternalID are the objects of the manifest by the external IDs that they have, or get.
func (s *Snapshot) ownersByExternalID() map[string]int {
	if s.byExternalID == nil {
		s.byExternalID = map[string]int{}
		for i, o := range s.in.Desired {
			if s.states[i].info.externalIDs {
				s.byExternalID[resource.ExternalID(s.in.Workspace, o.Address)] = i
			}
		}
	}
	return s.byExternalID
}

// hasSharedName reports whether another object of the manifest beside this one has the same
// natural key. Only objects that come from elsewhere, with IDs of their own there, can have that.
func (s *Snapshot) hasSharedName(o *resource.Object) bool {
	if s.sharedNames == nil {
		s.sharedNames = map[*resource.Object]bool{}
		type name struct {
			kind   *resource.Kind
			parent *resource.Object
			field  *resource.Field
			text   string
		}
		first := map[name]*resource.Object{}
		for _, o := range s.in.Desired {
			if t := s.kinds[o.Kind]; t.externalIDs && o.ID == "" && o.Identifier == "" {
				for _, f := range t.natural {
					text := o.Text(f.Name)
					if text == "" {
						continue
					}
					n := name{o.Kind, o.Parent, f, text}
					if other := first[n]; other != nil {
						s.sharedNames[o], s.sharedNames[other] = true, true
					} else {
						first[n] = o
					}
				}
			}
		}
	}
	return s.sharedNames[o]
}

// keepOne says which of several records with one external ID to keep: the one that the state knows, else the oldest.
func (s *Snapshot) keepOne(k *resource.Kind, parent int, rows []resource.Row) string {
	keep := slices.MinFunc(rows, func(a, b resource.Row) int {
		return cmp.Or(s.byState(k, a, b), older(a, b), strings.Compare(a.ID(), b.ID()))
	})
	why := "it is the oldest"
	if _, known := s.owners[serviceID{k.Name, keep.ID()}]; known {
		why = "the state file has it"
	}
	others := slices.DeleteFunc(slices.Clone(rows), func(row resource.Row) bool { return row.ID() == keep.ID() })
	return "keep " + s.enumerate(k, parent, []resource.Row{keep}) + " (" + why + "), and delete " + s.enumerate(k, parent, others)
}

// byState puts what an object of the manifest is before what none is.
func (s *Snapshot) byState(k *resource.Kind, a, b resource.Row) int {
	_, first := s.owners[serviceID{k.Name, a.ID()}]
	_, second := s.owners[serviceID{k.Name, b.ID()}]
	switch {
	case first && !second:
		return -1
	case second && !first:
		return 1
	default:
		return 0
	}
}

// older orders records by what the service numbers, else by when they were created.
func older(a, b resource.Row) int {
	if x, y := numberIn(a), numberIn(b); x != y {
		return cmp.Compare(x, y)
	}
	at, _ := a["created_at"].(string)
	bt, _ := b["created_at"].(string)
	return strings.Compare(at, bt)
}

// warnSharedExternalIDs warns of records that carry one external ID: runs that went on at the same time may have
// created an object once each.
func (b *builder) warnSharedExternalIDs() {
	var found diag.List
	for at, l := range b.listings {
		if !at.kind.externalIDs || l.presence != exists || len(l.rows) == 0 {
			continue
		}
		for mark, rows := range l.marks() {
			if len(rows) < 2 {
				continue
			}
			d := diag.Diagnostic{
				Severity: diag.Warning, Code: "same-mark", Summary: countOf(len(rows), at.kind.kind) + " carry the mark of " +
					strings.TrimPrefix(mark, b.in.Workspace+"/") + ": " + b.enumerate(at.kind.kind, at.parent, rows),
				Hint: b.keepOne(at.kind.kind, at.parent, rows),
			}
			if i, wanted := b.ownersByExternalID()[mark]; wanted {
				d.Position, d.Address = b.in.Desired[i].Position, string(b.in.Desired[i].Address)
			}
			found.Add(d)
		}
	}
	found.Sort()
	b.diags.Add(found...)
}

func numberIn(row resource.Row) int64 {
	number, _ := row["sequence_id"].(json.Number)
	n, _ := number.Int64() // 0 where there is none
	return n
}
