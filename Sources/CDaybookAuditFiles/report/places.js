// Places: which view is shown, what the keys do, and the start.

const views = ["timeline", "object", "summary", "machine"];
const scrolls = {};
let shownView = "timeline";

function show(view) {
    if (view !== shownView) scrolls[shownView] = window.scrollY;
    const isNew = view !== shownView;
    shownView = view;
    for (const name of views) {
        byId(`view-${name}`).hidden = name !== view;
        const link = byId(`to-${name}`);
        if (name === view) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    if (view === "object") byId("to-object").hidden = false;
    return isNew;
}

/** Goes to the place that the address names. */
async function route() {
    let place = location.hash.slice(1);
    try {
        place = decodeURIComponent(place);
    } catch {
        place = "";
    }
    if (place.startsWith("object-")) {
        show("object");
        await drawObject(place.slice("object-".length));
        scrollToMain();
        byId("object-title").focus({ preventScroll: true });
    } else if (place === "summary") {
        show("summary");
        await drawSummary();
        scrollToMain();
        byId("summary-title").focus({ preventScroll: true });
    } else if (place === "machine" || /^at-\d+$/.test(place)) {
        const isNew = show("machine");
        await drawMachine(place === "machine" ? undefined : Number(place.slice("at-".length)));
        if (!isNew) return;
        scrollToMain();
        byId("machine-title").focus({ preventScroll: true });
    } else if (/^entry-\d+$/.test(place)) {
        show("timeline");
        await goTo(Number(place.slice("entry-".length)));
    } else if (place === "timeline" || place === "") {
        if (show("timeline")) window.scrollTo(0, scrolls.timeline ?? 0);
    }
}

const scrollToMain = () => document.querySelector("nav.views").scrollIntoView();

/** Opens an entry, if need be without the filters that hide it. */
async function goTo(sequence) {
    const entry = places.get(sequence);
    if (entry === undefined) {
        if (isRead) byId("count").textContent = `Entry ${sequence} is not in this report.`;
        return;
    }
    opened.add(sequence);
    if (fits(entry) < 0) {
        resetFilters();
        readFilters();
        await search();
    }
    page = Math.floor(Math.max(0, hits.entries.indexOf(entry)) / pageLength);
    drawPage();
    const line = byId(`entry-${sequence}`);
    line?.scrollIntoView({ block: "start" });
    line?.querySelector("button.row").focus({ preventScroll: true });
}

// MARK: Filters

function resetFilters() {
    for (const field of byId("filters").querySelectorAll("input, select")) field.value = "";
}

function readFilters() {
    const number = (id) => byId(id).value === "" ? -1 : Number(byId(id).value);
    const day = (id) => Date.parse(`${byId(id).value}T00:00:00Z`);
    wanted.text = byId("text").value.toLowerCase();
    wanted.author = number("author");
    wanted.entity = number("entity");
    wanted.operation = operations.indexOf(byId("operation").value);
    wanted.since = Number.isNaN(day("since")) ? -Infinity : day("since");
    wanted.until = Number.isNaN(day("until")) ? Infinity : day("until") + 86_400_000;
    byId("clear").disabled = !isFiltering();
}

const isFiltering = () => choosesChanges() || wanted.author >= 0
    || wanted.since !== -Infinity || wanted.until !== Infinity;

function changeFilters() {
    readFilters();
    return search();
}

function chooseFilter(id, number) {
    byId(id).value = String(number);
    changeFilters();
    location.hash = "#timeline";
}

function fillChoices() {
    const fill = (id, names, counts, show) => {
        const order = names.list.map((_, number) => number)
            .sort((a, b) => names.list[a].localeCompare(names.list[b]));
        const field = byId(id);
        const chosen = field.value;
        const options = order.map((number) => make("option", { value: number },
            `${show(names.list[number])} (${digits.format(counts[number])})`));
        field.replaceChildren(field.options[0], ...options);
        field.value = chosen;
    };
    const byAuthor = authors.list.map(() => 0);
    const byEntity = entities.list.map(() => 0);
    for (const entry of entries) {
        byAuthor[entry.author] += 1;
        for (const entity of new Set(entry.changes.map((change) => change.entity))) {
            byEntity[entity] += 1;
        }
    }
    fill("author", authors, byAuthor, (name) => name === "" ? "Nobody named" : name);
    fill("entity", entities, byEntity, (name) => name);
}

// MARK: Keys

byId("filters").addEventListener("input", changeFilters);
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").addEventListener("reset", (event) => {
    event.preventDefault();
    resetFilters();
    changeFilters();
    byId("text").focus();
});
byId("more-filters").addEventListener("click", () => {
    const isOpen = byId("filters").classList.toggle("unfolded");
    byId("more-filters").setAttribute("aria-expanded", isOpen);
});
byId("newest").addEventListener("click", () => turn(0));
byId("newer").addEventListener("click", () => turn(page - 1));
byId("older").addEventListener("click", () => turn(page + 1));
byId("oldest").addEventListener("click", () => turn(lastPage()));

byId("list").addEventListener("click", (event) => {
    const button = event.target.closest("button.row");
    if (button) toggle(button);
});

function toggle(button) {
    const line = button.closest("li");
    const sequence = Number(line.dataset.sequence);
    const opens = !opened.has(sequence);
    button.setAttribute("aria-expanded", opens);
    if (opens) {
        opened.add(sequence);
        line.append(entryPanel(places.get(sequence)));
    } else {
        opened.delete(sequence);
        line.querySelector(".entry").remove();
    }
}

document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target.closest("input, select, textarea");
    if (event.key === "/" && !isTyping) {
        event.preventDefault();
        if (shownView !== "timeline") location.hash = "#timeline";
        show("timeline");
        byId("text").focus();
    } else if (event.key === "Escape") {
        leave(event.target);
    } else if (!isTyping && event.target.matches("button.row")) {
        move(event);
    } else if (shownView === "machine" && !event.target.closest("select")) {
        moveInTime(event);
    }
});

/** The keys of the time machine; the slider has its own, for the same. */
function moveInTime(event) {
    const isSlider = event.target === byId("slider");
    if (event.key === "p" || event.key === "P") return togglePlaying();
    const to = {
        ArrowLeft: moment.wanted - 1, ArrowRight: moment.wanted + 1,
        PageUp: moment.wanted - 10, PageDown: moment.wanted + 10,
        Home: 0, End: entries.length,
    }[event.key];
    if (to === undefined || isSlider || event.target.closest(".wide-table")) return;
    event.preventDefault();
    pausePlaying();
    goAndFollow(to);
}

/** Out of the search, out of an open entry, out of another view. */
function leave(target) {
    const line = target.closest("#list > li");
    if (target === byId("text") && target.value !== "") {
        target.value = "";
        changeFilters();
    } else if (line && opened.has(Number(line.dataset.sequence))) {
        const button = line.querySelector("button.row");
        toggle(button);
        button.focus();
    } else if (shownView !== "timeline") {
        location.hash = "#timeline";
    }
}

function move(event) {
    const rows = Array.from(byId("list").querySelectorAll("button.row"));
    const place = rows.indexOf(event.target);
    const next = {
        ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: rows.length - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    if (next >= 0 && next < rows.length) rows[next].focus();
    else if (next < 0 && page > 0) {
        turn(page - 1);
        Array.from(byId("list").querySelectorAll("button.row")).at(-1).focus();
    } else if (next >= rows.length && page < lastPage()) turn(page + 1);
}

// MARK: Paper

/** On paper stands everything that the filters want, or the life of the object, whole. */
window.addEventListener("beforeprint", () => {
    for (const proof of document.querySelectorAll("details.standing")) proof.open = true;
    if (shownView === "object") unfoldLife();
    if (shownView !== "timeline") return;
    const paper = byId("print");
    paper.hidden = false;
    paper.replaceChildren(make("p", { class: "lead" }, `${countText()}. ${filterText()}`),
        ...hits.entries.map((entry) => make("article", {},
            make("h3", {}, `Entry ${digits.format(entry.sequence)}`,
                make("span", { class: "by" }, authorName(entry.author),
                    entry.kind ? ` · ${kindName(entry)}` : "")),
            entryPanel(entry, true))));
});
window.addEventListener("afterprint", () => {
    foldLife();
    byId("print").replaceChildren();
    byId("print").hidden = true;
});

function filterText() {
    const parts = Array.from(byId("filters").querySelectorAll("input, select"))
        .filter((field) => field.value !== "")
        .map((field) => `${field.labels[0].textContent}: ${
            field.matches("select") ? field.selectedOptions[0].textContent : field.value}`);
    return parts.length === 0 ? "" : `Filters: ${parts.join("; ")}.`;
}

// MARK: Start

async function start() {
    readFilters();
    route();
    let isDrawn = false;
    await readAll((share) => {
        byId("count").textContent = `Reading … ${Math.floor(share * 100)} %`;
        if (isDrawn || entries.length < pageLength) return;
        isDrawn = true;
        search().then(() => performance.mark("rows"));
    });
    if (!totals || totals.entries !== entries.length || totals.changes !== changeCount) {
        const sentence = "This file is not whole: a part of what was written is missing.";
        document.querySelector("header").append(
            make("p", { class: "warning", role: "alert" }, decor("✗", "sign"), sentence));
    }
    fillChoices();
    await changeFilters();
    // When it has the whole file, the browser goes to the place that the address names, and
    // takes the focus away.
    if (document.readyState !== "complete") {
        await new Promise((resume) => { window.addEventListener("load", resume); });
        await pause();
    }
    if (location.hash !== "") await route();
    performance.mark("ready");
    document.documentElement.dataset.state = "ready";
    listen();
}

window.addEventListener("hashchange", route);
start();
