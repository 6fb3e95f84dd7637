extension HTMLReport {
    /// The views that the script fills.
    static let views: HTMLText = """
        <noscript><p class="unscripted">The timeline, the search and the tables need JavaScript, which is
        switched off here. The entries follow as text, one JSON object to a line, oldest first.</p></noscript>
        <nav aria-label="Views" class="views">
        <a href="#timeline" id="to-timeline" aria-current="page">Timeline</a>
        <a href="#summary" id="to-summary">Who changed what</a>
        <a href="#" id="to-object" hidden></a>
        </nav>
        <main id="main" tabindex="-1">
        <section id="view-timeline" aria-labelledby="timeline-title">
        <h2 id="timeline-title" class="unseen">Timeline</h2>
        <form id="filters" role="search" aria-label="Entries" autocomplete="off">
        <div class="field wide"><label for="text">Search</label>
        <input id="text" type="search" aria-describedby="text-hint" aria-keyshortcuts="/"
        spellcheck="false">
        <span id="text-hint" class="unseen">In values before and after, notes and objects. Press
        slash to come here, Escape to clear.</span></div>
        <div class="field"><label for="author">Author</label><select id="author">
        <option value="">Anybody</option></select></div>
        <div class="field"><label for="entity">Entity</label><select id="entity">
        <option value="">Any</option></select></div>
        <div class="field"><label for="operation">Operation</label><select id="operation">
        <option value="">Any</option><option value="insert">Insert</option>
        <option value="update">Update</option><option value="delete">Delete</option></select></div>
        <div class="field"><label for="since">From (UTC)</label><input id="since" type="date"></div>
        <div class="field"><label for="until">Through</label><input id="until" type="date"></div>
        <div class="field"><button type="reset" id="clear">Clear</button></div>
        </form>
        <div id="span" class="span" aria-hidden="true"></div>
        <div class="count"><p id="count" role="status" aria-live="polite">Reading …</p>
        <p class="hint" aria-hidden="true"><kbd>/</kbd> search <kbd>↑</kbd><kbd>↓</kbd> move
        <kbd>Enter</kbd> open <kbd>Esc</kbd> back</p></div>
        <div class="columns" aria-hidden="true"><span>Entry</span><span>Time (UTC)</span>
        <span>Author</span><span>Note</span><span>Changes</span></div>
        <ol id="list" class="list" aria-label="Entries, newest first"></ol>
        <nav id="pages" class="pages" aria-label="Pages" hidden>
        <button type="button" id="newest">« Newest</button>
        <button type="button" id="newer">‹ Newer</button>
        <span id="page"></span>
        <button type="button" id="older">Older ›</button>
        <button type="button" id="oldest">Oldest »</button>
        </nav>
        </section>
        <section id="view-object" aria-labelledby="object-title" hidden></section>
        <section id="view-summary" aria-labelledby="summary-title" hidden></section>
        <section id="print" aria-label="Entries" hidden></section>
        </main>

        """
}
