extension HTMLReport {
    /// How the page looks.
    static let style = [stylePage, styleTables, stylePaper].joined(separator: "\n\n")

    /// How it looks where scripts are switched off.
    static let styleWithoutScript = """
        nav, main { display: none; }
        script.entries { display: block; white-space: pre-wrap; overflow-wrap: anywhere;
            margin-top: 1rem;
            font: .8rem/1.6 var(--code); }
        """

    /// What the page does, part by part, in one strict scope.
    static let script = [
        scriptReading, scriptValues, scriptTimeline, scriptSpan, scriptObject, scriptSummary,
        scriptPlaces,
    ].joined(separator: "\n\n")
}
