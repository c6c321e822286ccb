import { rowsOf } from '../shared/csv-rows.js';

/** The first rows of a file. */
export interface CsvHead {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** How much of a file is read for the preview, in bytes. */
const READ = 65_536;
/** How many rows the preview has. */
const ROWS = 5;

/** Reads the names of the columns and the first rows of a file of CSV. The service reads the file itself, and checks it. */
export async function readHead(file: Blob): Promise<CsvHead> {
  const rows: (readonly string[])[] = [];
  for (const { cells } of rowsOf(await file.slice(0, READ).text())) {
    // The part that was read may end within a cell.
    if (cells) rows.push(cells);
    if (rows.length > ROWS) break;
  }
  const [columns = [], ...others] = rows;
  return { columns: columns.map((name) => name.trim()), rows: others };
}
