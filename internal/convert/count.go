package convert

// Counts are numbers of items and other objects, in an export or in the manifests.
type Counts struct {
	Items       int            `json:"items"`
	Comments    int            `json:"comments"`
	Relations   int            `json:"relations"` // distinct links between items
	Parents     int            `json:"parents"`   // items that have one
	Labels      int            `json:"labels"`    // distinct ones that are used, by project
	Attachments int            `json:"attachments"`
	People      int            `json:"people"` // assignees, reporters and authors of comments
	States      map[string]int `json:"states"` // items by state
}

// relation is a link in its outward direction, so that the links of both issues are equal.
type relation struct{ kind, from, to string }

func (i *Issue) relations() []relation {
	var list []relation
	for _, l := range i.Links {
		r := relation{l.Type, i.Key, l.To}
		if l.Inward {
			r.from, r.to = r.to, r.from
		}
		list = append(list, r)
	}
	return list
}

func (i *Issue) involved() []string {
	list := append([]string{i.Reporter, i.Creator}, i.Assignees...)
	for _, c := range i.Comments {
		list = append(list, c.Author)
	}
	return list
}

// count counts the issues of an export before the mapping is applied.
func count(issues []*Issue) Counts {
	n := Counts{Items: len(issues), States: map[string]int{}}
	relations, labels := map[relation]bool{}, map[string]bool{}
	for _, i := range issues {
		n.Comments += len(i.Comments) + i.Left["comments-not-exported"] + i.Left["comments-restricted"]
		n.Attachments += len(i.Attachments)
		n.States[i.State.Name]++
		if i.Parent != "" {
			n.Parents++
		}
		for _, r := range i.relations() {
			relations[r] = true
		}
		for _, l := range i.Labels {
			labels[i.Project+"/"+l.Name] = true
		}
	}
	n.Relations, n.Labels, n.People = len(relations), len(labels), people(issues, func(string) bool { return true })
	return n
}

// people counts the distinct people of the issues whose ID meets a condition.
func people(issues []*Issue, are func(id string) bool) int {
	all := map[string]bool{}
	for _, i := range issues {
		for _, id := range i.involved() {
			if id != "" && are(id) {
				all[id] = true
			}
		}
	}
	return len(all)
}
