// Values: everything from the journal is put into the page as text, never as HTML.

/** An element with attributes and children; texts become text nodes. */
function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const name in attributes) {
        if (attributes[name] !== undefined) element.setAttribute(name, attributes[name]);
    }
    element.append(...children.flat(Infinity));
    return element;
}

const unseen = (text) => make("span", { class: "unseen" }, text);
const decor = (text, kind) => make("span", { "aria-hidden": "true", class: kind }, text);
const digits = new Intl.NumberFormat("en-US");
const many = (count, one, more = `${one}s`) =>
    `${digits.format(count)} ${count === 1 ? one : more}`;

/** `2011-12-15 08:30:00`, without parts of a second. */
function shortTime(text) {
    const parts = /^([^T]+)T(\d\d:\d\d:\d\d)/.exec(text);
    return parts ? `${parts[1]} ${parts[2]}` : text;
}
const fullTime = (text) => text.replace("T", " ").replace("Z", " UTC");

/** What cannot be seen, or turns the direction of what follows, is named. */
const hidden = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
function visible(text) {
    if (wanted.text !== "") return marked(text);
    return named(text);
}

/** Text in which what is searched for is marked. */
function marked(text) {
    const small = text.toLowerCase();
    // Some letters have another length in small letters.
    if (small.length !== text.length) return named(text);
    const parts = [];
    let start = 0;
    for (let at = small.indexOf(wanted.text); at >= 0; at = small.indexOf(wanted.text, start)) {
        const end = at + wanted.text.length;
        parts.push(...named(text.slice(start, at)), make("mark", {}, named(text.slice(at, end))));
        start = end;
    }
    return [...parts, ...named(text.slice(start))];
}

function named(text) {
    if (!hidden.test(text)) return [text];
    return text.split(new RegExp(`(${hidden.source})`, "u")).filter((part) => part !== "")
        .map((part) => hidden.test(part) ? make("span", { class: "hidden-sign" },
            `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`) : part);
}

const foldLength = 480;
/** Text, of which only the beginning is shown if it is long. */
function folded(text, isWhole) {
    const body = make("span", { class: "text", dir: "auto" });
    const lineEnd = text.split("\n", 9).join("\n").length;
    const end = Math.min(foldLength, lineEnd);
    if (isWhole || text.length <= end + 40) {
        body.append(...visible(text));
        return body;
    }
    body.append(...visible(text.slice(0, boundary(text, end))), "…");
    const more = make("button", { type: "button", class: "more" },
        `Show all ${many(Array.from(text).length, "character")}`);
    more.addEventListener("click", () => {
        body.replaceChildren(...visible(text));
        body.tabIndex = -1;
        body.focus();
        more.remove();
    });
    return make("span", {}, body, " ", more);
}

/** A place in a text that does not cut a character in two. */
function boundary(text, place) {
    const code = text.charCodeAt(place);
    return code >= 0xdc00 && code <= 0xdfff ? place - 1 : place;
}

const objectLink = (name) => make("a", { href: `#object-${name}` }, name, titleOf(name));
const entryLink = (sequence) =>
    make("a", { href: `#entry-${sequence}` }, `Entry ${digits.format(sequence)}`);
const momentLink = (sequence) =>
    make("a", { href: `#at-${sequence}` }, `After entry ${digits.format(sequence)}`);

const titleLength = 60;
/** The value by which people know an object, beside its name; as it is now unless it is given. */
function titleOf(name, title = titles[objects.numbers.get(name)]) {
    if (title === undefined || title === null || title === "") return [];
    const text = plain(title);
    const shown = text.length > titleLength
        ? `${text.slice(0, boundary(text, titleLength))}…` : text;
    return [" ", make("bdi", { class: "title" }, visible(shown.replace(/\s+/g, " ")))];
}

/** One side of a value. */
function value(value, isReference, isWhole) {
    if (value === undefined) {
        return make("span", { class: "nothing" }, decor("—"), unseen("nothing"));
    }
    if (value === null) return make("em", { class: "nothing" }, "no value");
    if (value === "") return make("em", { class: "nothing" }, "empty text");
    if (isReference && /^\w+\/\d+$/.test(value)) return objectLink(value);
    return folded(plain(value), isWhole);
}

/** Both sides, with what differs marked if most of it is alike. */
function sides(row, isWhole) {
    const { old, new: now, isReference } = row;
    const isText = typeof old === "string" && typeof now === "string" && !isReference;
    if (!isText || old === "" || now === "" || old.length + now.length > 2 * foldLength) {
        return [value(old, isReference, isWhole), value(now, isReference, isWhole)];
    }
    let start = 0;
    const least = Math.min(old.length, now.length);
    while (start < least && old[start] === now[start]) start += 1;
    start = start === least ? start : boundary(old, start);
    let end = 0;
    while (end < least - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
    if (end > 0 && boundary(old, old.length - end) !== old.length - end) end -= 1;
    if (start + end < least / 3) return [value(old), value(now)];
    const differing = (text, tag, word) => {
        const middle = text.slice(start, text.length - end);
        return make("span", { class: "text", dir: "auto" }, visible(text.slice(0, start)),
            middle === "" ? []
                : make(tag, {}, unseen(` ${word}: `), visible(middle), unseen(" ")),
            visible(text.slice(text.length - end)));
    };
    return [differing(old, "del", "old"), differing(now, "ins", "new")];
}

/** A member of an object by a name that may be any, such as `constructor`. */
const own = (object, name) =>
    object && Object.hasOwn(object, name) ? object[name] : undefined;

/** The properties that a change is about, with both sides. */
function rowsOf(change) {
    const references = own(scope.references, change.entity) ?? [];
    return propertiesOf(change).map((name) => ({
        name, old: own(change.old, name), new: own(change.new, name),
        isReference: references.includes(name),
        removed: own(change.removed, name), added: own(change.added, name),
        isKeptBack: change.confidential?.includes(name),
    }));
}

/** The cells of a row of values: old and new. */
function cells(row, isWhole) {
    if (row.isKeptBack) {
        const kept = () => make("em", { class: "nothing" }, "kept back");
        return [make("td", {}, kept()), make("td", {}, kept())];
    }
    if (row.removed || row.added) {
        return [make("td", {}, members(row.removed, "−", "left", isWhole)),
            make("td", {}, members(row.added, "+", "joined", isWhole))];
    }
    return sides(row, isWhole).map((side) => make("td", {}, side));
}

const memberLimit = 12;
/** Objects that join or leave. */
function members(list, sign, word, isWhole) {
    if (!list || list.length === 0) return value(undefined);
    const item = (member) => make("li", {}, decor(sign, "sign"),
        objectName(memberName(member)), ` ${word}`,
        typeof member === "object" ? ` at ${member.order}` : "");
    const whole = isWhole || list.length <= memberLimit + 2;
    const shown = make("ul", { class: "members" },
        (whole ? list : list.slice(0, memberLimit)).map(item));
    if (whole) return shown;
    const more = make("button", { type: "button", class: "more" },
        `Show ${many(list.length - memberLimit, "more", "more")}`);
    more.addEventListener("click", () => {
        shown.append(...list.slice(memberLimit).map(item));
        shown.tabIndex = -1;
        shown.focus();
        more.remove();
    });
    return [shown, more];
}

/** The name of an object as a link; a hash in its place as text. */
const objectName = (name) => /^\w+\/\d+$/.test(name) ? objectLink(name) : folded(name);

const verbs = {
    insert: ["+", "Inserted"], update: ["~", "Updated"], delete: ["−", "Deleted"],
};

/** The table of what a change does to its object. */
function valueTable(change, caption, isWhole) {
    const rows = rowsOf(change);
    if (rows.length === 0) return make("p", { class: "nothing" }, "It has no values.");
    return make("table", { class: "values" },
        make("caption", { class: "unseen" }, caption),
        make("thead", {}, make("tr", {},
            ["Property", "Old", "New"].map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, rows.map((row) => make("tr", {},
            make("th", { scope: "row" }, row.name), cells(row, isWhole)))));
}

/** A table that may be wider than the screen. */
const wide = (label, table) => make("div",
    { class: "wide-table", tabindex: "0", role: "group", "aria-label": label }, table);
