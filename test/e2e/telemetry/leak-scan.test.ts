import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import Database from 'better-sqlite3';
import { makeApiKey } from '../../../src/accounts/keys/api-key.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { NoTelemetry } from '../../../src/common/telemetry/telemetry.js';

const KEY = makeApiKey(new UuidGenerator()).key;
const suites = globalThis.leakScan;

/** The findings of a scan that runs in place of this file's own. */
function leaksOf(deed: (scan: typeof suites) => void): readonly string[] {
  const scan: typeof suites = Reflect.construct(suites.constructor, []);
  for (const code of ['4711', '0815']) scan.codes.add(code);
  scan.numbers.add('22670000000');
  scan.texts.add('Votre colis est arrivé.');
  const { database, files } = suites;
  suites.database = (name, bytes) => scan.database(name, bytes);
  suites.files = (path) => scan.files(path);
  try {
    deed(scan);
  } finally {
    Object.assign(suites, { database, files });
  }
  return scan.leaks();
}

/** A database that once contained these texts. */
function write(path: string, texts: readonly string[]): Database.Database {
  const handle = new Database(path);
  handle.pragma('journal_mode = WAL');
  handle.exec('CREATE TABLE t (c TEXT)');
  for (const text of texts) handle.prepare('INSERT INTO t VALUES (?)').run(text);
  handle.exec('DELETE FROM t');
  return handle;
}

const leaksIn = (texts: readonly string[]) => leaksOf(() => write(':memory:', texts).close());

describe('the leak scan of the e2e suite', () => {
  beforeAll(() => Logger.overrideLogger(false));

  test('finds a key and codes in memory, even if they were deleted', () => {
    expect(leaksIn([KEY])).toEqual([expect.stringMatching(/^an API key, msgk_.…, in :memory:$/)]);
    expect(leaksIn(['{"code":"4711"}', '{"code":"0815"}'])).toEqual(['2 of 2 codes in a database']);
  });

  test('finds them in a write-ahead log, and in the file of another process when that file is removed', () => {
    const folder = mkdtempSync(join(tmpdir(), 'messaging-scan-'));
    const path = join(folder, 'x.db');
    expect(leaksOf(() => write(path, [KEY]).close())).toEqual([expect.stringMatching(/^an API key.*x\.db-wal$/)]);
    expect(leaksOf(() => rmSync(folder, { recursive: true }))).toEqual([expect.stringMatching(/^an API key.*x\.db$/)]);
  });

  test.each([
    ['a key', KEY, 'an API key'],
    ['a number', 'sent to 22670000000.', 'the number 226700…'],
    ['a text', '"Votre colis est arrivé."', "a message's text"],
    ['codes', 'tried 4711 and 0815', '2 of 2 codes'],
  ])('finds %s in the log, which a silent host writes too', (_, line, leak) => {
    const before = suites.log.length;
    new Logger('scan').warn(line);
    const [said = ''] = suites.log.splice(before);
    expect(leaksOf((scan) => scan.log.push(said))).toEqual([expect.stringContaining(leak)]);
  });

  test('finds leaks in the measures and spans of the suite’s services', () => {
    const before = suites.log.length;
    const telemetry = new NoTelemetry();
    telemetry.counter({ name: 'messaging_x_total', help: 'x', labels: ['number'] })(1, '22670000000');
    telemetry.span('messaging.x', { kind: 'internal', attributes: { text: 'Votre colis est arrivé.' } }).end();
    const said = suites.log.splice(before);
    expect(leaksOf((scan) => scan.log.push(...said))).toEqual([
      expect.stringContaining('the number 226700…'),
      expect.stringContaining("a message's text"),
    ]);
  });

  test('ignores what phones show, longer numbers and ids, and one chance hit', () => {
    const texts = [
      '4711 est votre code de vérification. 0815 est votre code de vérification.',
      '14711',
      'a-0815',
      '4711',
    ];
    expect(leaksIn(texts)).toEqual([]);
  });
});
