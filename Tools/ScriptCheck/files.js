"use strict";

// The files of the report, in the order in which its page has them.

const fs = require("node:fs");
const path = require("node:path");

const root = path.join(__dirname, "..", "..");
const folder = path.join(root, "Sources", "CDaybookAuditFiles");

/** The files that a function of 'files.c' embeds, each with its path from the root and its text. */
function embedded(name) {
    const source = fs.readFileSync(path.join(folder, "files.c"), "utf8");
    const body = source.split(`const char *${name}(void) {`)[1]?.split("\n}\n")[0] ?? "";
    const files = Array.from(body.matchAll(/^#embed "([^"]+)"/gm), ([, file]) => {
        const place = path.join(folder, file);
        return { path: path.relative(root, place), text: fs.readFileSync(place, "utf8") };
    });
    if (files.length === 0) throw new Error(`'files.c' embeds nothing in '${name}'.`);
    return files;
}

/** What the page has of them: the files with an empty line between them. */
const joined = (files) => files.map((file) => file.text).join("\n");

module.exports = { root, embedded, joined };
