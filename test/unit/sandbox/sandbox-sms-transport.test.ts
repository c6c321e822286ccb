import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { sandboxBehaviour } from '../../../src/sandbox/magic-numbers.js';
import { PhoneReplies } from '../../../src/sandbox/phones/phone-replies.js';
import {
  type PhoneDelivery,
  type PhoneFile,
  type PhoneMessage,
  PhoneStore,
  type ScreenMessage,
} from '../../../src/sandbox/phones/phone-store.js';
import { SandboxFeed } from '../../../src/sandbox/sandbox-feed.js';
import { SandboxScanner } from '../../../src/sandbox/sandbox-scanner.js';
import { SandboxSmsTransport } from '../../../src/sandbox/sandbox-sms-transport.js';
import type { OutgoingSms } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { NoDatabase } from '../../support/mounting/no-database.js';

/** Counts the writes that reach the store behind it, and fails them if told to. */
class WatchedPhones extends PhoneStore {
  writes = 0;
  fault: Error | undefined;

  constructor(private readonly store: PhoneStore) {
    super(new NoDatabase());
  }

  override async receive(messages: readonly PhoneDelivery[]): Promise<void> {
    this.writes += 1;
    if (this.fault) throw this.fault;
    await this.store.receive(messages);
  }
  override async lose(messages: readonly PhoneDelivery[]): Promise<void> {
    if (this.fault) throw this.fault;
    await this.store.lose(messages);
  }
  override messages(number: string): Promise<readonly PhoneMessage[]> {
    return this.store.messages(number);
  }
  override latest(limit: number, number?: string): Promise<readonly ScreenMessage[]> {
    return this.store.latest(limit, number);
  }
  override file(number: string, messageId: string): Promise<PhoneFile | undefined> {
    return this.store.file(number, messageId);
  }
  override remove(...given: Parameters<PhoneStore['remove']>): ReturnType<PhoneStore['remove']> {
    return this.store.remove(...given);
  }
  override clear(): Promise<readonly string[]> {
    return this.store.clear();
  }
}

let phones: WatchedPhones;
let clock: FakeClock;
let feed: SandboxFeed;
let transport: SandboxSmsTransport;
let heard: string[];

beforeEach(async () => {
  const storage = await SqliteMemory.open();
  phones = new WatchedPhones(storage.store(PhoneStore));
  clock = new FakeClock();
  feed = new SandboxFeed();
  const replies = new PhoneReplies(phones, new SandboxScanner(), storage.store(MediaStore), clock, new UuidGenerator());
  transport = new SandboxSmsTransport(phones, feed, clock, replies);
  heard = [];
  feed.listen((message) => heard.push(message.to));
});

function sms(number: string, attempt = 1, smsId = 'sms-1'): OutgoingSms {
  return { smsId, position: 0, signature: 'INFOS', number, text: 'Bonjour\n€', attempt };
}

describe('the sandbox as an SMS carrier', () => {
  test('delivers at once, and the phone shows the whole message', async () => {
    expect(await transport.submit([sms('22670000000')])).toEqual([
      { kind: 'sent', final: 'delivered', route: 'sandbox' },
    ]);
    expect(await phones.messages('22670000000')).toEqual([
      {
        messageId: 'sms-1',
        channel: 'sms',
        from: 'INFOS',
        to: '22670000000',
        text: 'Bonjour\n€',
        media: undefined,
        receivedAt: clock.now(),
      },
    ]);
    expect(heard).toEqual(['22670000000']);
  });

  test.each([
    ['22670990001', 'refused', undefined],
    ['22670990003', 'sent', undefined],
    ['22670990004', 'sent', 'undelivered'],
  ])('shows nothing on %s: %s, final %s', async (number, kind, final) => {
    const [result] = await transport.submit([sms(number)]);
    expect(result?.kind).toBe(kind);
    expect(result && 'final' in result ? result.final : undefined).toBe(final);
    expect(await phones.messages(number)).toEqual([]);
    expect(heard).toEqual([]);
    expect(phones.writes).toBe(0);
  });

  test.each(['22670990001', '22670990003', '22670990004'])(
    'keeps SMS that do not arrive at %s for the page',
    async (to) => {
      let changes = 0;
      feed.listenToChanges(() => {
        changes += 1;
      });
      await transport.submit([sms(to)]);
      await transport.submit([sms(to)]);
      expect(await phones.latest(5)).toMatchObject([{ to, text: 'Bonjour\n€', arrived: false }]);
      expect(changes).toBe(2);
    },
  );

  test('shows an SMS that …990002 rejects once, first as lost and then as received', async () => {
    for (const [attempt, arrived] of [false, false, true].entries()) {
      await transport.submit([sms('22670990002', attempt + 1)]);
      expect(await phones.latest(5)).toMatchObject([{ arrived }]);
      expect(await phones.latest(5)).toHaveLength(1);
    }
  });

  test('rejects …990002 twice and then delivers it, within 5 s of the longest waits', async () => {
    const kinds: (string | undefined)[] = [];
    for (const attempt of [1, 2, 3]) kinds.push((await transport.submit([sms('22670990002', attempt)]))[0]?.kind);
    expect(kinds).toEqual(['retry', 'retry', 'sent']);
    expect(await phones.messages('22670990002')).toHaveLength(1);

    const { retryBaseMs = 0, retryMaxMs = 0, leaseMs = 0, reportDeadlineMs } = transport.timing;
    expect(retryBaseMs).toBeGreaterThan(0);
    expect(Math.min(retryBaseMs, retryMaxMs) + Math.min(2 * retryBaseMs, retryMaxMs)).toBeLessThan(5_000);
    expect(leaseMs).toBeLessThanOrEqual(10_000);
    expect(reportDeadlineMs).toBe(10_000);
  });

  test('answers a mixed batch in its order, with one write', async () => {
    const numbers = ['22670990001', '22670000001', '22670990002', '22670990003', '22670000002', '22670990004'];
    const results = await transport.submit(numbers.map((number) => sms(number)));
    expect(results.map(({ kind }) => kind)).toEqual(['refused', 'sent', 'retry', 'sent', 'sent', 'sent']);
    expect(phones.writes).toBe(1);
    expect(heard).toEqual(['22670000001', '22670000002']);
  });

  test('keeps one message when a hand-off is repeated', async () => {
    await transport.submit([sms('22670000000')]);
    clock.advance(10_000);
    await transport.submit([sms('22670000000', 2)]);
    expect(await phones.messages('22670000000')).toHaveLength(1);
    expect(transport.repeat).toBe('idempotent');
  });

  test('asks for another attempt for exactly those SMS that the phones could not store', async () => {
    phones.fault = new StorageUnavailableError('no answer');
    const results = await transport.submit([sms('22670000000'), sms('22670990001'), sms('22670990003')]);
    expect(results.map(({ kind }) => kind)).toEqual(['retry', 'refused', 'sent']);
    expect(heard).toEqual([]);
  });

  test('passes an unexpected error on, because the result is then not known', async () => {
    phones.fault = new TypeError('a bug');
    await expect(transport.submit([sms('22670000000')])).rejects.toBe(phones.fault);
  });

  test('treats only the four magic endings specially', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[1-9]\d{6,14}$/), fc.integer({ min: 1, max: 9 }), (number, attempt) => {
        fc.pre(!/99000[1-4]$/.test(number));
        expect(sandboxBehaviour(number, attempt)).toBe('delivered');
      }),
    );
    expect(sandboxBehaviour('2267099000', 1)).toBe('delivered');
    expect(sandboxBehaviour('99000122670', 1)).toBe('delivered');
  });
});
