import { expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { startMessaging } from '../../support/mounting/messaging-app.js';

const opened = closeAfterEach();
const NUMBER = '22670000001';

describeOnBothAdapters('the log of a fault', (adapter) => {
  /** A service whose balance fails on request, and its log. */
  async function failing() {
    const lines: object[] = [];
    const take = (line: unknown) => {
      if (typeof line === 'object' && line !== null) lines.push(line);
    };
    const logger = { log: take, warn: take, error: take };
    const app = opened(await startMessaging(adapter, {}, { options: { logger } }));
    const state = { fault: new Error('none') };
    app.app.get(LedgerService, { strict: false }).balance = () => Promise.reject(state.fault);
    const ask = (requestId?: string) =>
      call(`${app.url}/api/v1/balance`, {
        headers: { 'x-api-key': app.key, ...(requestId !== undefined && { 'x-request-id': requestId }) },
      });
    return { lines, state, ask };
  }

  test('has its code, the request id of the host, and no number', async () => {
    const { lines, state, ask } = await failing();
    state.fault = new TypeError(`cannot read ${NUMBER}`);
    expect((await ask('req-4711/ouaga')).status).toBe(500);
    const [line = {}] = lines;
    expect(line).toMatchObject({
      msg: expect.stringContaining('TypeError'),
      code: 'TypeError',
      requestId: 'req-4711/ouaga',
    });
    expect(JSON.stringify(lines)).not.toContain(NUMBER);
  });

  test.each([undefined, 'x'.repeat(129), 'with a blank'])(
    'has an id of ours if the host gives none: %p',
    async (given) => {
      const { lines, state, ask } = await failing();
      state.fault = new StorageUnavailableError('No connection.');
      expect((await ask(given)).status).toBe(503);
      expect(lines).toEqual([
        {
          msg: 'No connection.',
          code: 'storage_unavailable',
          requestId: expect.stringMatching(/^[\da-f]{8}-[\da-f-]{27}$/),
        },
      ]);
    },
  );

  test('is one line a minute of each kind, however often it happens', async () => {
    const { lines, state, ask } = await failing();
    state.fault = new StorageUnavailableError('No connection.');
    await Promise.all(Array.from({ length: 20 }, () => ask()));
    state.fault = new StorageUnavailableError('Too many connections.');
    await ask();
    expect(lines).toMatchObject([{ msg: 'No connection.' }, { msg: 'Too many connections.' }]);
  });
});
