// Package disk makes the changes to files that must last: the state, its journal, the history, saved plans, and manifests that are
// rewritten. Every such change goes through a [Disk], so that a simulation can cut the power between any two of them.
//
// What an export or a conversion writes can be made again: [ReplaceIn] writes it, each file completely or not at all.
//
// It must not know what the files hold. Reading needs no [Disk]: a change is visible at once, and only a
// loss of power shows which changes were flushed.
package disk
