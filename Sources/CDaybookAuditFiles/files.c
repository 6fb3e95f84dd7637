#include "CDaybookAuditFiles.h"

// '#embed' is C23; the compilers of the toolchains that this package can be built with have it in every
// language mode.
#pragma clang diagnostic ignored "-Wc23-extensions"

const char *audit_report_style(void) {
    static const unsigned char text[] = {
#embed "report/page.css" suffix(, '\n',)
#embed "report/tables.css" suffix(, '\n',)
#embed "report/machine.css" suffix(, '\n',)
#embed "report/paper.css" suffix(, 0)
    };
    return (const char *)text;
}

const char *audit_report_style_without_script(void) {
    static const unsigned char text[] = {
#embed "report/unscripted.css" suffix(, 0)
    };
    return (const char *)text;
}

const char *audit_report_script(void) {
    static const unsigned char text[] = {
#embed "report/reading.js" suffix(, '\n',)
#embed "report/names.js" suffix(, '\n',)
#embed "report/values.js" suffix(, '\n',)
#embed "report/timeline.js" suffix(, '\n',)
#embed "report/span.js" suffix(, '\n',)
#embed "report/object.js" suffix(, '\n',)
#embed "report/summary.js" suffix(, '\n',)
#embed "report/moment.js" suffix(, '\n',)
#embed "report/machine.js" suffix(, '\n',)
#embed "report/neighbours.js" suffix(, '\n',)
#embed "report/live.js" suffix(, '\n',)
#embed "report/places.js" suffix(, 0)
    };
    return (const char *)text;
}

const char *audit_report_views(void) {
    static const unsigned char text[] = {
#embed "report/views.html" suffix(, 0)
    };
    return (const char *)text;
}

const char *audit_sqlite_tables(void) {
    static const unsigned char text[] = {
#embed "sqlite/tables.sql" suffix(, 0)
    };
    return (const char *)text;
}

const char *audit_sqlite_endings(void) {
    static const unsigned char text[] = {
#embed "sqlite/endings.sql" suffix(, 0)
    };
    return (const char *)text;
}
