package table_test

import (
	"strings"
	"testing"

	"github.com/planform/planform/internal/table"
)

func TestOnlyTheBytesOfACellChange(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before string
		edits  []table.Edit
		want   string
	}{
		"in the middle":                         {"Key,Text,x\na,b,c\nd,e,f\n", []table.Edit{{3, 2, "E"}}, "Key,Text,x\na,b,c\nd,E,f\n"},
		"the first and the last of a row":       {"Key,Text\na,b\nd,e", []table.Edit{{3, 2, "E"}, {3, 1, "D"}, {2, 2, "B"}}, "Key,Text\na,B\nD,E"},
		"that gets nothing":                     {"Key,Text\na,b\n", []table.Edit{{2, 2, ""}}, "Key,Text\na,\n"},
		"that had nothing":                      {"Key,Text,x\na,,c\n", []table.Edit{{2, 2, "b"}}, "Key,Text,x\na,b,c\n"},
		"that needs quotes for a separator":     {"Key;Text\na;b, c\n", []table.Edit{{2, 2, "b; c"}}, "Key;Text\na;\"b; c\"\n"},
		"that needs none for another one":       {"Key;Text\na;b\n", []table.Edit{{2, 2, "b, c"}}, "Key;Text\na;b, c\n"},
		"that needs quotes for quotes":          {"Key\tText\na\tb\n", []table.Edit{{2, 2, `a "b"`}}, "Key\tText\na\t\"a \"\"b\"\"\"\n"},
		"that needs quotes for blanks":          {"Key,Text\na,b\n", []table.Edit{{2, 2, " b"}}, "Key,Text\na,\" b\"\n"},
		"that keeps its quotes":                 {"Key,Text\n\"a\",\"b \"\"c\"\", d\"\ne,f\n", []table.Edit{{2, 2, "x"}}, "Key,Text\n\"a\",\"x\"\ne,f\n"},
		"behind one with separators":            {"Key,Text\n\"a, \"\"b\"\"\",c\n", []table.Edit{{2, 2, "x"}}, "Key,Text\n\"a, \"\"b\"\"\",x\n"},
		"behind one of several lines":           {"Key,Text\n\"a\n\nb\",c\nd,e\n", []table.Edit{{2, 2, "x"}, {5, 1, "D"}}, "Key,Text\n\"a\n\nb\",x\nD,e\n"},
		"that gets several lines":               {"Key,Text\na,b\n", []table.Edit{{2, 2, "x\ny"}}, "Key,Text\na,\"x\ny\"\n"},
		"with the line ends of Windows":         {"Key,Text\r\na,b\r\n\r\nd,e\r\n", []table.Edit{{4, 2, "x\ny"}}, "Key,Text\r\na,b\r\n\r\nd,\"x\r\ny\"\r\n"},
		"with carriage returns as line ends":    {"Key,Text\ra,b\rd,e\r", []table.Edit{{3, 1, "D"}}, "Key,Text\ra,b\rD,e\r"},
		"behind a byte order mark":              {"\ufeffKey,Text\na,b\n", []table.Edit{{2, 1, "A"}}, "\ufeffKey,Text\nA,b\n"},
		"behind empty lines and a header again": {"Key,Text\n\n,\nKey,Text\na,b\n", []table.Edit{{5, 2, "B"}}, "Key,Text\n\n,\nKey,Text\na,B\n"},
		"of letters of several bytes":           {"Key,Text\nä😀,ö\n", []table.Edit{{2, 2, "é"}}, "Key,Text\nä😀,é\n"},
		"that its row is too short for":         {"Key,Text,x,y\na\nb,c\n", []table.Edit{{2, 2, "t"}, {2, 4, "z"}, {3, 3, "u"}}, "Key,Text,x,y\na,t,,z\nb,c,u\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := table.Rewrite([]byte(tt.before), known, tt.edits)
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\n%q, want\n%q", err, got, tt.want)
			}
		})
	}
	if got, err := table.Rewrite([]byte("Key,Text\na,b\n"), known, []table.Edit{{4, 1, "x"}}); err == nil {
		t.Errorf("a row that is not there: %q", got)
	}
}

// FuzzRewrite: a cell reads back as it was given, and the others as before.
func FuzzRewrite(f *testing.F) {
	f.Add("Key,Text\na,b\n\"c\nd\",e\n", uint8(1), uint8(1), "x, \"y\"")
	f.Add("Key;Text\r\na;b\r\n", uint8(0), uint8(0), "")
	f.Fuzz(func(t *testing.T, text string, row, column uint8, cell string) {
		rows := func(text []byte) (all []table.Row) {
			r, err := table.Open(strings.NewReader(strings.TrimPrefix(string(text), "\ufeff")), "f.csv", known)
			for err == nil && len(all) < 100 {
				var one table.Row
				if one, err = r.Next(); err == nil {
					all = append(all, one)
				}
			}
			return all
		}
		before := rows([]byte(text))
		if len(before) <= int(row) || strings.Contains(cell, "\r") {
			return
		}
		at := before[row]
		got, err := table.Rewrite([]byte(text), known, []table.Edit{{at.Line, 1 + int(column)%2, cell}})
		if err != nil {
			return
		}
		for i, now := range rows(got) {
			for c := range 2 {
				want := ""
				if i < len(before) {
					want = before[i].Cell(c)
				}
				if i == int(row) && c == int(column)%2 {
					want = cell
				}
				if len(rows(got)) == len(before) && now.Cell(c) != want {
					t.Errorf("%q became %q: cell %d of row %d is %q, not %q", text, got, c, i, now.Cell(c), want)
				}
			}
		}
	})
}
