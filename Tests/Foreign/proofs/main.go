// Checks what `daybook` signs and proves with the packages that check Go's own module log.
//
// The folder holds public.key, old.checkpoint, new.checkpoint, growth (the request to a witness), for
// some entries N.entry and N.tlog-proof, and tiles, the journal as a folder exported under both
// checkpoints. Prints what was checked; the first thing wrong ends it with 1.
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

// tiles reads the hashes of a log from a folder.
type tiles string

func (folder tiles) Height() int { return 8 }

func (folder tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range wanted {
		// Go's paths name the height, too: tile/8/0/000.
		path := "tile/" + strings.TrimPrefix(tile.Path(), "tile/8/")
		bytes, err := os.ReadFile(filepath.Join(string(folder), path))
		if err != nil {
			return nil, err
		}
		found = append(found, bytes)
	}
	return found, nil
}

func (folder tiles) SaveTiles(tiles []tlog.Tile, data [][]byte) {}

// bundled reads the entries of a log from the bundles of a folder.
func bundled(folder string, size int64) [][]byte {
	var entries [][]byte
	for first := int64(0); first < size; first += 256 {
		width := size - first
		if width > 256 {
			width = 256
		}
		tile := tlog.Tile{H: 8, L: 0, N: first / 256, W: int(width)}
		path := "tile/entries/" + strings.TrimPrefix(tile.Path(), "tile/8/0/")
		rest := []byte(read(folder, path))
		for len(rest) >= 2 {
			count := int(rest[0])<<8 | int(rest[1])
			entries = append(entries, rest[2:2+count])
			rest = rest[2+count:]
		}
	}
	return entries
}

// checkTiles lets Go's reader of tiles check a folder against a checkpoint: every entry, and the growth
// from an earlier one.
func checkTiles(folder string, older, newer tlog.Tree, known note.Verifiers) int {
	tree := checkpoint(read(folder, "checkpoint"), known)
	if tree != newer {
		must(fmt.Errorf("it is of %d entries", tree.N), "the checkpoint in the folder")
	}
	for _, tree := range []tlog.Tree{older, newer} {
		hash, err := tlog.TreeHash(tree.N, tlog.TileHashReader(tree, tiles(folder)))
		must(err, "root from tiles")
		if hash != tree.Hash {
			must(fmt.Errorf("it is %v", hash), "root from tiles")
		}
	}
	reader := tlog.TileHashReader(newer, tiles(folder))
	entries := bundled(folder, newer.N)
	if int64(len(entries)) != newer.N {
		must(fmt.Errorf("there are %d", len(entries)), "entries in bundles")
	}
	for index, entry := range entries {
		proof, err := tlog.ProveRecord(newer.N, int64(index), reader)
		must(err, "proof from tiles")
		leaf := tlog.RecordHash(entry)
		must(tlog.CheckRecord(proof, newer.N, newer.Hash, int64(index), leaf), "entry in a bundle")
	}
	growth, err := tlog.ProveTree(newer.N, older.N, reader)
	must(err, "growth from tiles")
	must(tlog.CheckTree(growth, newer.N, newer.Hash, older.N, older.Hash), "growth from tiles")
	wrong := newer
	wrong.Hash[0] ^= 1
	_, err = tlog.TileHashReader(wrong, tiles(folder)).ReadHashes([]int64{0})
	mustFail(err, "tiles under another root")
	return len(entries)
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
	fmt.Printf(
		"Go's reader of tiles accepts the exported folder with each of its %d entries.\n",
		checkTiles(filepath.Join(folder, "tiles"), older, newer, known))
}
