/** The table of schema versions: `applied_at` is 0 until the version is complete. */
export const SCHEMA_TABLE = 'messaging_schema';
