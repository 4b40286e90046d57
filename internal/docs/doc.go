// Package docs tests what the repository says of planform: that the pages, the README, the action and the hooks do what they show, and that
// a release holds what they name. It has no other code.
package docs
