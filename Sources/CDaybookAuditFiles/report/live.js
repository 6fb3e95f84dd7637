// Live: entries that are saved while the page is open.

const arrived = [];
let arrivalTimer = 0;

/** Asks for the entries after the newest one, if the page was served and not read from a file. */
function listen() {
    if (!scope.isLive) return;
    const said = byId("live");
    said.hidden = false;
    const source = new EventSource(`after-${scope.head}`);
    source.onopen = () => { said.textContent = "New entries appear as they are saved."; };
    source.onerror = () => {
        said.textContent = source.readyState === EventSource.CLOSED
            ? "The store is not served any more." : "The connection is lost; trying again.";
    };
    source.addEventListener("failure", (event) => {
        source.close();
        said.textContent = event.data;
    });
    source.onmessage = (event) => {
        arrived.push(event.data);
        // Those that come together are shown together.
        if (!arrivalTimer) arrivalTimer = setTimeout(takeIn, 50);
    };
}

/** Takes in what has come, and shows it where it belongs. */
async function takeIn() {
    arrivalTimer = 0;
    const wasLast = moment.wanted === entries.length;
    const texts = arrived.splice(0);
    blocks.push({ lines: texts });
    const changed = new Set();
    for (const [line, text] of texts.entries()) {
        const record = recordOn(text);
        // After a broken connection some may come again.
        if (places.has(record.sequence)) continue;
        // Another model may have other names for all that is shown.
        if (record.kind === "model") return startAgain();
        const entry = addNewest(record, blocks.length - 1, line);
        for (const { object } of record.changes) changed.add(object);
        addHit(hits, entry);
    }
    scope.last = entries[0]?.sequence ?? 0;
    span = null;
    fillChoices();
    byId("count").textContent = countText();
    drawPageInPlace();
    drawSpan();
    if (shownView === "summary") await drawSummary();
    if (shownView === "object" && changed.has(shownObject)) await drawObject(shownObject);
    if (shownView === "machine") {
        if (wasLast) goAndFollow(entries.length); else drawMoment();
    }
}

/** Loads the page anew. */
function startAgain() {
    window.location.reload();
}

/** Draws the page of the list again, and leaves the focus where it was. */
function drawPageInPlace() {
    const focused = document.activeElement?.closest?.("#list > li")?.id;
    drawPage();
    if (focused) byId(focused)?.querySelector("button.row").focus({ preventScroll: true });
}
