// Checks what `daybook` signs and proves with the packages that check Go's own module log.
//
// The folder holds public.key, old.checkpoint, new.checkpoint, growth (the request to a witness), and for
// some entries N.entry and N.tlog-proof. Prints what was checked; the first thing wrong ends it with 1.
package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %s: %v\n", what, err)
		os.Exit(1)
	}
}

func mustFail(err error, what string) {
	if err == nil {
		fmt.Fprintf(os.Stderr, "error: %s was accepted\n", what)
		os.Exit(1)
	}
}

func read(parts ...string) string {
	bytes, err := os.ReadFile(filepath.Join(parts...))
	must(err, filepath.Join(parts...))
	return string(bytes)
}

func hash(line string) tlog.Hash {
	bytes, err := base64.StdEncoding.DecodeString(line)
	must(err, "hash "+line)
	var hash tlog.Hash
	if copy(hash[:], bytes) != len(hash) {
		must(fmt.Errorf("%d bytes", len(bytes)), "hash "+line)
	}
	return hash
}

// checkpoint opens a signed checkpoint.
func checkpoint(text string, known note.Verifiers) tlog.Tree {
	opened, err := note.Open([]byte(text), known)
	must(err, "signature of a checkpoint")
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err, "size of a checkpoint")
	return tlog.Tree{N: size, Hash: hash(lines[2])}
}

func main() {
	folder := os.Args[1]
	verifier, err := note.NewVerifier(strings.TrimSpace(read(folder, "public.key")))
	must(err, "public key")
	known := note.VerifierList(verifier)
	older := checkpoint(read(folder, "old.checkpoint"), known)
	newer := checkpoint(read(folder, "new.checkpoint"), known)
	_, err = note.Open(
		[]byte(strings.Replace(read(folder, "new.checkpoint"), "\n", "\n9", 1)), known)
	mustFail(err, "a checkpoint with another size")

	growth := strings.Split(read(folder, "growth"), "\n")
	if growth[0] != fmt.Sprintf("old %d", older.N) {
		must(fmt.Errorf("it begins with %q", growth[0]), "growth")
	}
	var tree tlog.TreeProof
	for _, line := range growth[1:] {
		if line == "" {
			break
		}
		tree = append(tree, hash(line))
	}
	must(tlog.CheckTree(tree, newer.N, newer.Hash, older.N, older.Hash), "growth")
	mustFail(tlog.CheckTree(tree, newer.N, newer.Hash, older.N-1, older.Hash), "growth from elsewhere")

	proofs, err := filepath.Glob(filepath.Join(folder, "*.tlog-proof"))
	must(err, "proofs")
	for _, path := range proofs {
		parts := strings.SplitN(read(path), "\n\n", 2)
		lines := strings.Split(parts[0], "\n")
		if lines[0] != "c2sp.org/tlog-proof@v1" {
			must(fmt.Errorf("it begins with %q", lines[0]), path)
		}
		index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
		must(err, path)
		var record tlog.RecordProof
		for _, line := range lines[2:] {
			record = append(record, hash(line))
		}
		tree := checkpoint(parts[1], known)
		entry := []byte(read(strings.TrimSuffix(path, ".tlog-proof") + ".entry"))
		leaf := tlog.RecordHash(entry)
		must(tlog.CheckRecord(record, tree.N, tree.Hash, index, leaf), path)
		entry[len(entry)-1] ^= 1
		mustFail(
			tlog.CheckRecord(record, tree.N, tree.Hash, index, tlog.RecordHash(entry)),
			path+" with another entry")
		if index > 0 {
			mustFail(tlog.CheckRecord(record, tree.N, tree.Hash, index-1, leaf), path+" elsewhere")
		}
	}
	fmt.Printf(
		"Go's packages accept 2 checkpoints (%d and %d entries), their growth and %d proofs.\n",
		older.N, newer.N, len(proofs))
}
