import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { Info, Parser } from 'csv-parse';
import { MessagingError } from '../../common/errors.js';
import { endOfFirstRow, separatorOf } from './csv-dialect.js';

/** A row of a file by the names of its columns. */
export interface CsvRow {
  /** The line of the file in which it begins, from 1. */
  readonly line: number;
  /** Undefined if it has fewer cells than the first row. */
  readonly cells: readonly string[] | undefined;
  /** True: the file ends after it without a line break. Perhaps the rest is missing. */
  readonly isOpen: boolean;
}

/** A file whose first row was read. */
export interface CsvFile {
  /** The names of its columns. */
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<CsvRow>;
}

/** The longest row, in characters. */
const MAX_ROW = 65_536;

/** The number of columns that a file may have. */
const MAX_COLUMNS = 1000;

/**
 * Reads a file of CSV (RFC 4180) as a stream, so that its size does not matter. The separator is the one of comma, semicolon and tab
 * that the first row has most often. A cell is a text: a formula is not evaluated. Empty lines are skipped.
 *
 * @param bytes UTF-8, with or without a byte order mark
 * @throws MessagingError `error.body_too_large`, `error.csv_encoding` with the line that is not UTF-8, `error.csv_malformed` with a
 * line that has a quote in a wrong place, `error.csv_cut` if the file ends in the middle of a row, `error.csv_empty`,
 * `error.csv_column_twice`
 */
export async function readCsv(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<CsvFile> {
  const texts = decoded(bytes, maxBytes)[Symbol.asyncIterator]();
  let head = '';
  let end = -1;
  let isOver = false;
  while (end < 0 && !isOver) {
    const { value, done } = await texts.next();
    isOver = done === true;
    if (value !== undefined) head += value;
    end = endOfFirstRow(head);
    if (end < 0 && head.length > MAX_ROW) throw new MessagingError('error.csv_malformed', { line: 1 });
  }
  // The parser is loaded when the first file comes.
  const { CsvError, parse } = await import('csv-parse');
  const parser = parse({
    delimiter: separatorOf(end < 0 ? head : head.slice(0, end)),
    info: true,
    max_record_size: MAX_ROW,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const whole = { endsInBreak: true };
  const input = Readable.from(following(head, isOver ? undefined : texts, whole));
  input.on('error', (error) => parser.destroy(error));
  parser.on('close', () => input.destroy());
  input.pipe(parser);
  const records = recordsOf(parser, CsvError);
  const first = await records.next();
  if (first.done === true) throw new MessagingError('error.csv_empty');
  const columns = first.value.record.map((name) => name.trim());
  checkColumns(columns);
  return { columns, rows: rowsOf(records, columns.length, whole) };
}

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: Info;
}

async function* recordsOf(parser: Parser, CsvError: typeof import('csv-parse').CsvError): AsyncGenerator<CsvRecord> {
  try {
    yield* parser;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = Number(error.lines);
    throw new MessagingError(error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'error.csv_cut' : 'error.csv_malformed', { line });
  }
}

async function* rowsOf(
  records: AsyncGenerator<CsvRecord>,
  columns: number,
  whole: { readonly endsInBreak: boolean },
): AsyncGenerator<CsvRow> {
  let last: CsvRow | undefined;
  for await (const { record, info } of records) {
    if (last) yield last;
    const line = info.lines - record.reduce((breaks, cell) => breaks + breaksIn(cell), 0);
    last = { line, cells: record.length >= columns ? record : undefined, isOpen: false };
  }
  if (!last) return;
  // The last row has too few cells and no line break: the rest of the file is missing.
  if (!last.cells && !whole.endsInBreak) throw new MessagingError('error.csv_cut', { line: last.line });
  yield { ...last, isOpen: !whole.endsInBreak };
}

function breaksIn(cell: string): number {
  let breaks = 0;
  for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) breaks++;
  return breaks;
}

function checkColumns(columns: readonly string[]): void {
  if (columns.length > MAX_COLUMNS) throw new MessagingError('error.csv_malformed', { line: 1 });
  const named = columns.filter((name) => name !== '');
  const twice = named.find((name, index) => named.indexOf(name) !== index);
  if (twice !== undefined) throw new MessagingError('error.csv_column_twice', { column: twice.slice(0, 64) });
}

async function* following(
  head: string,
  texts: AsyncIterator<string> | undefined,
  whole: { endsInBreak: boolean },
): AsyncGenerator<string> {
  let last = head;
  yield head;
  for (;;) {
    const next = await texts?.next();
    if (next === undefined || next.done === true) break;
    if (next.value === '') continue;
    last = next.value;
    yield last;
  }
  whole.endsInBreak = /[\r\n]$/.test(last);
}

const BYTE_ORDER_MARK = '\ufeff';

/** Decodes UTF-8 without its byte order mark. */
async function* decoded(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let size = 0;
  let line = 1;
  let isFirst = true;
  // What the decoder keeps of the chunk before.
  let begun: Uint8Array = new Uint8Array();
  const decode = (chunk: Uint8Array | undefined): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      const rest = chunk === undefined ? 0 : linesBefore(Buffer.concat([begun, chunk]));
      throw new MessagingError('error.csv_encoding', { line: line + rest });
    }
  };
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > maxBytes) throw new MessagingError('error.body_too_large');
    const text = decode(chunk);
    line += breaksIn(text);
    begun = beginningOf(chunk.length > 3 ? chunk : Buffer.concat([begun, chunk]));
    yield isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    if (text !== '') isFirst = false;
  }
  yield decode(undefined);
}

/** How many lines precede the first one that is not UTF-8. */
function linesBefore(bytes: Uint8Array): number {
  let lines = 0;
  let from = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, from)) {
    if (!isUtf8(bytes.subarray(from, at))) return lines;
    lines++;
    from = at + 1;
  }
  return lines;
}

/** A copy of the bytes at the end that begin a character and do not complete it: none to three. */
function beginningOf(bytes: Uint8Array): Uint8Array {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes[bytes.length - length] ?? 0;
    // The bytes of a character after its first one are 10xxxxxx. The first one says how many there are.
    if ((byte & 0xc0) === 0x80) continue;
    const whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length < whole ? Uint8Array.from(bytes.subarray(-length)) : new Uint8Array();
  }
  return new Uint8Array();
}
