import { describe, expect, test } from '@jest/globals';
import { encodeGsm7 } from '../../../src/sms/segmentation.js';
import { PLAIN_SHORT_MESSAGE } from '../../../src/transports/smpp/pdu/pdu.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { crashLoop } from '../../support/crash/crash-loop.js';
import { CrashProcess } from '../../support/crash/crash-process.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import type { Adapter } from '../../support/http/http-apps.js';
import { FaultyCarrier } from '../../support/transports/smsc/faulty-carrier.js';
import { TestSmsc } from '../../support/transports/smsc/test-smsc.js';

const opened = closeAfterEach();
const LIMIT_MS = 300_000;
const KILLS = 1;
/** Two links with a window of ten each: what is on the wire when a host dies. */
const ON_THE_WIRE = 20;

/** An SMSC that outlives the hosts, slow enough to hold submits whenever one is killed. */
function carrier(): Promise<FaultyCarrier> {
  return FaultyCarrier.listen({
    seed: 11,
    throttled: 0.05,
    dropEvery: Number.POSITIVE_INFINITY,
    twice: 0.05,
    answerMs: 100,
  });
}

/** Waits for a moment when submits are taken and not answered, after some that were. */
async function midway(smsc: FaultyCarrier): Promise<void> {
  const before = smsc.taken.size;
  await until(() => smsc.taken.size > before + 10 && smsc.inHand > 0);
}

/** Kills hosts again and again until all is delivered. The ledger is correct then. */
async function killed(adapter: Adapter, repeat: 'at-most-once' | 'at-least-once') {
  const smsc = opened(await carrier());
  const { path } = opened(new SqliteFile());
  const settings = { database: `sqlite:${path}`, carrier: repeat, smscPort: smsc.port, adapter };
  const { problems, phones } = await crashLoop(settings, KILLS, () => midway(smsc));
  expect(problems).toEqual([]);
  return { smsc, phones };
}

function numbersOf(phones: ReadonlyMap<string, string>, wanted: string): string[] {
  return [...phones].filter(([, status]) => status === wanted).map(([number]) => number);
}

describe('kill -9 with submits on the wire of an SMPP link', () => {
  test(
    'at most once, on Express: nothing is submitted twice, everything is delivered or unknown, and no receipt of a stored SMS is lost',
    async () => {
      const { smsc, phones } = await killed('express', 'at-most-once');
      expect(Math.max(...smsc.taken.values())).toBe(1);
      expect(new Set(phones.values())).toEqual(new Set(['delivered', 'unknown']));
      // SMS that the killed process had claimed or had on its wire are in doubt; nothing else is.
      const claimed = (KILLS + 1) * ON_THE_WIRE;
      expect(numbersOf(phones, 'unknown').length).toBeLessThanOrEqual(claimed);
      expect(numbersOf(phones, 'delivered').filter((number) => !smsc.taken.has(number))).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'at least once, on Fastify: everything is delivered, and only what was on the wire is submitted again',
    async () => {
      const { smsc, phones } = await killed('fastify', 'at-least-once');
      expect(new Set(phones.values())).toEqual(new Set(['delivered']));
      const extra = [...smsc.taken.values()].reduce((sum, times) => sum + times - 1, 0);
      expect(extra).toBeGreaterThan(0);
      expect(extra).toBeLessThanOrEqual((KILLS + 1) * ON_THE_WIRE);
    },
    LIMIT_MS,
  );
});

test(
  'kill -9 between the parts of a long text: parts that were acknowledged to the carrier are joined by the next process',
  async () => {
    const smsc = opened(await TestSmsc.listen());
    const file = opened(new SqliteFile());
    const host = opened(
      new CrashProcess({ database: `sqlite:${file.path}`, carrier: 'at-most-once', smscPort: smsc.port }),
    );
    const bound = () => smsc.connections.find(({ bind, closed }) => bind !== undefined && !closed);
    const deliver = async (number: number, text: string) => {
      const header = Uint8Array.of(5, 0, 3, 7, 2, number);
      const answer = await bound()?.deliver({
        ...PLAIN_SHORT_MESSAGE,
        source: { ton: 1, npi: 1, address: '22670000001' },
        destination: { ton: 5, npi: 0, address: 'INFOS' },
        esmClass: 0x40,
        shortMessage: Buffer.concat([header, encodeGsm7(text)]),
      });
      return answer?.status;
    };
    await host.start().answering;
    await until(bound);
    expect(await deliver(1, 'ST')).toBe(0);
    await host.end('SIGKILL');
    await until(() => !bound());
    await host.start().answering;
    await until(bound);
    expect(await deliver(2, 'OP')).toBe(0);
    await host.end('SIGKILL');
    const optOuts = file.handle().prepare('SELECT number FROM messaging_opt_out').all();
    expect(optOuts).toEqual([{ number: '22670000001' }]);
    expect(file.handle().prepare('SELECT id FROM messaging_sms_long').all()).toEqual([]);
  },
  LIMIT_MS,
);
