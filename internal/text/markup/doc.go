// Package markup converts Markdown to the HTML that is sent to the service ([HTML]) and, where possible, back ([Markdown]).
// It also gives HTML a normal form in which sent and observed texts are compared ([Normal]), and plain text ([Text]).
//
// The service does not store HTML as sent. It parses it, writes it out again and sanitises the result: several top-level
// elements are wrapped in a div, loose text in a p, rows of a table get a tbody, links get a rel, entities are decoded;
// comments, scripts, unknown elements and unknown attributes are removed. The details differ between versions of its
// libraries. So a comparison of bytes would report a change on every run.
//
// # Normal form
//
// [Normal] removes the differences that no reader sees:
//
//   - loose text in a block (the top, a list item, a table cell, a quotation …) is a paragraph of its own;
//   - an element without meaning (a div or span without attributes, a link without a target, an empty paragraph) is left out,
//     as is everything that the service removes;
//   - white space is collapsed as a browser collapses it, except in pre;
//   - b is strong, i is em, del and strike are s;
//   - inline elements lie inside blocks, never around them;
//   - attributes are sorted, and only those that the service keeps are left.
//
// Words, links, emphasis, and the order and kinds of blocks are kept: texts that differ in these stay different.
//
// # Guarantees
//
// For any input, no function panics, recurses on the depth of its input, or takes more than linear time and space in practice;
// Normal(Normal(x)) == Normal(x); HTML of the same Markdown is the same text. All functions are safe for concurrent use.
//
// The package must not know the rest of the module, and does no input or output.
package markup
