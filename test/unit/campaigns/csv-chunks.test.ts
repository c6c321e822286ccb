import { expect, test } from '@jest/globals';
import { readCsv } from '../../../src/campaigns/recipients/csv-reader.js';

const ROWS = 'number,name\n22670000001,Awa\n22670000002,Kaboré\n';

/** The bytes in two chunks. */
async function* inTwo(bytes: Uint8Array, at: number): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, at);
  yield bytes.subarray(at);
}

/** The rows of a file that comes in two chunks. */
async function rowsOf(bytes: Uint8Array, at: number): Promise<readonly unknown[]> {
  const { rows } = await readCsv(inTwo(bytes, at), 1000);
  const read: unknown[] = [];
  for await (const { line, cells } of rows) read.push([line, cells]);
  return read;
}

test('a file is read alike wherever its chunks end, also within a character', async () => {
  const bytes = Buffer.from(ROWS);
  for (let at = 0; at <= bytes.length; at++) {
    expect([at, await rowsOf(bytes, at)]).toEqual([
      at,
      [
        [2, ['22670000001', 'Awa']],
        [3, ['22670000002', 'Kaboré']],
      ],
    ]);
  }
});

test('Latin-1 is refused with its line, wherever the chunks end', async () => {
  const bytes = Buffer.from(ROWS, 'latin1');
  for (let at = 0; at <= bytes.length; at++) {
    const refused = await rowsOf(bytes, at).catch(({ code, values }) => [code, values]);
    expect([at, refused]).toEqual([at, ['error.csv_encoding', { line: 3 }]]);
  }
});
