package planner

// slab makes room for many small objects at once.
type slab[T any] []T

// take returns n zero values side by side.
func (s *slab[T]) take(n int) []T {
	const atOnce = 1024
	if len(*s) < n {
		*s = make([]T, max(n, atOnce))
	}
	taken := (*s)[:n:n]
	*s = (*s)[n:]
	return taken
}
