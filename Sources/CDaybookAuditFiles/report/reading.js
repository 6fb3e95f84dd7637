"use strict";

// Reading: the blocks are gone through in slices, the newest entry first. Of each entry
// only what filters and tables need is kept; the rest is read again when it is shown.

const byId = (id) => document.getElementById(id);
const scope = JSON.parse(byId("scope").textContent);
const totals = JSON.parse(byId("totals")?.textContent ?? "null");
const blocks = Array.from(document.querySelectorAll("script.entries"));
const operations = ["insert", "update", "delete"];

/** Numbers for names, in the order in which they are met. */
class Names {
    list = [];
    numbers = new Map();
    number(name) {
        let number = this.numbers.get(name);
        if (number === undefined) {
            number = this.list.push(name) - 1;
            this.numbers.set(name, number);
        }
        return number;
    }
}

const authors = new Names();
const entities = new Names();
const objects = new Names();
const properties = new Names();

/** The entries, newest first. */
const entries = [];
/** By sequence number, an entry. */
const places = new Map();
/** By the number of an object, its changes as pairs of entry and change, newest first. */
const lives = [];
/** By the number of an object, the value by which people know it, as it was last. */
const titles = [];
/** By the sequence number of an entry, the one that has undone it last. */
const undoers = new Map();
let changeCount = 0;
let isRead = false;

/** Work is cut into pieces of this many milliseconds, so that the page stays responsive. */
const slice = 12;
const pause = () => new Promise((resume) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
        channel.port1.close();
        resume();
    };
    channel.port2.postMessage(null);
});

/** The record on a line, in the names of now. */
const recordOn = (line) => inNamesOfNow(parse(line));

/** Numbers of more digits than JavaScript keeps are read as text. */
function parse(line) {
    if (!/[:,[]-?\d{16}/.test(line)) return JSON.parse(line);
    const isExact = (token) =>
        !/^-?\d+$/.test(token) || Number.isSafeInteger(Number(token));
    return JSON.parse(line.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g,
        (token) => isExact(token) ? token : `"${token}"`));
}

let linesOfBlock = { block: -1, lines: [] };
function lines(block) {
    // Those that have come later have no element.
    if (blocks[block].lines) return blocks[block].lines;
    if (linesOfBlock.block !== block) {
        const lines = blocks[block].textContent.split("\n").filter((line) => line !== "");
        linesOfBlock = { block, lines };
    }
    return linesOfBlock.lines;
}

let lastRecord = { entry: null, record: null };
/** The whole record of an entry. */
function record(entry) {
    if (lastRecord.entry !== entry) {
        lastRecord = { entry, record: recordOn(lines(entry.block)[entry.line]) };
    }
    return lastRecord.record;
}

async function readAll(progress) {
    let until = performance.now() + slice;
    for (let block = blocks.length - 1; block >= 0; block -= 1) {
        const texts = lines(block);
        for (let line = texts.length - 1; line >= 0; line -= 1) {
            add(recordOn(texts[line]), block, line);
            if (performance.now() < until) continue;
            progress((blocks.length - block - line / texts.length) / blocks.length);
            await pause();
            until = performance.now() + slice;
        }
    }
    isRead = true;
}

function add(read, block, line) {
    const entry = summed(read, block, line, (object, pair) => (lives[object] ??= []).push(pair));
    for (const change of read.changes) {
        const object = objects.number(change.object);
        if (titles[object] === undefined) titles[object] = titleIn(change);
    }
    for (const number of undoneBy(entry)) {
        if (!undoers.has(number)) undoers.set(number, entry.sequence);
    }
    entries.push(entry);
}

/** Takes in an entry that has just been saved. */
function addNewest(read, block, line) {
    const entry = summed(read, block, line, (object, pair) => (lives[object] ??= []).unshift(pair));
    for (const change of read.changes) {
        const title = titleIn(change);
        if (title !== undefined) titles[objects.number(change.object)] = title;
    }
    for (const number of undoneBy(entry)) undoers.set(number, entry.sequence);
    entries.unshift(entry);
    return entry;
}

/** What is kept of an entry; `live` keeps each of its changes with the object. */
function summed(read, block, line, live) {
    const entry = {
        sequence: read.sequence, when: read.time, time: Date.parse(read.time),
        author: authors.number(read.author ?? ""), kind: read.kind,
        undoes: read.undoes === undefined ? undefined : [read.undoes].flat(),
        note: read.note ?? "", words: [read.note ?? "", ...Object.entries(read.info ?? {}).flat()]
            .join("\n").toLowerCase(),
        counts: [0, 0, 0], changes: [], block, line,
    };
    for (const change of read.changes) {
        const object = objects.number(change.object);
        const operation = operations.indexOf(change.op);
        live(object, [entry, entry.changes.length]);
        entry.counts[operation] += 1;
        entry.changes.push({
            object, operation, entity: entities.number(change.entity),
            words: wordsOf(change), properties: propertiesOf(change).map((name) =>
                properties.number(`${change.entity}.${name}`)),
        });
    }
    changeCount += entry.changes.length;
    places.set(entry.sequence, entry);
    return entry;
}

/** The sequence numbers of the entries that an entry undoes. */
function undoneBy({ undoes }) {
    if (undoes === undefined) return [];
    const [first, last = first] = undoes;
    return Array.from({ length: last - first + 1 }, (_, step) => first + step);
}

/** The value by which people know an object, if a change has it. */
function titleIn(change) {
    const property = own(scope.display, change.entity);
    if (property === undefined) return undefined;
    return own(change.op === "delete" ? change.old : change.new, property);
}

function propertiesOf(change) {
    return Array.from(new Set([
        change.new, change.old, change.removed, change.added,
    ].flatMap((side) => Object.keys(side ?? {})).concat(change.confidential ?? [])));
}

/** Everything in a change that a search finds, in small letters. */
function wordsOf(change) {
    const words = [change.object];
    for (const side of [change.old, change.new]) {
        for (const name in side) if (side[name] !== null) words.push(plain(side[name]));
    }
    for (const side of [change.removed, change.added]) {
        for (const name in side) words.push(...side[name].map(memberName));
    }
    return words.join("\n").toLowerCase();
}

const memberName = (member) => typeof member === "string" ? member : member.object;

/** A value as plain text. */
function plain(value) {
    if (typeof value === "string") return value;
    return Object.is(value, -0) ? "-0" : JSON.stringify(value);
}
