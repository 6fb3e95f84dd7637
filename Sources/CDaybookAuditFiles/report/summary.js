// Summary: who changed what most, among what the filters want.

const tallyLimit = 12;

async function drawSummary() {
    const tallies = await tally();
    if (!tallies) return;
    const view = byId("view-summary");
    view.replaceChildren(
        make("h2", { id: "summary-title", tabindex: "-1" }, "Who changed what"),
        make("p", { class: "lead" }, `${countText()}. `, isFiltering() ? [
            "The filters of the timeline hold here too. ", clearButton()] : []),
        tallyTable("Authors", "Author", tallies.authors, (number) => authorName(number),
            (number) => chooseFilter("author", number)),
        tallyTable("Entities", "Entity", tallies.entities,
            (number) => entities.list[number], (number) => chooseFilter("entity", number)),
        tallyTable("Properties", "Property", tallies.properties,
            (number) => properties.list[number]),
        tallyTable("Objects", "Object", tallies.objects,
            (number) => objectLink(objects.list[number])));
}

let latestTally = 0;
async function tally() {
    latestTally += 1;
    const mine = latestTally;
    const tallies = {
        authors: new Map(), entities: new Map(), properties: new Map(), objects: new Map(),
    };
    const count = (map, key, entry, operation) => {
        let line = map.get(key);
        if (!line) {
            line = { key, entries: 0, last: null, counts: [0, 0, 0], changes: 0 };
            map.set(key, line);
        }
        if (line.last !== entry) line.entries += 1;
        line.last = entry;
        if (operation < 0) return;
        line.counts[operation] += 1;
        line.changes += 1;
    };
    let until = performance.now() + slice;
    for (const entry of hits.entries) {
        const noted = isNoted(entry);
        count(tallies.authors, entry.author, entry, -1);
        for (const change of entry.changes) {
            if (!isWanted(change, noted)) continue;
            count(tallies.authors, entry.author, entry, change.operation);
            count(tallies.entities, change.entity, entry, change.operation);
            count(tallies.objects, change.object, entry, change.operation);
            for (const property of change.properties) {
                count(tallies.properties, property, entry, change.operation);
            }
        }
        if (performance.now() < until) continue;
        await pause();
        if (mine !== latestTally) return undefined;
        until = performance.now() + slice;
    }
    return tallies;
}

function tallyTable(title, name, map, show, choose) {
    const lines = Array.from(map.values())
        .sort((a, b) => b.changes - a.changes || b.entries - a.entries || a.key - b.key);
    const most = Math.max(1, ...lines.slice(0, 1).map((line) => line.changes));
    const body = make("tbody", {});
    const nameOf = (line) =>
        choose ? chooser(show(line.key), () => choose(line.key)) : show(line.key);
    const row = (line) => make("tr", {},
        make("th", { scope: "row" }, nameOf(line)),
        [line.entries, line.changes, ...line.counts].map((count) =>
            make("td", { class: "figure" }, digits.format(count))),
        make("td", { class: "bar", "aria-hidden": "true" }, bar(line.counts, most)));
    body.append(...lines.slice(0, tallyLimit).map(row));
    const table = make("table", { class: "tally" },
        make("caption", {}, title, lines.length <= tallyLimit ? [] : make("span",
            { class: "by" }, `the first ${tallyLimit} of ${digits.format(lines.length)}`)),
        make("thead", {}, make("tr", {},
            make("th", { scope: "col" }, name),
            ["Entries", "Changes", "Inserted", "Updated", "Deleted"].map((text) =>
                make("th", { scope: "col", class: "figure" }, text)),
            make("td", { class: "bar", "aria-hidden": "true" }, legend()))),
        body);
    const holder = wide(title, table);
    if (lines.length <= tallyLimit) return holder;
    const more = make("button", { type: "button", class: "more" });
    let next = tallyLimit;
    const label = () => {
        const count = Math.min(200, lines.length - next);
        more.textContent = `Show ${digits.format(count)} more`;
    };
    label();
    more.addEventListener("click", () => {
        body.append(...lines.slice(next, next + 200).map(row));
        next += 200;
        if (next >= lines.length) more.remove(); else label();
    });
    return make("div", {}, holder, more);
}

function chooser(content, choose) {
    const button = make("button", { type: "button", class: "choose" }, content);
    button.addEventListener("click", choose);
    return button;
}

/** Inserted, updated and deleted, one after the other. */
function bar(counts, most) {
    const drawing = shape("svg", { viewBox: "0 0 1000 10", preserveAspectRatio: "none" });
    let x = 0;
    counts.forEach((count, place) => {
        const width = count / most * 1000;
        if (width > 0) {
            drawing.append(shape("rect",
                { class: operations[place], x, y: 0, width, height: 10 }));
        }
        x += width;
    });
    return drawing;
}

const legend = () => make("span", { class: "legend" }, operations.map((operation) =>
    make("span", { class: operation }, verbs[operation].join(" ").toLowerCase())));

function clearButton() {
    const button = make("button", { type: "button", class: "more" }, "Clear them");
    button.addEventListener("click", () => {
        resetFilters();
        changeFilters();
        byId("summary-title")?.focus();
    });
    return button;
}
