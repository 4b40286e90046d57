package markup_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/text/markup"
)

// allocated returns the number of bytes that f allocates. No other goroutine may run.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// expensive names the functions that take more memory for each byte of a text than they may, and how much in all.
func expensive(text string, perByte int) map[string]uint64 {
	costs := map[string]uint64{}
	for name, f := range map[string]func(){
		"HTML":     func() { markup.HTML(text) },
		"Markdown": func() { markup.Markdown(text) },
		"Normal":   func() { markup.Normal(text) },
		"Text":     func() { markup.Text(text) },
	} {
		if cost := allocated(f); cost > uint64(perByte*len(text)+1<<20)*detectorFactor {
			costs[name] = cost
		}
	}
	return costs
}

// TestMemoryIsProportionalToTheText checks that no text of a manifest or the workspace fills the memory: 1 MB of text
// takes less than 300 MB, including memory that is in use only for a moment.
func TestMemoryIsProportionalToTheText(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const size = 1 << 18
	for name, text := range map[string]struct{ head, piece string }{
		"items":                    {"", "- a\n\n"},
		"items of two lists":       {"", "* a\n+ a\n"},
		"paragraphs":               {"", "a\n\n"},
		"line ends":                {"", "a\n"},
		"emphasis":                 {"", "_a_ "},
		"small tables":             {"", "a|b\n-|-\nc|d\n\n"},
		"a wide table":             {strings.Repeat("|a", 3000) + "\n" + strings.Repeat("|-", 3000) + "\n", "a\n"},
		"a wide table quoted":      {"> " + strings.Repeat("|a", 3000) + "\n> " + strings.Repeat("|-", 3000) + "\n", "> a\n"},
		"words":                    {"<p>", "a  "},
		"lines":                    {"<p>", "a\n"},
		"dots":                     {"<p>", "."},
		"www":                      {"<p>", "www."},
		"back-ticks as code":       {"<pre><code>", "`"},
		"back-ticks in a line":     {"<p><code>", "`"},
		"HTML paragraphs":          {"", "<p>a"},
		"HTML cells":               {"<table><thead><tr>", "<th>a"},
		"an HTML table":            {"<table><thead><tr>" + strings.Repeat("<th>a", 4000) + "<tbody>", "<tr><td>a"},
		"what are marks":           {"<p>", "["},
		"emphasis that never ends": {"<p>", "<i>a<b>"},
	} {
		if !sample.TakesNamed(name, 4) {
			continue
		}
		long := text.head + strings.Repeat(text.piece, size/len(text.piece))
		for function, cost := range expensive(long, 290) {
			t.Errorf("%s: %s takes %d MB for %d kB", name, function, cost>>20, len(long)>>10)
		}
	}
}

// TestALongRunIsReadOnce does not end within the time of a test if each character of a run is looked at from each of the others.
func TestALongRunIsReadOnce(t *testing.T) {
	t.Parallel()
	run := strings.Repeat("~", 1<<20)
	if got := markup.HTML("a " + run + " b"); got != "<p>a "+run+" b</p>\n" && got != "<p>a "+run+" b</p>" {
		t.Errorf("%d characters, which begin with %.40q", len(got), got)
	}
}

func TestALargeTableIsStillATable(t *testing.T) {
	t.Parallel()
	rows := "| a | b | c |\n|---|---|---|\n" + strings.Repeat("| 1 | 2 | 3 |\n", 5000)
	html := markup.HTML(rows)
	if got := strings.Count(html, "<tr>"); got != 5001 {
		t.Errorf("%d rows", got)
	}
}

// FuzzCost repeats any text: the memory stays proportional.
func FuzzCost(f *testing.F) {
	for i, piece := range []string{"- a\n", "|", "a|b\n-|-\n", "[a](b)", "*a_ ", "<p>a", "<td>", "`", "www.", "&amp;", "<b><p>", "> "} {
		if !sample.Takes(i, 3) {
			continue
		}
		f.Add("", piece, "")
		f.Add("<p>", piece, "")
		f.Add("a|b|c\n-|-|-\n", piece, "\n")
		f.Add("<table><thead><tr>", piece, "")
	}
	f.Fuzz(func(t *testing.T, head, piece, tail string) {
		const size, most = 1 << 16, 200 // a short text may cost more for each byte: the number of lines is not limited yet
		if piece == "" || len(head) > most || len(piece) > most || len(tail) > most {
			return
		}
		text := head + strings.Repeat(piece, size/len(piece)) + tail
		for function, cost := range expensive(text, 600) {
			t.Errorf("%s takes %d MB for %d kB: %q, %q, %q", function, cost>>20, len(text)>>10, head, piece, tail)
		}
	})
}
