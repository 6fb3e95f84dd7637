extension HTMLReport {
    /// Small screens and paper.
    static let stylePaper = """
        @media (max-width: 46rem) {
            html { font-size: 15px; }
            body { padding: 1.25rem 1rem 3rem; }
            h1 { font-size: 1.5rem; }
            .facts { gap: .5rem 2rem; }
            .standing { padding: .9rem 1rem 1rem; }
            .field, .field.wide { flex: 1 1 40%; }
            .field.wide { flex-basis: 100%; }
            .hint, .columns { display: none; }
            .row { grid-template-columns: 1fr auto; row-gap: .1rem; padding: .6rem .25rem; }
            .row .number { grid-area: 1 / 1; }
            .row .counts { grid-area: 1 / 2; }
            .row .time { grid-area: 2 / 1; }
            .row .author { grid-area: 2 / 2; text-align: right; }
            .row .note { grid-area: 3 / 1 / 4 / 3; }
            .entry { padding: .2rem .25rem 1.25rem; }
            .list { border-top: 1px solid var(--line); }
            .values thead th:first-child { width: 29%; }
            .values td, .values th { padding-right: .5rem; font-size: .93rem; }
            .pages span { order: -1; flex: 1 0 100%; text-align: center; }
        }

        @page { margin: 16mm 14mm; }
        @media print {
            :root {
                --paper: #fff; --ground: #fff; --ink: #000; --soft: #444; --line: #bbb;
                --link: #000;
                --insert: #000; --update: #000; --delete: #000;
                --insert-ground: #fff; --delete-ground: #fff;
                --good: #000; --good-ground: #fff; --open: #000; --open-ground: #fff; --bad: #000;
                --bad-ground: #fff; --bar: #999; --shown: #333;
            }
            html { font-size: 9.5pt; color-scheme: light; }
            body { max-width: none; padding: 0; }
            nav, .skip, #view-timeline, .more, .hint { display: none !important; }
            .standing { break-inside: avoid; border-width: 1px 1px 1px 4px; }
            .standing .sign { color: #000; border: 1px solid #000; background: none; }
            a { text-decoration: none; }
            article { border-top: 1px solid #000; padding-top: .5rem;
                margin-top: 1.2rem; }
            article h3 { font-size: 1.1rem; }
            article .entry { padding: 0; }
            h2, h3, h4, thead { break-after: avoid; }
            article > h3, .entry > .facts, .whole-note { break-after: avoid; }
            .change, tr, .facts > div { break-inside: avoid; }
            .wide-table { overflow: visible; }
            .blame, .tally { min-width: 0; }
            .facts { gap: .3rem 1.6rem; }
            .proof { grid-template-columns: repeat(2, 1fr); }
            .clamped { display: block; }
            pre { max-height: none; }
        }
        """
}
