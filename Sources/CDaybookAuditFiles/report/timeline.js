// Timeline: the entries that the filters want, a page of them at a time.

const pageLength = 50;
const opened = new Set();
const wanted = {
    text: "", author: -1, entity: -1, operation: -1, since: -Infinity, until: Infinity,
};
let hits = { entries: [], changes: 0 };
let page = 0;
let latestSearch = 0;

const choosesChanges = () =>
    wanted.entity >= 0 || wanted.operation >= 0 || wanted.text !== "";

/** Whether a change is wanted; `isNoted` if the note of its entry has the text. */
function isWanted(change, isNoted) {
    return (wanted.entity < 0 || change.entity === wanted.entity)
        && (wanted.operation < 0 || change.operation === wanted.operation)
        && (wanted.text === "" || isNoted || change.words.includes(wanted.text));
}

const isNoted = (entry) => wanted.text !== "" && entry.words.includes(wanted.text);

/** How many changes of an entry are wanted; -1 if the entry is not. */
function fits(entry) {
    if (wanted.author >= 0 && entry.author !== wanted.author) return -1;
    if (!(wanted.since === -Infinity || entry.time >= wanted.since)) return -1;
    if (!(wanted.until === Infinity || entry.time < wanted.until)) return -1;
    if (!choosesChanges()) return entry.changes.length;
    const noted = isNoted(entry);
    let count = 0;
    for (const change of entry.changes) if (isWanted(change, noted)) count += 1;
    return count > 0 || (noted && wanted.entity < 0 && wanted.operation < 0) ? count : -1;
}

/** Takes an entry in that is newer than all that were found, if the filters want it. */
function addHit(found, entry) {
    const count = fits(entry);
    if (count < 0) return;
    found.entries.unshift(entry);
    found.changes += count;
}

/** Goes through all entries; a newer search ends an older one. */
async function search() {
    latestSearch += 1;
    const mine = latestSearch;
    const found = { entries: [], changes: 0 };
    // While it goes on, newer ones may come before them.
    const [all, wasRead] = [entries.slice(), isRead];
    let until = performance.now() + slice;
    for (let index = 0; index < all.length; index += 1) {
        const count = fits(all[index]);
        if (count >= 0) {
            found.entries.push(all[index]);
            found.changes += count;
        }
        if ((index & 127) !== 127 || performance.now() < until) continue;
        await pause();
        if (mine !== latestSearch) return;
        until = performance.now() + slice;
    }
    if (wasRead) {
        for (const entry of entries.slice(0, entries.length - all.length).reverse()) {
            addHit(found, entry);
        }
    }
    hits = found;
    page = 0;
    if (isRead) byId("count").textContent = countText();
    drawPage();
    await pause();
    if (mine !== latestSearch) return;
    drawSpan();
    if (!byId("view-summary").hidden) await drawSummary();
}

function countText() {
    const shown = hits.entries.length;
    const all = shown === entries.length && hits.changes === changeCount;
    return all ? `${many(shown, "entry", "entries")}, ${many(changeCount, "change")}`
        : `${digits.format(shown)} of ${many(entries.length, "entry", "entries")}, `
            + `${digits.format(hits.changes)} of ${many(changeCount, "change")}`;
}

const lastPage = () => Math.max(0, Math.ceil(hits.entries.length / pageLength) - 1);

function drawPage() {
    const shown = hits.entries.slice(page * pageLength, (page + 1) * pageLength);
    byId("list").replaceChildren(...shown.map(item));
    if (shown.length === 0 && isRead) {
        byId("list").append(make("li", { class: "none" }, entries.length === 0
            ? "There is no entry in this report." : "No entry is like that."));
    }
    byId("pages").hidden = lastPage() === 0;
    byId("page").textContent =
        `Page ${digits.format(page + 1)} of ${digits.format(lastPage() + 1)}`;
    for (const id of ["newest", "newer"]) byId(id).disabled = page === 0;
    for (const id of ["older", "oldest"]) byId(id).disabled = page === lastPage();
}

function turn(to) {
    page = Math.min(Math.max(to, 0), lastPage());
    drawPage();
    byId("list").querySelector("button.row")?.focus();
}

/** A line of the list, with what is in the entry if it is open. */
function item(entry) {
    const isOpen = opened.has(entry.sequence);
    const button = make("button", { type: "button", class: "row", "aria-expanded": isOpen },
        make("span", { class: "number" }, unseen("Entry "), digits.format(entry.sequence)),
        make("span", { class: "time" }, shortTime(entry.when)),
        make("span", { class: "author" }, authorName(entry.author)),
        make("span", { class: "note" }, noteOf(entry)),
        make("span", { class: "what" }, whatOf(entry)));
    const line = make("li", { id: `entry-${entry.sequence}`, "data-sequence": entry.sequence },
        make("h3", {}, button));
    if (isOpen) line.append(entryPanel(entry));
    return line;
}

function authorName(author) {
    const name = authors.list[author];
    return name === "" ? make("em", { class: "nothing" }, "nobody named")
        : make("bdi", {}, visible(name));
}

/** The first line of the note; what happened if there is none. */
function noteOf(entry) {
    const parts = [];
    if (entry.kind) parts.push(make("span", { class: "tag" }, kindName(entry)), " ");
    const undoer = undoers.get(entry.sequence);
    if (undoer !== undefined) {
        parts.push(make("span", { class: "tag" }, `undone by ${digits.format(undoer)}`), " ");
    }
    if (entry.note !== "") {
        parts.push(make("bdi", {}, visible(noteLine(entry))));
    } else if (entry.changes.length > 0) {
        const first = entry.changes.slice(0, 3);
        const names = first.flatMap((change) =>
            [", ", objects.list[change.object], titleOf(objects.list[change.object])]);
        const rest = entry.changes.length - first.length;
        parts.push(make("span", { class: "nothing" }, names.slice(1),
            rest > 0 ? ` and ${digits.format(rest)} more` : ""));
    }
    return [...parts, matchIn(entry)];
}

/** In large entries the place of a match is not looked for. */
const matchedLimit = 500;
/** Where the first match of a search stands, if it is not in the note. */
function matchIn(entry) {
    if (wanted.text === "" || isNoted(entry) || entry.changes.length > matchedLimit) return [];
    const place = entry.changes.findIndex((change) => isWanted(change, false));
    if (place < 0) return [];
    const change = record(entry).changes[place];
    for (const row of rowsOf(change)) {
        for (const text of [row.new, row.old, ...(row.added ?? []), ...(row.removed ?? [])]) {
            if (text === undefined || text === null) continue;
            const words = typeof text === "object" ? memberName(text) : plain(text);
            const start = words.toLowerCase().indexOf(wanted.text);
            if (start < 0) continue;
            const from = boundary(words, Math.max(0, start - 24));
            return make("span", { class: "match" }, objects.list[entry.changes[place].object],
                ` ${row.name}: `, from > 0 ? "…" : "",
                visible(words.slice(from, boundary(words, start + wanted.text.length + 40))));
        }
    }
    return [];
}

const noteLine = (entry) => entry.note.split("\n", 1)[0].slice(0, 200);
const kindName = (entry) =>
    entry.undoes === undefined ? entry.kind
        : `undoes ${entry.undoes.map((number) => digits.format(number)).join("–")}`;

/** What an entry has inserted and deleted, by entity, and which properties it has changed. */
function whatOf(entry) {
    return operations.flatMap((operation, place) => {
        if (entry.counts[place] === 0) return [];
        const [sign, verb] = verbs[operation];
        const names = operation === "update" ? changedNames(entry) : changedKinds(entry, place);
        const shown = names.slice(0, 3).join(", ");
        const rest = names.length - 3;
        const only = entry.counts[place] === 1
            ? objects.list[entry.changes.find((change) => change.operation === place).object] : "";
        return make("span", { class: operation }, decor(sign), unseen(` ${verb} `), " ", shown,
            rest > 0 ? ` and ${digits.format(rest)} more` : "", only === "" ? [] : titleOf(only));
    });
}

/** The names of the properties that an entry has changed, and of how many objects. */
function changedNames(entry) {
    const names = new Set();
    for (const change of entry.changes) {
        if (change.operation !== 1) continue;
        for (const number of change.properties) {
            names.add(properties.list[number].slice(entities.list[change.entity].length + 1));
        }
    }
    const count = entry.counts[1];
    const list = Array.from(names);
    if (count > 1 && list.length > 0) list[0] = `${list[0]} (${digits.format(count)}×)`;
    return list;
}

/** The entities of which an entry has inserted or deleted objects, and how many. */
function changedKinds(entry, operation) {
    const kinds = new Map();
    for (const change of entry.changes) {
        if (change.operation !== operation) continue;
        kinds.set(change.entity, (kinds.get(change.entity) ?? 0) + 1);
    }
    return Array.from(kinds, ([entity, count]) =>
        count === 1 ? entities.list[entity] : `${digits.format(count)} ${entities.list[entity]}`);
}

/** Whether the line of the list does not show all of a note. */
const isLong = (note) => note.length > 100 || note.includes("\n");

const changeLimit = 40;
/** Everything that is in an entry; with filters, the changes that they want first. */
function entryPanel(entry, isWhole = false) {
    const read = record(entry);
    const noted = isNoted(entry);
    const chosen = [];
    const others = [];
    entry.changes.forEach((change, place) =>
        (isWanted(change, noted) ? chosen : others).push(read.changes[place]));
    const panel = make("div", { class: "entry" }, factsOf(read, isWhole));
    if (read.note && (isWhole || isLong(read.note))) {
        panel.append(make("p", { class: "whole-note" }, folded(read.note, isWhole)));
    }
    if (read.model) panel.append(modelOf(read.model));
    if (isWhole) {
        panel.append(...chosen.map((change) => changeSection(change, true)));
        return panel;
    }
    appendInParts(panel, chosen, changeSection, changeLimit, "change");
    if (others.length > 0) {
        appendInParts(panel, others, changeSection, 0, "other change");
    }
    return panel;
}

/** Appends elements; beyond a limit a button appends the next ones. */
function appendInParts(parent, list, draw, limit, name) {
    parent.append(...list.slice(0, limit).map((each) => draw(each)));
    const rest = list.slice(limit);
    if (rest.length === 0) return;
    const next = Math.min(rest.length, Math.max(200, changeLimit));
    const part = next === rest.length ? "" : `${digits.format(next)} of `;
    const more = make("button", { type: "button", class: "more" },
        `Show ${part}${many(rest.length, limit > 0 ? `more ${name}` : name)}`);
    const place = make("div", {}, more);
    parent.append(place);
    more.addEventListener("click", () => {
        const holder = make("div", { tabindex: "-1" });
        appendInParts(holder, rest, draw, next, name);
        place.replaceWith(holder);
        holder.focus();
    });
}

/** When, who and the like; on paper the heading says which entry and whose. */
function factsOf(read, isOnPaper) {
    const facts = [
        ["Link", !isOnPaper && entryLink(read.sequence)],
        ["Time machine", !isOnPaper && momentLink(read.sequence)],
        ["Happened", fullTime(read.time)],
        ["Recorded", read.recorded && fullTime(read.recorded)],
        ["Author", read.author && !isOnPaper && make("bdi", {}, visible(read.author))],
        ...Object.entries(read.info ?? {}).map(([key, text]) =>
            [make("bdi", {}, visible(key)),
                text === "" ? "empty" : make("bdi", {}, visible(text))]),
        ["Context", read.context && make("bdi", {}, visible(read.context))],
        ["Based on", read.base === undefined ? undefined
            : read.base === 0 ? "nothing" : entryLink(read.base)],
        ["Undoes", read.undoes && make("span", {}, ...[read.undoes].flat().flatMap(
            (number, place) => place ? [" to ", entryLink(number)] : [entryLink(number)]))],
        ["Undone by", undoers.has(read.sequence) && entryLink(undoers.get(read.sequence))],
        ["Digest", read.digest && make("span", { class: "code" }, read.digest)],
    ];
    return make("dl", { class: "facts" }, facts.filter(([, fact]) => fact)
        .map(([name, fact]) =>
            make("div", {}, make("dt", {}, name), make("dd", {}, fact))));
}

function modelOf(model) {
    const text = JSON.stringify(model, null, 2);
    return make("details", {}, make("summary", {}, "The model that was set"),
        make("pre", { tabindex: "0", "aria-label": "Model" }, text));
}

function changeSection(change, isWhole) {
    const [sign, verb] = verbs[change.op];
    return make("section", { class: "change", "aria-label": `${verb} ${change.object}` },
        make("h4", {}, decor(sign, `sign ${change.op}`), ` ${verb} `,
            objectLink(change.object), causeOf(change)),
        valueTable(change, `${verb} ${change.object}`, isWhole === true));
}

const causeOf = (change) =>
    change.cause ? [" because ", objectLink(change.cause), " was deleted"] : [];
