// What the module DaybookPostgres runs on servers: files of SQL, compiled in as texts. Each is UTF-8, ends
// with a zero byte and stands as long as the program runs.

#ifndef CDAYBOOK_POSTGRES_FILES_H
#define CDAYBOOK_POSTGRES_FILES_H

// The tables and functions of shared stores, in the order in which they are installed.
const char *postgres_schema(void);

#endif
