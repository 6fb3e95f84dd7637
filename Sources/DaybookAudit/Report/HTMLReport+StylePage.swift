extension HTMLReport {
    /// The page: colours, letters, header and filters.
    static let stylePage = """
        :root {
            color-scheme: light dark;
            --paper: #ffffff; --ground: #f6f7f8; --ink: #1b1f24; --soft: #57606a; --line: #dfe3e7;
            --link: #0b57a4; --focus: #0b57a4; --hover: #eef2f6;
            --insert: #1a6b3f; --update: #7a4d00; --delete: #a32a20;
            --insert-ground: #e3f3e8; --delete-ground: #fae6e3;
            --good: #1a6b3f; --good-ground: #eef7f1; --open: #7a4d00; --open-ground: #fdf6e7;
            --bad: #a32a20; --bad-ground: #fcefed;
            --bar: #c9d2db; --shown: #3d76b0;
            --text: -apple-system, "Segoe UI", Roboto, Inter, "Noto Sans", Ubuntu, Cantarell,
            system-ui,
                sans-serif;
            --code: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono",
            monospace;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --paper: #16191d; --ground: #1e2227; --ink: #e3e6e9; --soft: #a3acb5;
                --line: #343a41;
                --link: #86b9f2; --focus: #86b9f2; --hover: #252a30;
                --insert: #7fd0a0; --update: #e0b46a; --delete: #f2a198;
                --insert-ground: #1b3526; --delete-ground: #43221f;
                --good: #7fd0a0; --good-ground: #19281f; --open: #e0b46a; --open-ground: #2b2416;
                --bad: #f2a198; --bad-ground: #331d1b;
                --bar: #3c444d; --shown: #6d9fd6;
            }
        }

        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        html { background: var(--paper); color: var(--ink); font: 15px/1.5 var(--text);
            font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%; }
        body { max-width: 76rem; margin: 0 auto; padding: 2.25rem 1.75rem 4rem; }
        h1, h2, h3, h4, p, dl, dd, ol, ul { margin: 0; padding: 0; font-weight: inherit;
            font-size: inherit; }
        h1 { font-size: 1.9rem; font-weight: 650; letter-spacing: -.015em; line-height: 1.2;
            overflow-wrap: anywhere; }
        h2 { font-size: 1.2rem; font-weight: 650; line-height: 1.3; overflow-wrap: anywhere; }
        h3 { font-size: 1rem; font-weight: 650; }
        a { color: var(--link); text-underline-offset: .15em; text-decoration-thickness: 1px; }
        code, .code, pre { font: .86em/1.5 var(--code); overflow-wrap: anywhere; }
        em { font-style: normal; }
        button, input, select { font: inherit; color: inherit; }
        :focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
        :is(h2, div, span, ul, main):focus { outline: none; }
        .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden;
            clip-path: inset(50%);
            white-space: nowrap; }
        .skip { position: absolute; left: -99rem; }
        .skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .3rem .7rem;
            z-index: 1; }
        .nothing, .by, .kind, .hint, dt { color: var(--soft); }
        .kind { font-size: .8rem; font-weight: 600; letter-spacing: .09em;
            text-transform: uppercase;
            margin-bottom: .2rem; }
        .lead { margin: .3rem 0 1.2rem; }
        .by { font-weight: 400; margin-left: .7em; }
        .nowrap { white-space: nowrap; }

        /* Facts: names above values, side by side as far as there is room. */
        .facts { display: flex; flex-wrap: wrap; gap: .7rem 2.5rem; margin-top: 1rem; }
        .facts dt { font-size: .8rem; }
        .facts dd { overflow-wrap: anywhere; }
        .facts .code { font-size: .82em; }

        .standing { margin-top: 1.6rem; padding: 1.15rem 1.35rem 1.25rem;
            border: 1px solid var(--line);
            border-left: 4px solid var(--soft); border-radius: 6px; background: var(--ground); }
        .standing h2 { display: flex; gap: .65rem; }
        .standing p { max-width: 62rem; margin-top: .45rem; }
        .standing .check { max-width: none; }
        .standing .sign { flex: none; display: inline-grid; place-content: center; width: 1.45em;
            height: 1.45em; margin-top: -.08em; border-radius: 50%; color: var(--paper);
            font-size: .92em;
            background: var(--soft); }
        .good { border-left-color: var(--good); background: var(--good-ground); }
        .good .sign { background: var(--good); }
        .open { border-left-color: var(--open); background: var(--open-ground); }
        .open .sign { background: var(--open); }
        .bad { border-left-color: var(--bad); background: var(--bad-ground); }
        .bad .sign { background: var(--bad); }
        .proof { display: grid;
            grid-template-columns: repeat(auto-fit, minmax(min(27rem, 100%), 1fr));
            gap: 1rem 2.5rem; margin-top: 1.1rem; padding-top: .9rem;
            border-top: 1px solid var(--line); }
        .proof h3 { font-size: .93rem; }
        .proof .facts { display: block; margin-top: .3rem; }
        .proof .facts > div { margin-top: .4rem; }
        .proof .code { display: block; font-size: .77em; }
        .standing .check { margin-top: 1rem; padding-top: .8rem; border-top: 1px solid var(--line);
            color: var(--soft); }
        .check code { display: inline-block; color: var(--ink); }
        .warning { margin: 1rem 0; padding: .6rem .9rem; border-left: 4px solid var(--open);
            background: var(--open-ground); }
        .warning .sign { margin-right: .6em; font-weight: 700; }

        nav.views { display: flex; flex-wrap: wrap; gap: .25rem 1.75rem; margin-top: 2rem;
            border-bottom: 1px solid var(--line); scroll-margin-top: .5rem; }
        nav.views a { padding: .45rem 0; margin-bottom: -1px; color: var(--soft);
            text-decoration: none;
            border-bottom: 2px solid transparent; overflow-wrap: anywhere; }
        nav.views a:hover { color: var(--ink); }
        nav.views a[aria-current] { color: var(--ink); font-weight: 600;
            border-color: var(--focus); }
        main > section { padding-top: 1.35rem; }

        /* Filters. */
        #filters { display: flex; flex-wrap: wrap; gap: .8rem .9rem; align-items: end; }
        .field { flex: 1 1 8.2rem; min-width: 0; }
        .field.wide { flex: 3 1 14rem; }
        .field:last-child { flex: 0 0 auto; }
        label { display: block; font-size: .8rem; color: var(--soft); margin-bottom: .15rem; }
        input, select { width: 100%; height: 2.3rem; padding: 0 .6rem; background: var(--paper);
            border: 1px solid var(--soft); border-radius: 5px; }
        #filters button, .pages button { height: 2.3rem; padding: 0 .9rem;
            background: var(--ground);
            border: 1px solid var(--line); border-radius: 5px; cursor: pointer; }
        button:disabled { color: var(--soft); cursor: default; opacity: .75; }
        .count { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .3rem 2rem;
            margin: 1rem 0 .6rem; }
        #count { font-weight: 600; }
        .hint { font-size: .85rem; }
        kbd { font: .85em var(--code); padding: .05em .4em; border: 1px solid var(--line);
            border-radius: 3px;
            margin-left: .6em; }
        kbd + kbd { margin-left: .2em; }
        .span { margin-top: 1.3rem; }
        .span svg { display: block; width: 100%; height: 3.2rem;
            border-bottom: 1px solid var(--line); }
        .ends { display: flex; justify-content: space-between; font-size: .8rem; color: var(--soft);
            margin-top: .2rem; }
        rect.all { fill: var(--bar); }
        rect.shown { fill: var(--shown); }
        """
}
