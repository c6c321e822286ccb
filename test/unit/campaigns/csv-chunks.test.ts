import { expect, test } from '@jest/globals';
import { readCsv } from '../../../src/campaigns/recipients/csv-reader.js';
import { readHead } from '../../../src/dashboard/web/screens/campaigns/csv-head.js';

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

test.each([
  ROWS,
  '\ufeffmobile;name\r\n22670000001;"Zo;é"\r\n22670000002;"say ""yes"""\r\n',
  'name\tnumber\n"two\nlines"\t22670000001\n\n,\t22670000002',
  '"a,b";number\n1;2\n',
  'number\n22670000001',
])('the preview of the dashboard reads %j as the service does', async (file) => {
  const { columns, rows } = await readCsv(inTwo(Buffer.from(file), 3), 1000);
  const cells: unknown[] = [];
  for await (const row of rows) cells.push(row.cells);
  expect(await readHead(new Blob([file]))).toEqual({ columns, rows: cells });
});

test('the preview has five rows', async () => {
  const { rows } = await readHead(new Blob([`number\n${'22670000001\n'.repeat(9)}`]));
  expect(rows).toHaveLength(5);
});
