import { endOfFirstRow, separatorOf } from '../../../../campaigns/recipients/csv-dialect.js';

/** A row of a table, as text. */
export interface CsvRow {
  /** The line in which it begins, from 1. */
  readonly line: number;
  /** Undefined: a quote is not closed, or something follows a closed one. Then no further row can be read. */
  readonly cells: readonly string[] | undefined;
}

/**
 * Reads CSV (RFC 4180), or cells that were copied from a spreadsheet. The separator is the one of comma, semicolon and tab that
 * the first row has most often. Rows without any text are skipped.
 */
export function* rowsOf(csv: string): Generator<CsvRow> {
  const text = csv.replace(/^\ufeff/, '');
  const end = endOfFirstRow(text);
  const separator = separatorOf(end < 0 ? text : text.slice(0, end));
  // A cell, and what ends it.
  const cell = new RegExp(
    `(?:"([^"]*(?:""[^"]*)*)"|([^"${separator}\\r\\n][^${separator}\\r\\n]*)?)(${separator}|\\r\\n|\\r|\\n|$)`,
    'gy',
  );
  let line = 1;
  let first = 1;
  let cells: string[] = [];
  for (;;) {
    const found = cell.exec(text);
    if (!found) return yield { line, cells: undefined };
    const [, quoted, plain = '', end] = found;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += quoted?.match(/\r\n|\r|\n/g)?.length ?? 0;
    if (end === separator) continue;
    if (cells.some((each) => each !== '')) yield { line: first, cells };
    if (end === '') return;
    line++;
    first = line;
    cells = [];
  }
}
