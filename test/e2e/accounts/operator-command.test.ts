import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { sampleFolder } from '../../support/sample-app/sample-app.js';
import { operateShipped } from '../../support/sample-app/sample-operator.js';

// The program is started as a process in package.test.ts.
describe('npx nestjs-messaging', () => {
  const folder = sampleFolder();
  let account: string;

  const operator = async (args: string, env?: NodeJS.ProcessEnv) => {
    const { code, output } = await operateShipped(folder, args.split(' '), env);
    return [code, output.trim()] as const;
  };

  beforeAll(async () => {
    Logger.overrideLogger(false);
    const [, created] = await operator('account:create Awa');
    account = JSON.parse(created).id;
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('sets the balance at which an account is low, removes it, and refuses a value out of range', async () => {
    for (const units of ['10', 'none']) expect(await operator(`account:low ${account} ${units}`)).toEqual([0, 'set']);
    expect(await operator(`account:low ${account} 0`)).toEqual([
      1,
      expect.stringMatching(/^Refused: The field units must be an integer from 1 to /),
    ]);
  });

  test('lists the keys of an account without the keys themselves', async () => {
    const { key, id } = JSON.parse((await operator(`key:issue ${account}`))[1]);
    const [code, list] = await operator(`key:list ${account}`);
    expect([code, list]).toEqual([0, expect.stringContaining(id)]);
    expect(list).not.toContain(key);
  });

  test('explains a mistake in one sentence', async () => {
    expect(await operator(`topup ${account} many`)).toEqual([2, '<units> must be an integer; it is "many".']);
    expect(await operator(`balance ${account}`, { DATABASE_URL: 'messaging.db' })).toEqual([
      1,
      expect.stringMatching(/^DATABASE_URL: [^\n]*$/),
    ]);
  });
});
