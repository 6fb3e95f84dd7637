private import CDaybookAuditFiles

extension HTMLReport {
    /// The style of the page.
    static let style = text(String(cString: audit_report_style()))

    /// Its style without scripts.
    static let styleWithoutScript = text(
        String(cString: audit_report_style_without_script()))

    /// The script of the page, part by part, in one strict scope.
    static let script = text(String(cString: audit_report_script()))

    /// The views that the script fills.
    static let views = HTMLText(trusted: String(cString: audit_report_views()))

    /// A file without its last line end.
    private static func text(_ file: String) -> String { String(file.dropLast()) }
}
