import { endOfFirstRow, separatorOf } from '../../../../campaigns/recipients/csv-dialect.js';

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
  const text = await file.slice(0, READ).text();
  const end = endOfFirstRow(text);
  const separator = separatorOf(end < 0 ? text : text.slice(0, end));
  const rows: string[][] = [];
  let row: string[] = [];
  // A cell with its quotes, and what ends it.
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${separator}\\r\\n]*)(${separator}|\\r\\n|\\r|\\n|$)`, 'gy');
  for (const [, content = '', end] of text.matchAll(cell)) {
    row.push(content.startsWith('"') ? content.slice(1, -1).replaceAll('""', '"') : content);
    if (end === separator) continue;
    if (row.some((each) => each !== '')) rows.push(row);
    row = [];
    if (rows.length > ROWS || end === '') break;
  }
  const [columns = [], ...others] = rows;
  return { columns: columns.map((name) => name.trim()), rows: others };
}
