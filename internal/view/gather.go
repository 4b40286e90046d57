package view

// gather groups elements with equal keys, at the place of the first element, if a group has at least `least` elements.
// An element without a key, or in a smaller group, stays alone.
func gather[T any, K comparable](list []T, least int, key func(T) (k K, ok bool)) [][]T {
	keys, alike := make([]*K, len(list)), map[K][]T{}
	for i, one := range list {
		if k, ok := key(one); ok {
			keys[i], alike[k] = &k, append(alike[k], one)
		}
	}
	groups, done := make([][]T, 0, len(list)), map[K]bool{}
	for i, k := range keys {
		switch {
		case k == nil || len(alike[*k]) < least:
			groups = append(groups, list[i:i+1])
		case !done[*k]:
			done[*k] = true
			groups = append(groups, alike[*k])
		}
	}
	return groups
}
