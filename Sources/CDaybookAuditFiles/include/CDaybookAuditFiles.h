// What the module DaybookAudit writes that is not Swift: files of their own languages, compiled in as
// texts. Nothing is looked for when a program runs.
//
// Texts are UTF-8 and end with a zero byte; they stand as long as the program runs.
//
// The package manager's own way, '.embedInCode', makes a Swift array of every byte. For these sixty
// thousand bytes that took the compiler six seconds, and more than two again at every edit of the module;
// '#embed' takes none that can be measured.

#ifndef CDAYBOOK_AUDIT_FILES_H
#define CDAYBOOK_AUDIT_FILES_H

// How the audit report looks.
const char *audit_report_style(void);

// How it looks where scripts are switched off.
const char *audit_report_style_without_script(void);

// What it does: the parts in the order in which they stand in the page, in one scope.
const char *audit_report_script(void);

// The views that the script fills.
const char *audit_report_views(void);

// The tables of the format sqlite.
const char *audit_sqlite_tables(void);

// What is added to them when all rows are there.
const char *audit_sqlite_endings(void);

#endif
