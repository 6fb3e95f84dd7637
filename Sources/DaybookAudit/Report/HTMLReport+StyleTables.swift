extension HTMLReport {
    /// The list, and the tables of values.
    static let styleTables = """
        /* The list. */
        .columns, .row { display: grid;
            grid-template-columns: 5.2rem 11.5rem minmax(6rem, 11rem) 1fr auto;
            column-gap: 1rem; align-items: baseline; }
        .columns { padding: 0 .75rem .3rem; font-size: .8rem; color: var(--soft);
            border-bottom: 1px solid var(--line); }
        .list { list-style: none; }
        .list > li { border-bottom: 1px solid var(--line); scroll-margin-top: .5rem;
            content-visibility: auto; contain-intrinsic-size: auto 2.5rem; }
        .list h3 { font-weight: 400; }
        .row { width: 100%; padding: .5rem .75rem; background: none; border: 0; text-align: left;
            cursor: pointer; }
        .row:hover, .row[aria-expanded=true] { background: var(--hover); }
        .row:focus-visible { outline-offset: -2px; }
        .row > * { min-width: 0; overflow-wrap: anywhere; }
        .row .number::before { content: "▸"; display: inline-block; width: 1.1em;
            color: var(--soft); }
        .row[aria-expanded=true] .number::before { content: "▾"; }
        .row .time { color: var(--soft); }
        .row .number { white-space: nowrap; }
        .row .note { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical;
            overflow: hidden; }
        .row[aria-expanded=true] .note { -webkit-line-clamp: none; }
        .counts { display: flex; gap: .7rem; justify-content: flex-end; white-space: nowrap; }
        .insert { color: var(--insert); }
        .update { color: var(--update); }
        .delete { color: var(--delete); }
        .tag { padding: .05rem .45rem; font-size: .8rem; border: 1px solid var(--line);
            border-radius: 3px;
            color: var(--soft); }
        .none { padding: 2rem .75rem; color: var(--soft); }
        .entry { padding: .3rem .75rem 1.5rem 1.85rem; }
        .entry .facts { margin-top: .6rem; }
        .whole-note { margin-top: 1rem; max-width: 62rem; white-space: pre-wrap; }
        .change { margin-top: 1.35rem; }
        .change h4 { font-weight: 600; overflow-wrap: anywhere; }
        .sign.insert, .sign.update, .sign.delete { display: inline-block; width: 1em;
            font-weight: 700; }
        .more { padding: .1rem .55rem; margin-top: .2rem; font-size: .85rem; color: var(--link);
            background: none; border: 1px solid var(--line); border-radius: 4px; cursor: pointer; }
        .entry > div > .more { margin-top: 1rem; }
        .more:hover { background: var(--hover); }
        details { margin-top: 1rem; }
        summary { cursor: pointer; color: var(--link); }
        pre { max-height: 26rem; overflow: auto; margin: .5rem 0 0; padding: .7rem .9rem;
            background: var(--ground); border-radius: 5px; white-space: pre-wrap; }

        /* Tables. */
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0;
            font-weight: 400;
            overflow-wrap: anywhere; }
        thead th { font-size: .8rem; color: var(--soft); padding-bottom: .2rem; }
        tbody tr { border-top: 1px solid var(--line); }
        .values { table-layout: fixed; margin-top: .3rem; }
        .values thead th:first-child { width: 24%; }
        .text { white-space: pre-wrap; unicode-bidi: isolate; }
        del, ins { padding: 0 .1em; border-radius: 2px; }
        del { color: var(--delete); background: var(--delete-ground);
            text-decoration-thickness: 1px; }
        ins { color: var(--insert); background: var(--insert-ground); text-decoration: underline;
            text-decoration-thickness: 2px; text-underline-offset: .2em; }
        .hidden-sign { padding: 0 .25em; margin: 0 .1em; font: .75em var(--code);
            border: 1px solid currentColor;
            border-radius: 3px; unicode-bidi: isolate; }
        .members { list-style: none; }
        .members .sign { display: inline-block; width: 1.1em; }
        .wide-table { overflow-x: auto; margin-bottom: .3rem; }
        .wide-table:focus-visible { outline-offset: 0; }
        #view-object h3 { margin: 1.8rem 0 .2rem; }
        #view-object .lead .more { margin-left: .8em; }
        .blame { min-width: 52rem; table-layout: fixed; }
        .blame th:nth-child(1) { width: 14%; }
        .blame th:nth-child(2) { width: 26%; }
        .blame th:nth-child(3) { width: 8.5%; }
        .blame th:nth-child(4) { width: 17%; }
        .blame th:nth-child(5) { width: 12%; }
        .clamped { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical;
            overflow: hidden; }
        .life tbody { border-top: 1px solid var(--line); }
        .life .step th { padding-top: .95rem; font-weight: 600; }
        .life .step + tr { border-top: 0; }
        .life tr:not(.step) > th:first-child { padding-left: 1.25rem; }
        .tally { min-width: 46rem; margin-top: 1.4rem; table-layout: fixed; }
        .tally thead th:first-child { width: 26%; }
        .tally caption { text-align: left; font-weight: 650; padding-bottom: .2rem; }
        .tally .figure { text-align: right; }
        .tally .bar { width: 29%; padding: .5rem 0 0 1.5rem; }
        .tally thead .bar { padding-top: .35rem; font-size: .8rem; }
        .legend span { margin-right: 1em; white-space: nowrap; }
        .bar svg { display: block; width: 100%; height: .75rem; margin-top: .1rem; }
        .bar rect.insert { fill: var(--insert); }
        .bar rect.update { fill: var(--update); }
        .bar rect.delete { fill: var(--delete); }
        .choose { padding: 0; background: none; border: 0; color: var(--link); text-align: left;
            text-decoration: underline; text-decoration-thickness: 1px;
            text-underline-offset: .15em;
            cursor: pointer; overflow-wrap: anywhere; }
        .pages { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center;
            justify-content: center;
            margin-top: 1.4rem; }
        .pages span { padding: 0 .6rem; }
        .unscripted { margin-top: 2rem; }
        """
}
