import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { type BeforeApplicationShutdown, Injectable, StreamableFile } from '@nestjs/common';
import { type AdapterResponse, NO_TRANSFORM, rawResponse } from './event-streams.js';

/** The media type of CSV. */
export const CSV = 'text/csv';

/** Whether a request asks for CSV (RFC 9110 section 12.5.1). A request that does not mention CSV does not ask for it. */
export function wantsCsv({ accept = '' }: IncomingHttpHeaders): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === CSV && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** A cell. Null is an empty cell. */
export type Cell = string | number | null;

/**
 * Matches the places where a spreadsheet would read a formula: at the beginning of a text, and after a character that may be a
 * separator or the end of a line, because some spreadsheets ignore quotes if the file has another separator than they expect.
 * Spreadsheets treat the full-width signs of East Asian keyboards like the plain signs, and skip blanks, a byte order mark and
 * other invisible characters before them.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?=[\p{White_Space}\p{Cf}"]*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r])/gu;

/**
 * Returns a line of CSV (RFC 4180). If a spreadsheet would read a formula in a text, the function puts an apostrophe before it,
 * also within the text. Numbers stay as they are.
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  const text = String(cell ?? '');
  const safe = /^-?\d+(\.\d+)?$/.test(text) ? text : text.replace(FORMULA, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns a complete CSV file. */
export function csvFile(name: string, lines: readonly string[]): StreamableFile {
  return new StreamableFile(Buffer.from(lines.join('')), headersOf(name));
}

function headersOf(name: string) {
  return { type: `${CSV}; charset=utf-8`, disposition: `attachment; filename="${name}.csv"` };
}

/**
 * Streams CSV files. Lines are read as fast as the client takes them. If a file cannot be completed, the connection breaks, so
 * that nobody mistakes a part for the whole file. The files end when the application ends.
 */
@Injectable()
export class CsvStreams implements BeforeApplicationShutdown {
  private readonly open = new Set<Readable>();

  /** @param lines the lines. Its iterator is closed early if the client leaves */
  stream(response: AdapterResponse, name: string, lines: AsyncIterable<string>): StreamableFile {
    const raw = rawResponse(response);
    // The answer to HEAD has no body, so no lines are read.
    const text = Readable.from(raw.req.method === 'HEAD' ? [] : lines, { objectMode: false });
    this.open.add(text);
    // In HTTP/1 a response that is pipelined behind others gets no event when its connection ends.
    const socket = raw.req.httpVersionMajor === 1 ? raw.req.socket : undefined;
    const close = (): void => {
      raw.off('close', close);
      socket?.off('close', close);
      this.open.delete(text);
      text.destroy();
    };
    raw.once('close', close);
    socket?.once('close', close);
    text.once('close', close);
    if (raw.destroyed || socket?.destroyed) close();
    if (!raw.headersSent) raw.setHeader('Cache-Control', NO_TRANSFORM);
    return new StreamableFile(text, headersOf(name)).setErrorHandler(() => raw.destroy());
  }

  beforeApplicationShutdown(): void {
    for (const text of this.open) text.destroy(new Error('The application ends.'));
  }
}
