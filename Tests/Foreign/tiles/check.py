"""Computes the root of an exported folder of tiles with pymerkle and compares it with the checkpoint.

Usage: check.py FOLDER. The folder is one that `daybook tiles` wrote. Prints what was checked; the first
thing wrong ends it with 1.
"""

import base64
import pathlib
import sys

from pymerkle import InmemoryTree


def place(number):
    """A number in groups of three digits, all but the last behind an x."""
    groups = [f"{number % 1000:03}"]
    while number >= 1000:
        number //= 1000
        groups.insert(0, f"x{number % 1000:03}")
    return "/".join(groups)


def entries(folder, size):
    """The entries of a folder, from bundles, or one by one where a bundle cannot hold them."""
    for first in range(0, size, 256):
        width = min(256, size - first)
        suffix = "" if width == 256 else f".p/{width}"
        bundle = folder / f"tile/entries/{place(first // 256)}{suffix}"
        if not bundle.exists():
            for index in range(first, first + width):
                yield (folder / f"entry/{place(index)}").read_bytes()
            continue
        rest = bundle.read_bytes()
        while rest:
            count = int.from_bytes(rest[:2], "big")
            yield rest[2 : 2 + count]
            rest = rest[2 + count :]


def main():
    folder = pathlib.Path(sys.argv[1])
    lines = (folder / "checkpoint").read_text().split("\n")
    size, root = int(lines[1]), base64.b64decode(lines[2])
    tree = InmemoryTree(algorithm="sha256")
    for entry in entries(folder, size):
        tree.append_entry(entry)
    if tree.get_size() != size or tree.get_root() != root:
        sys.exit(f"error: the root over {tree.get_size()} entries is not that of the checkpoint")
    print(f"pymerkle computes the root of the checkpoint from {size} entries.")


main()
