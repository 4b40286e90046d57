// Package markup turns Markdown into the HTML that is sent to the service ([HTML]) and, where that is possible, back
// ([Markdown]); it brings HTML into a normal form in which what was sent can be compared with what came back ([Normal]), and
// into readable plain text ([Text]).
//
// The service does not store HTML as it is sent. It parses it, writes it out again and sanitises the result: several
// elements at the top are wrapped in a div, loose text is wrapped in a p, rows of a table get a tbody, links get a rel,
// comments, scripts, unknown elements and unknown attributes vanish, entities are decoded. Which of these happens, and how,
// differs between versions of the libraries it is built with. Comparing bytes would therefore report a change on every run.
//
// # Normal form
//
// [Normal] undoes the difference between two texts that a reader sees as one:
//
//   - text that stands loose in a block (the top, a list item, a table cell, a quotation …) is a paragraph of its own;
//   - an element that says nothing (a div or span without attributes, a link without a target, an empty paragraph) is left out,
//     and so is what the service removes;
//   - white space is collapsed as a browser collapses it, except in pre;
//   - b is strong, i is em, del and strike are s;
//   - inline elements lie inside blocks, never around them;
//   - attributes are sorted, and only those that the service keeps are left.
//
// Words, links, the order and kind of blocks, and emphasis are never touched: texts that differ in these stay different.
//
// # Guarantees
//
// No function panics, recurses on the depth of its input, or takes more than linear time and space in practice, whatever the
// input is; Normal(Normal(x)) == Normal(x); HTML of the same Markdown is the same text. All functions may be called concurrently.
//
// The package knows nothing of the rest of the module and does no input or output.
package markup
