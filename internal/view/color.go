package view

import (
	"strings"

	"github.com/fatih/color"
)

// style holds the escape sequences that switch a colour on and off. Both are empty if the stream has no colours.
type style struct{ on, off string }

func (st style) paint(text string) string { return st.on + text + st.off }

// palette holds the colours of one stream.
type palette struct {
	create, update, remove, member, adopt, refuse style
	failure, warning, dim, bold                   style
}

// newPalette returns the palette of a stream with or without colours. It gets the sequences from the library once, so that printing only copies them.
func newPalette(on bool) palette {
	if !on {
		return palette{}
	}
	pick := func(attributes ...color.Attribute) style {
		c := color.New(attributes...)
		c.EnableColor() // whatever the library thinks of standard output
		before, after, _ := strings.Cut(c.Sprint("|"), "|")
		return style{before, after}
	}
	return palette{
		create: pick(color.FgGreen), update: pick(color.FgYellow), remove: pick(color.FgRed),
		member: pick(color.FgCyan), adopt: pick(color.FgBlue), refuse: pick(color.FgMagenta),
		failure: pick(color.FgRed, color.Bold), warning: pick(color.FgYellow, color.Bold),
		dim: pick(color.Faint), bold: pick(color.Bold),
	}
}
