package planner

import (
	"cmp"
	"slices"

	"github.com/planform/planform/internal/resource"
)

// Correction is something that the state is to know otherwise, whatever the steps
// bring. It takes no request.
type Correction struct {
	From   resource.Address
	To     resource.Address // where the record is to be; "" = it is forgotten
	Record Record           // as it is to be, unless it is forgotten
	Why    string           // for people; "" = not worth a word
}

// correct gathers the corrections.
func (b *builder) correct() {
	for _, r := range b.in.Prior {
		if r.Made {
			b.plan.Made++
		}
	}
	for i, o := range b.in.Desired {
		if f := &b.facts[i]; f.prior != nil && f.standing == there && o.Protected(f.prior.Protect) != f.prior.Protect {
			r := *f.prior
			r.Protect = !r.Protect
			b.plan.Corrections = append(b.plan.Corrections, Correction{From: o.Address, To: o.Address, Record: r, Why: protection(r)})
		}
	}
	for _, l := range b.leftovers {
		switch l.fate { //nolint:exhaustive // of the others the state is right
		case isGone:
			b.forget(l, "is not on the service any more")
		case isElsewhere:
			b.forget(l, "is known under another address")
		}
	}
	slices.SortStableFunc(b.plan.Corrections, func(a, b Correction) int { return cmp.Compare(a.From, b.From) })
}

func (b *builder) forget(l *leftover, why string) {
	b.plan.Corrections = append(b.plan.Corrections, Correction{From: l.record.Address, Why: why})
}

func protection(r Record) string {
	if r.Protect {
		return "is protected from now on"
	}
	return "is not protected any more"
}
