package planner

// lostCreate looks for the object that the create of an orphan made if the answer was lost: a row with the orphan's mark. It returns the
// row's ID, or "" if there is none. lost is false if the record has an ID, or if the mark cannot be looked up.
func (ss *snapshot) lostCreate(r *Record, params map[string]string) (id string, lost bool) {
	t := ss.objects.kind(r.Address.Kind())
	if r.ID != "" || !ss.objects.intents[r.Address].creates() || !t.externalIDs || t.list == nil || len(r.Sources) == 0 || ss.in.otherSource(r) != "" {
		return "", false
	}
	list, known := t.listRead(params)
	if !known {
		return "", true // nothing is created in a parent without an ID
	}
	a := ss.service.ask(list)
	for _, row := range a.Rows {
		if ss.in.marks().On(row, r.Address) && (id == "" || row.ID() < id) {
			id = row.ID()
		}
	}
	if id == "" && !a.NotFound && !a.Unsupported {
		ss.service.unconfirmed = append(ss.service.unconfirmed, list)
	}
	return id, true
}
