import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { type BeforeApplicationShutdown, Injectable, StreamableFile } from '@nestjs/common';
import { type AdapterResponse, NO_TRANSFORM, rawResponse } from '../http/event-streams.js';

/** The media type of CSV. */
export const CSV = 'text/csv';

/** Whether a request asks for CSV (RFC 9110 section 12.5.1); without a word about it, it does not. */
export function wantsCsv({ accept = '' }: IncomingHttpHeaders): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === CSV && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** A cell; null is empty. */
export type Cell = string | number | null;

/**
 * Where a spreadsheet would read a formula: at the beginning of a text, and behind what may be its separator or the end of a
 * line, since not every one heeds the quotes of another separator's file. Spreadsheets take the full-width signs of East Asian
 * keyboards for the plain ones, and skip blanks, a byte order mark and other invisible characters before them.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?=[\p{White_Space}\p{Cf}"]*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r])/gu;

/**
 * A line of CSV (RFC 4180). What a spreadsheet would read as a formula has an apostrophe before it, also within a text; a number
 * is left as it is.
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  const text = String(cell ?? '');
  const safe = /^-?\d+(\.\d+)?$/.test(text) ? text : text.replace(FORMULA, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A file of CSV that is complete. */
export function csvFile(name: string, lines: readonly string[]): StreamableFile {
  return new StreamableFile(Buffer.from(lines.join('')), headersOf(name));
}

function headersOf(name: string) {
  return { type: `${CSV}; charset=utf-8`, disposition: `attachment; filename="${name}.csv"` };
}

/**
 * Files of CSV whose lines are asked for as fast as the client takes them. One that could not be completed breaks the
 * connection, so that nobody takes a part for the whole. They end with the application.
 */
@Injectable()
export class CsvStreams implements BeforeApplicationShutdown {
  private readonly open = new Set<Readable>();

  /** @param lines ends early where its iterator is returned, as when the client has left */
  stream(response: AdapterResponse, name: string, lines: AsyncIterable<string>): StreamableFile {
    const raw = rawResponse(response);
    // The answer to HEAD has no body to read anything for.
    const text = Readable.from(raw.req.method === 'HEAD' ? [] : lines, { objectMode: false });
    this.open.add(text);
    // In HTTP/1 a response that is pipelined behind others is not told that its connection has ended.
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
