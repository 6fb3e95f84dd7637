extension HTMLReport {
    /// Draws how many entries there were when.
    static let scriptSpan = #"""
        // Span: how many entries there were when; those that the filters want stand out.

        const binCount = 120;

        function drawSpan() {
            const known = entries.filter((entry) => !Number.isNaN(entry.time));
            let [first, last] = [Infinity, -Infinity];
            for (const { time } of known) {
                first = Math.min(first, time);
                last = Math.max(last, time);
            }
            const span = byId("span");
            span.hidden = !isRead || known.length < 3 || first === last;
            if (span.hidden) return;
            const bins = Array.from({ length: binCount }, () => [0, 0]);
            const bin = (time) => bins[
                Math.min(binCount - 1, Math.floor((time - first) / (last - first) * binCount))];
            for (const { time } of known) bin(time)[0] += 1;
            for (const index of hits.indices) {
                if (!Number.isNaN(entries[index].time)) bin(entries[index].time)[1] += 1;
            }
            const most = Math.max(...bins.map(([all]) => all));
            const bars = shape("svg", {
                viewBox: `0 0 ${binCount * 10} 100`, preserveAspectRatio: "none",
            });
            bins.forEach(([all, shown], place) => {
                for (const [count, kind] of [[all, "all"], [shown, "shown"]]) {
                    if (count === 0) continue;
                    const height = Math.max(6, count / most * 100);
                    bars.append(shape("rect", {
                        class: kind, x: place * 10 + 1, width: 8, y: 100 - height, height,
                    }));
                }
            });
            const day = (time) => new Date(time).toISOString().slice(0, 10);
            span.replaceChildren(bars, make("div", { class: "ends" },
                make("span", {}, day(first)), make("span", {}, day(last))));
        }

        /** An element of a drawing. */
        function shape(tag, attributes) {
            const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
            for (const name in attributes) element.setAttribute(name, attributes[name]);
            return element;
        }
        """#
}
