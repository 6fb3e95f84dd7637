// Span: how many entries there were when; those that the filters want stand out.

const binCount = 120;

let span = null;

/** The first and the last time, and how many entries there are in each part of the span. */
function measureSpan() {
    const times = entries.map(({ time }) => time).filter((time) => !Number.isNaN(time));
    let [first, last] = [Infinity, -Infinity];
    for (const time of times) {
        first = Math.min(first, time);
        last = Math.max(last, time);
    }
    const bin = (time) =>
        Math.min(binCount - 1, Math.floor((time - first) / (last - first) * binCount));
    const counts = new Array(binCount).fill(0);
    if (first < last) for (const time of times) counts[bin(time)] += 1;
    span = { first, last, bin, counts, isFlat: times.length < 3 || first === last };
}

function drawSpan() {
    if (isRead && !span) measureSpan();
    const place = byId("span");
    place.hidden = !span || span.isFlat;
    if (place.hidden) return;
    const shown = new Array(binCount).fill(0);
    for (const index of hits.indices) {
        if (!Number.isNaN(entries[index].time)) shown[span.bin(entries[index].time)] += 1;
    }
    const most = span.counts.reduce((a, b) => Math.max(a, b));
    const bars = shape("svg", {
        viewBox: `0 0 ${binCount * 10} 100`, preserveAspectRatio: "none",
    });
    for (let bin = 0; bin < binCount; bin += 1) {
        for (const [count, kind] of [[span.counts[bin], "all"], [shown[bin], "shown"]]) {
            if (count === 0) continue;
            const height = Math.max(6, count / most * 100);
            bars.append(shape("rect",
                { class: kind, x: bin * 10 + 1, width: 8, y: 100 - height, height }));
        }
    }
    const day = (time) => new Date(time).toISOString().slice(0, 10);
    place.replaceChildren(bars, make("div", { class: "ends" },
        make("span", {}, day(span.first)), make("span", {}, day(span.last))));
}

/** An element of a drawing. */
function shape(tag, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    return element;
}
