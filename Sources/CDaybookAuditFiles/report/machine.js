// Time machine: the objects as they were after any entry, gone through in both directions.

const machine = {
    isDrawn: false, isRunning: false, mayTurn: false, entity: "", page: 0, picked: "", timer: 0,
    rows: 20,
};

// MARK: Stepping

/** Goes to a moment in slices, so that the page stays responsive, and shows what is reached. */
async function travel(to) {
    moment.wanted = Math.min(Math.max(to, 0), entries.length);
    if (machine.isRunning) return;
    machine.isRunning = true;
    while (moment.at !== moment.wanted) {
        const until = performance.now() + slice / 2;
        while (moment.at !== moment.wanted && performance.now() < until) {
            if (moment.at < moment.wanted) stepForward(); else stepBack();
        }
        if (moment.at !== moment.wanted) await pause();
    }
    machine.isRunning = false;
    if (shownView === "machine") drawMoment();
}

// MARK: Drawing

/** Shows the time machine after an entry; after the last one without a number. */
async function drawMachine(sequence) {
    if (!machine.isDrawn) prepareMachine();
    let at = entries.length;
    if (sequence !== undefined) {
        while (at > 0 && entryAt(at).sequence > sequence) at -= 1;
    }
    const warning = byId("machine-warning");
    warning.hidden = !scope.isFiltered && !scope.startsLate;
    warning.replaceChildren(decor("!", "sign"), "This report does not hold the whole journal: "
        + "objects and values may be missing.");
    await goAndFollow(at);
}

function prepareMachine() {
    machine.isDrawn = true;
    const slider = byId("slider");
    slider.addEventListener("input", () => {
        pausePlaying();
        goAndFollow(Number(slider.value));
    });
    for (const [id, go] of [
        ["first", () => 0], ["back", () => moment.wanted - 1], ["on", () => moment.wanted + 1],
        ["last", () => entries.length],
    ]) {
        byId(`machine-${id}`).addEventListener("click", () => {
            pausePlaying();
            goAndFollow(go());
        });
    }
    byId("machine-play").addEventListener("click", togglePlaying);
    byId("machine-entity").addEventListener("input", () => {
        machine.entity = byId("machine-entity").value;
        machine.page = 0;
        drawMoment();
    });
    byId("machine-page").addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (!button) return;
        machine.page += button.dataset.step === "1" ? 1 : -1;
        drawMoment();
    });
    byId("machine-table").addEventListener("click", (event) => {
        const row = event.target.closest("button[data-object]");
        if (row) pick(row.dataset.object);
    });
    byId("machine-near").addEventListener("click", (event) => {
        const node = event.target.closest("[data-object]");
        if (node) pick(node.dataset.object);
    });
}

function pick(name) {
    machine.picked = machine.picked === name ? "" : name;
    drawMoment();
}

/** Goes to a moment, and to the entity and the page on which something changes there. */
function goAndFollow(to) {
    machine.mayTurn = true;
    return travel(to);
}

function togglePlaying() {
    if (machine.timer) return pausePlaying();
    if (moment.wanted >= entries.length) goAndFollow(0);
    byId("machine-play").textContent = "Pause";
    byId("machine-play").setAttribute("aria-pressed", "true");
    machine.timer = setInterval(() => {
        if (moment.at !== moment.wanted) return;
        if (moment.at >= entries.length || shownView !== "machine") return pausePlaying();
        goAndFollow(moment.at + 1);
    }, 400);
}

function pausePlaying() {
    clearInterval(machine.timer);
    machine.timer = 0;
    byId("machine-play").textContent = "Play";
    byId("machine-play").setAttribute("aria-pressed", "false");
}

function drawMoment() {
    const entry = entryAt(moment.at);
    const slider = byId("slider");
    slider.max = String(entries.length);
    slider.value = String(moment.at);
    const said = entry ? `After entry ${digits.format(entry.sequence)}, ${shortTime(entry.when)}`
        : "Before the first entry";
    slider.setAttribute("aria-valuetext", said);
    byId("machine-moment").replaceChildren(make("strong", {}, said), ...(entry ? [" · ",
        authorName(entry.author), " · ", ...noteOf(entry).flat(), " ", entryLink(entry.sequence)]
        : []));
    for (const id of ["first", "back"]) byId(`machine-${id}`).disabled = moment.at === 0;
    for (const id of ["on", "last"]) byId(`machine-${id}`).disabled = moment.at === entries.length;
    const touched = touchedBy(entry);
    drawChanges(entry);
    drawKinds(touched);
    drawTable(touched);
    drawNeighbours(touched);
}

/** By name, the changes of an entry. */
function touchedBy(entry) {
    const touched = new Map();
    if (!entry) return touched;
    for (const change of record(entry).changes) touched.set(change.object, change);
    return touched;
}

const changesShown = 12;
function drawChanges(entry) {
    const changes = entry ? entry.changes.slice(0, changesShown) : [];
    const rest = (entry?.changes.length ?? 0) - changes.length;
    byId("machine-changes").replaceChildren(...changes.map(({ object, operation }) => {
        const name = objects.list[object];
        return make("li", {}, make("span", { class: operations[operation] },
            decor(verbs[operations[operation]][0]), unseen(verbs[operations[operation]][1])), " ",
        objectLink(name));
    }), ...(rest > 0 ? [make("li", {}, `and ${digits.format(rest)} more`)] : []));
}

/** The entities with how many objects each has, and the one that is shown. */
function drawKinds(touched) {
    const counts = new Map(Object.keys(scope.properties ?? {}).map((name) => [name, 0]));
    for (const [entity, { count }] of moment.kinds) if (count > 0) counts.set(entity, count);
    for (const { entity } of touched.values()) {
        if (!counts.has(entity)) counts.set(entity, 0);
    }
    if (machine.mayTurn && touched.size > 0) {
        const kinds = Array.from(touched.values(), (change) => change.entity);
        if (!kinds.includes(machine.entity)) {
            [machine.entity] = kinds;
            machine.page = 0;
        }
    }
    const names = Array.from(counts.keys());
    if (!names.includes(machine.entity)) {
        machine.entity = names.find((name) => counts.get(name) > 0) ?? names[0] ?? "";
    }
    const select = byId("machine-entity");
    select.replaceChildren(...names.map((name) => make("option", { value: name },
        `${name} (${digits.format(counts.get(name))})`)));
    select.value = machine.entity;
}

/** The objects of the entity that is shown, with those that the entry deleted, in their order. */
function shownObjects(touched) {
    const list = moment.kinds.get(machine.entity)?.inOrder ?? [];
    const gone = Array.from(touched.values()).filter(({ op, entity }) =>
        op === "delete" && entity === machine.entity).map(ghostOf);
    return gone.length === 0 ? list : merged(list, gone);
}

/** A deleted object with the values that it had. */
function ghostOf(change) {
    const ghost = { name: change.object, entity: change.entity, values: new Map(), isGone: true };
    for (const row of rowsOf(change)) {
        const set = row.removed && new Map(row.removed.map((member) =>
            [memberName(member), orderOf(member)]));
        ghost.values.set(row.name, { value: row.old, members: set, ...row });
    }
    return ghost;
}

/** Where the first object that an entry touches stands in a list; its length for none. */
function firstTouched(list, touched) {
    let first = list.length;
    for (const [name, { entity }] of touched) {
        const place = entity === machine.entity ? placeIn(list, name) : first;
        if (place < first) first = place;
    }
    return first;
}

const columnLimit = 12;
/** The properties of the table: as the model has them, then others that are known. */
function columnsOf(list) {
    const columns = new Set();
    for (const { values } of list) for (const name of values.keys()) columns.add(name);
    const order = own(scope.properties, machine.entity) ?? [];
    const others = Array.from(columns).filter((name) => !order.includes(name)).sort();
    return [...order.filter((name) => columns.has(name)), ...others].slice(0, columnLimit);
}

function drawTable(touched) {
    const list = shownObjects(touched);
    const pages = Math.max(1, Math.ceil(list.length / machine.rows));
    if (machine.mayTurn) {
        const first = firstTouched(list, touched);
        if (first < list.length) machine.page = Math.floor(first / machine.rows);
        machine.mayTurn = false;
    }
    machine.page = Math.min(Math.max(machine.page, 0), pages - 1);
    const shown = list.slice(machine.page * machine.rows, (machine.page + 1) * machine.rows);
    const columns = columnsOf(shown);
    const caption = `${machine.entity} after ${digits.format(moment.at)} of ${
        many(entries.length, "entry", "entries")}`;
    byId("machine-table").replaceChildren(list.length === 0
        ? make("p", { class: "nothing" }, "There is none at that point.")
        : make("table", { class: "moment" }, make("caption", { class: "unseen" }, caption),
            make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Object"),
                columns.map((name) => make("th", { scope: "col" }, name)))),
            make("tbody", {}, shown.map((object) =>
                momentRow(object, columns, touched.get(object.name))))));
    byId("machine-page").hidden = pages === 1;
    byId("machine-page-number").textContent =
        `${digits.format(machine.page + 1)} of ${digits.format(pages)}`;
    const [back, on] = byId("machine-page").querySelectorAll("button");
    back.disabled = machine.page === 0;
    on.disabled = machine.page === pages - 1;
}

function momentRow(object, columns, change) {
    const lit = change ? propertiesOf(change) : [];
    const kind = object.isGone ? "delete" : change?.op;
    return make("tr", { "data-row": object.name, class: kind && `lit ${kind}` },
        make("th", { scope: "row" }, make("button", {
            type: "button", class: "choose", "data-object": object.name,
            "aria-pressed": machine.picked === object.name,
        }, object.name), kind ? unseen(` ${verbs[kind][1].toLowerCase()} by this entry`) : []),
        columns.map((name) => make("td", {
            class: kind === "update" && lit.includes(name) ? "lit" : undefined,
            "data-property": name,
        }, momentValue(object.values.get(name)))));
}

const cellLength = 80;
function momentValue(known) {
    if (known === undefined) return value(undefined);
    if (known.isKeptBack) return make("em", { class: "nothing" }, "kept back");
    if (known.members) return memberSet(inOrder(known.members), false);
    const text = known.value;
    if (typeof text !== "string" || known.isReference || text.length <= cellLength) {
        return value(text, known.isReference, true);
    }
    return make("span", { class: "text", dir: "auto" },
        visible(text.slice(0, boundary(text, cellLength))), "…");
}

/** The names of members in their order. */
const inOrder = (list) => new Set(Array.from(list)
    .sort((one, other) => one[1] - other[1] || numberOf(one[0]) - numberOf(other[0]))
    .map(([name]) => name));
