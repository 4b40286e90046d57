package table_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

func TestARowThatDoesNotEndIsAnErrorWithItsLine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("x", 17<<20), "\"" + strings.Repeat("x\n", 9<<20)} {
		if _, _, err := read("Key,Text\na,\"b\nc\"\nd," + text); err == nil || err.Error() != "f.csv:4: the row that begins here is larger than 16 MiB" {
			t.Error(err)
		}
	}
}

func TestAHeaderThatDoesNotEndIsAnError(t *testing.T) {
	t.Parallel()
	if _, _, err := read("Key,Text," + strings.Repeat("x", 1<<20) + "\na,b\n"); err == nil || err.Error() != "f.csv:1: the header is larger than 1 MiB" {
		t.Error(err)
	}
}

func known(header []string) bool {
	return slices.Contains(header, "Key") && slices.Contains(header, "Text")
}

// read returns each row as its line and cells.
func read(text string) (rows []string, r *table.Reader, err error) {
	r, err = table.Open(strings.NewReader(text), "f.csv", known)
	if err != nil {
		return nil, nil, err
	}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, r, nil
		}
		if err != nil {
			return rows, r, err
		}
		var cells []string
		for i := range r.Header {
			cells = append(cells, row.Cell(i))
		}
		rows = append(rows, string(rune('0'+row.Line))+":"+strings.Join(cells, "|"))
	}
}

func TestRowsOfEveryProgramAreRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"commas":                          {"Key,Text\na,b\n", []string{"2:a|b"}},
		"semicolons":                      {"Key;Text\r\na,b;c\r\n", []string{"2:a,b|c"}},
		"tabs":                            {"Key\tText\na\tb", []string{"2:a|b"}},
		"a header with blanks":            {"Key ,\u00a0Text\na,b\n", []string{"2:a|b"}},
		"repeated columns":                {"Key,Text,Text\na,b,c\n", []string{"2:a|b|c"}},
		"short rows":                      {"Key,Text,X,Y\na,b\nc\n", []string{"2:a|b||", "3:c|||"}},
		"empty lines":                     {"Key,Text\n\n,\na,b\n,\n\n", []string{"4:a|b"}},
		"cells beyond the header, empty":  {"Key,Text\na,b,,\n", []string{"2:a|b"}},
		"quotes and lines within a cell":  {"Key,Text\na,\"say \"\"so\"\"\nnow\"\nc,d\n", []string{"2:a|say \"so\"\nnow", "4:c|d"}},
		"carriage returns within a cell":  {"Key,Text\na,\"b\r\nc\rd\"\n", []string{"2:a|b\nc\nd"}},
		"carriage returns end lines":      {"Key,Text\ra,b\rc,d\r", []string{"2:a|b", "3:c|d"}},
		"a header pasted into the middle": {"Key,Text\na,b\nKey,Text\nc,d\n", []string{"2:a|b", "4:c|d"}},
		"a header alone":                  {"Key,Text\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := read(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestBrokenTablesAreErrorsWithTheirLine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want, hint string }{
		"an empty file":              {" \n", "f.csv: the file is empty", "export it again"},
		"another table":              {"a,b\n1,2\n", "f.csv:1: the header has none of the expected columns", ""},
		"a quotation without end":    {"Key,Text\na,b\nc,\"d\ne\n", "f.csv:3: a quotation that begins in this row has no end", "cut off"},
		"a quotation mark too much":  {"Key,Text\na,b\nc,d\"e\n", `f.csv:3:4: a quotation mark stands where none may be`, "written twice"},
		"text behind a quotation":    {"Key,Text\na,\"b\" c\nd,e\n", `f.csv:2:`, "written twice"},
		"a row that is too long":     {"Key,Text\na,b,c\n", "f.csv:2: the row has 3 cells, the header 2", "a cell that holds ',' stands between quotation marks"},
		"the end within a first row": {"Key,Text,X,Y,Z\na,b", "f.csv:2: the file ends within this row, which has 2 of 5 cells", "cut off"},
		"the end within a row":       {"Key,Text,X,Y\na,b,c,d\ne,f", "f.csv:3: the file ends within this row, which has 2 of 4 cells", "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := read(tt.text)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !strings.Contains(diag.HintOf(err), tt.hint) {
				t.Errorf("%v (%s), want %s", err, diag.HintOf(err), tt.want)
			}
		})
	}
}

func TestSkippedHeadersAndReturnsAreCounted(t *testing.T) {
	t.Parallel()
	_, r, err := read("Key,Text\r\na,\"b\r\nc\"\r\nKey,Text\r\n\r\nd,e\r\n")
	if err != nil || r.Rows != 2 || r.Headers != 1 || r.Returns != 1 {
		t.Errorf("%v: %d rows, %d headers, %d returns", err, r.Rows, r.Headers, r.Returns)
	}
	if got := r.Columns("TEXT"); !slices.Equal(got, []int{1}) {
		t.Error(got)
	}
}
