import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Acceptance } from '../../../src/outbox/outbox.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';

const TO = '22675000000';
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

async function open() {
  const world = await MsgappFixture.open();
  const process = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
  await linked(process, '22670000000');
  process.fetcher.answer = async () => ({ contentType: undefined, fileName: undefined, body: one(PNG) });
  return { world, process };
}

async function* one(chunk: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield chunk;
}

/** Sends once, then many times at once with another body among them. */
async function expectReplays(accept: (body: object) => Promise<Acceptance>): Promise<void> {
  const { reply } = await accept({});
  const other = expect(accept({ other: 1 })).rejects.toMatchObject({ code: 'error.idempotency_mismatch' });
  const repeats = await Promise.all(Array.from({ length: 8 }, () => accept({})));
  expect(repeats).toEqual(Array.from({ length: 8 }, () => ({ reply, replayed: true })));
  await other;
}

describe('simultaneous repeats under a key whose request is done', () => {
  test('of a text are all replayed, and another body is refused', async () => {
    const { world, process } = await open();
    await expectReplays((body) =>
      process.service.acceptText(ACCOUNT, { to: TO, body: 'Bonjour' }, { once: { key: 'k', body } }),
    );
    expect(await world.balance()).toBe(999);
  });

  test('of a file fetch and store nothing again', async () => {
    const { world, process } = await open();
    const file = { to: TO, mediaUrl: 'https://files.example/photo' };
    await expectReplays((body) => process.service.acceptMedia(ACCOUNT, file, { once: { key: 'k', body } }));
    expect([process.fetcher.requests.length, await world.balance()]).toEqual([1, 998]);
  });
});
