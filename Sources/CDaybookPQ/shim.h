#include <libpq-fe.h>

// libpq names the fields of an error by characters, and Swift does not import macros of characters.
static const int daybook_field_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int daybook_field_state = PG_DIAG_SQLSTATE;
static const int daybook_field_message = PG_DIAG_MESSAGE_PRIMARY;
