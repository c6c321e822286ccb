import { expect, jest, test } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { runOperator } from '../../../src/operator/run-operator.js';

/** Whether a finding is about a setting of the server, which the suites share and do not change. */
export function isOfServer(text: string): boolean {
  return /^(TO DO: )?[a-z_]+ is \w+: /.test(text);
}

/** Tests of the operator's command `doctor`. @param open a DataSource on an empty database, closed after the test */
export function doctorRules(open: () => Promise<DataSource>): void {
  /** Runs the command on a started storage. */
  async function doctor(storage: TypeormStorage): Promise<{ code: number; lines: readonly string[] }> {
    const lines: string[] = [];
    const log = jest.spyOn(console, 'log').mockImplementation((line: unknown) => void lines.push(String(line)));
    const app: unknown = { get: () => storage, close: async () => undefined };
    const code = await runOperator({ name: 'x', open: async () => app as INestApplicationContext }, ['doctor']);
    log.mockRestore();
    return { code, lines };
  }

  const todos = (lines: readonly string[]) => lines.filter((line) => line.startsWith('TO DO: ') && !isOfServer(line));

  test('a healthy database needs no work, and the doctor shows what exists', async () => {
    const storage = new TypeormStorage({ database: await open() });
    await storage.start();
    const { code, lines } = await doctor(storage);
    const ofServer = lines.filter(isOfServer).length;
    expect([code, todos(lines)]).toEqual([Math.min(ofServer, 1), []]);
    expect(lines[0]).toMatch(/^The schema has (\d+) of \1 versions\.$/);
    expect(lines[1]).toMatch(/^All \d+ indexes are there\.$/);
    expect(lines).toContainEqual(expect.stringMatching(/^messaging_recipient: \d+\.\d MB with its indexes\.$/));
    expect(lines.at(-1)).toBe(ofServer === 0 ? 'There is nothing to do.' : `There is something to do: ${ofServer}.`);
    await storage.stop();
  });

  test('missing parts are listed as work, and nothing is changed', async () => {
    const dataSource = await open();
    const storage = new TypeormStorage({ database: dataSource });
    await storage.start();
    const on = dataSource.options.type === 'mysql' ? ' ON messaging_recipient' : '';
    await dataSource.query(`DROP INDEX messaging_recipient_turn${on}`);
    await dataSource.query("UPDATE messaging_schema SET applied_at = 0 WHERE name = 'sandbox/0001-initial'");
    for (const _ of [1, 2]) {
      const { code, lines } = await doctor(storage);
      expect(code).toBe(1);
      expect(todos(lines)).toEqual([
        expect.stringContaining('The schema lacks sandbox/0001-initial'),
        expect.stringContaining('The migration to sandbox/0001-initial is in progress, or was interrupted'),
        expect.stringContaining('The index messaging_recipient_turn is missing'),
      ]);
      expect(lines.at(-1)).toBe(`There is something to do: ${3 + lines.filter(isOfServer).length}.`);
    }
    await storage.stop();
  });
}
