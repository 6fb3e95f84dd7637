private import CDaybookAuditFiles

extension HTMLReport {
    /// How the page looks.
    static let style = text(String(cString: audit_report_style()))

    /// How it looks where scripts are switched off.
    static let styleWithoutScript = text(
        String(cString: audit_report_style_without_script()))

    /// What the page does, part by part, in one strict scope.
    static let script = text(String(cString: audit_report_script()))

    /// The views that the script fills.
    static let views = HTMLText(trusted: String(cString: audit_report_views()))

    /// A file without its last line end.
    private static func text(_ file: String) -> String { String(file.dropLast()) }
}
