// Object: its life, and who wrote each of its values last.

let shownObject = "";
let drawnLife = null;

async function drawObject(name) {
    shownObject = name;
    const number = objects.numbers.get(name);
    const view = byId("view-object");
    const title = make("h2", { id: "object-title", tabindex: "-1" }, name, titleOf(name));
    byId("to-object").textContent = name;
    byId("to-object").href = `#object-${name}`;
    drawnLife = null;
    if (number === undefined) {
        view.replaceChildren(title, make("p", {}, isRead
            ? "No change of this object is in the report." : "Reading …"));
        return;
    }
    const life = await lifeOf(number);
    if (shownObject !== name) return;
    view.replaceChildren(title,
        make("p", { class: "lead" }, statusOf(life), " ", mentions(name)));
    if (scope.isFiltered || (scope.startsLate && life.steps[0].change.op !== "insert")) {
        view.append(make("p", { class: "warning" }, decor("!", "sign"),
            "This report does not hold the whole journal: changes may be missing."));
    }
    view.append(blameTable(life), lifeTable(life));
    drawnLife = life;
}

/** The changes of an object, oldest first, and what is known of its values after them. */
async function lifeOf(number) {
    const steps = [];
    const values = new Map();
    let until = performance.now() + slice;
    for (const [entry, place] of lives[number].slice().reverse()) {
        const step = { entry, change: record(entry).changes[place] };
        steps.push(step);
        for (const row of rowsOf(step.change)) learn(row, step, values);
        if (performance.now() < until) continue;
        await pause();
        until = performance.now() + slice;
    }
    return { steps, values, isDeleted: steps.at(-1).change.op === "delete" };
}

/** Learns what a row says of its property. A delete says what was, and writes nothing. */
function learn(row, step, values) {
    const known = values.get(row.name);
    if (step.change.op === "delete") {
        const was = row.removed
            ? { row, members: new Set(row.removed.map(memberName)) } : { row, value: row.old };
        values.set(row.name, { ...was, step: known && isSame(known, was) ? known.step : null });
    } else if (row.removed || row.added) {
        const members = new Set(known?.members);
        for (const member of row.removed ?? []) members.delete(memberName(member));
        for (const member of row.added ?? []) members.add(memberName(member));
        values.set(row.name, { row, members, step });
    } else {
        values.set(row.name, { row, value: row.new, step });
    }
}

/** Whether both say the same of a property: if not, what was written in between is missing. */
function isSame(one, other) {
    if (!one.members || !other.members) {
        return !one.members && !other.members
            && JSON.stringify(one.value) === JSON.stringify(other.value);
    }
    return one.members.size === other.members.size
        && Array.from(one.members).every((name) => other.members.has(name));
}

function statusOf({ steps, isDeleted }) {
    const [first, last] = [steps[0], steps.at(-1)];
    const parts = [`${many(steps.length, "change")}. `];
    if (first.change.op === "insert") {
        parts.push("Inserted by ", entryLink(first.entry.sequence), ". ");
    }
    parts.push(...(isDeleted
        ? ["Deleted by ", entryLink(last.entry.sequence), "."]
        : ["Not deleted."]));
    return parts;
}

function mentions(name) {
    const button =
        make("button", { type: "button", class: "more" }, "Find it in the timeline");
    button.addEventListener("click", () => {
        resetFilters();
        byId("text").value = name;
        changeFilters();
        location.hash = "#timeline";
    });
    return button;
}

function blameTable({ values, isDeleted }, isWhole = false) {
    const names = Array.from(values.keys()).sort();
    const title = isDeleted ? "Values when it was deleted, and who wrote them last"
        : `Values after entry ${digits.format(scope.last)}, and who wrote them last`;
    if (names.length === 0) return make("p", { class: "nothing" }, "It has no values.");
    return make("section", { "aria-labelledby": "blame-title" },
        make("h3", { id: "blame-title" }, title),
        wide(title, make("table", { class: "blame" },
            make("thead", {}, make("tr", {},
                ["Property", "Value", "Entry", "Time (UTC)", "Author", "Note"].map((name) =>
                    make("th", { scope: "col" }, name)))),
            make("tbody", {}, names.map((name) => blameRow(name, values.get(name), isWhole))))));
}

function blameRow(name, { row, value: known, members: set, step }, isWhole) {
    const shown = row.isKeptBack ? make("em", { class: "nothing" }, "kept back")
        : set ? memberSet(set, isWhole) : value(known, row.isReference, isWhole);
    const cells = [make("td", {}, shown)];
    if (step) {
        const { entry } = step;
        cells.push(make("td", { class: "nowrap" }, entryLink(entry.sequence)),
            make("td", { class: "nowrap" }, shortTime(entry.when)),
            make("td", {}, authorName(entry.author)),
            make("td", {}, make("bdi", { class: "clamped" }, visible(noteLine(entry)))));
    } else {
        cells.push(make("td", { colspan: "4" },
            make("em", { class: "nothing" }, "written by an entry not in this report")));
    }
    return make("tr", {}, make("th", { scope: "row" }, name), cells);
}

function memberSet(set, isWhole) {
    if (set.size === 0) return make("em", { class: "nothing" }, "no member");
    const names = Array.from(set);
    const limit = isWhole ? names.length : memberLimit;
    const links = names.slice(0, limit).flatMap((name) => [", ", objectName(name)]);
    const rest = names.length - limit;
    return make("span", {}, links.slice(1),
        rest > 0 ? ` and ${digits.format(rest)} more` : "");
}

/** Every change, with its columns in line. */
function lifeTable({ steps }, isWhole = false) {
    const table = make("table", { class: "values life" },
        make("thead", {}, make("tr", {},
            ["Property", "Old", "New"].map((name) => make("th", { scope: "col" }, name)))));
    const shown = isWhole ? steps : steps.slice(0, pageLength);
    table.append(...shown.map((step) => lifeStep(step, isWhole)));
    const section = make("section", { "aria-labelledby": "life-title" },
        make("h3", { id: "life-title" }, "Every change, oldest first"), table);
    let next = shown.length;
    if (next === steps.length) return section;
    const more = make("button", { type: "button", class: "more" });
    const label = () => {
        more.textContent = `Show ${many(steps.length - next, "later change")}`;
    };
    more.addEventListener("click", () => {
        table.append(...steps.slice(next, next + pageLength).map((step) => lifeStep(step)));
        next = Math.min(steps.length, next + pageLength);
        if (next === steps.length) more.remove(); else label();
    });
    label();
    section.append(more);
    return section;
}

function lifeStep({ entry, change }, isWhole) {
    const [sign, verb] = verbs[change.op];
    const line = noteLine(entry);
    const why = line === "" ? [] : [" · ", make("bdi", {}, visible(line))];
    const by = make("span", { class: "by" }, shortTime(entry.when), " · ",
        authorName(entry.author), why);
    const head = make("tr", { class: "step" },
        make("th", { colspan: "3", scope: "rowgroup" }, decor(sign, `sign ${change.op}`),
            ` ${verb}`, causeOf(change), " by ", entryLink(entry.sequence), by));
    const rows = rowsOf(change).map((row) =>
        make("tr", {}, make("th", { scope: "row" }, row.name), cells(row, isWhole)));
    return make("tbody", {}, head, rows);
}

let lifeOnScreen = [];

/** Shows all of the life in the place of its two tables; `foldLife` puts them back as they were. */
function unfoldLife() {
    if (!drawnLife) return;
    const view = byId("view-object");
    lifeOnScreen = Array.from(view.childNodes);
    view.replaceChildren(...lifeOnScreen.slice(0, -2),
        blameTable(drawnLife, true), lifeTable(drawnLife, true));
}

function foldLife() {
    if (lifeOnScreen.length > 0) byId("view-object").replaceChildren(...lifeOnScreen);
    lifeOnScreen = [];
}
