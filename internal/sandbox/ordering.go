package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// compare orders two values of one field; null comes last.
func compare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	switch a := a.(type) {
	case int:
		if b, ok := b.(int); ok {
			return cmp.Compare(a, b)
		}
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b)
		}
	case json.Number:
		if b, ok := b.(json.Number); ok {
			x, _ := a.Float64()
			y, _ := b.Float64()
			return cmp.Compare(x, y)
		}
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}
