#include "CDaybookPostgresFiles.h"

// '#embed' is C23; the compilers of the toolchains that this package can be built with have it in every
// language mode.
#pragma clang diagnostic ignored "-Wc23-extensions"

const char *postgres_schema(void) {
    static const unsigned char text[] = {
#embed "schema/tables.sql" suffix(, '\n',)
#embed "schema/rights.sql" suffix(, '\n',)
#embed "schema/appending.sql" suffix(, '\n',)
#embed "schema/keeping.sql" suffix(, 0)
    };
    return (const char *)text;
}
