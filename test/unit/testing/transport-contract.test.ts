import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { UuidGenerator } from '../../../src/common/ids.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { PhoneReplies } from '../../../src/sandbox/phones/phone-replies.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { SandboxFeed } from '../../../src/sandbox/sandbox-feed.js';
import { SandboxScanner } from '../../../src/sandbox/sandbox-scanner.js';
import { SandboxSmsTransport } from '../../../src/sandbox/sandbox-sms-transport.js';
import type { OutgoingSms, SubmitResult } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import {
  type DoubleOutcome,
  describeSmsTransport,
  type OpenSmsTransport,
} from '../../contract/transport/transport-contract.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { CollectRunner } from '../../support/jest/collect-runner.js';
import { LoopCarrier, loopHarness } from '../../support/transports/loop-carrier.js';

const RUNNER = { describe, test, beforeEach, afterEach };

const SANDBOX_SUFFIX: Readonly<Record<DoubleOutcome, string | undefined>> = {
  taken: '000000',
  refused: '990001',
  busy: '990002',
  lost: undefined,
};

const openSandbox: OpenSmsTransport = async () => {
  const storage = await SqliteMemory.open();
  const phones = storage.store(PhoneStore);
  const clock = new FakeClock();
  const replies = new PhoneReplies(phones, new SandboxScanner(), storage.store(MediaStore), clock, new UuidGenerator());
  return {
    transport: new SandboxSmsTransport(phones, new SandboxFeed(), clock, replies),
    number: (outcome, index) => {
      const suffix = SANDBOX_SUFFIX[outcome];
      return suffix === undefined ? undefined : `226${String(70 + index).padStart(4, '0')}${suffix}`;
    },
    received: async (number) =>
      (await phones.messages(number)).map(({ from, text }) => ({ signature: from, text: text ?? '' })),
    say: (from, to, text) =>
      replies.write(from, { channel: 'sms', to, text }).then(
        () => true,
        () => false,
      ),
    close: async () => undefined,
  };
};

describeSmsTransport('the sandbox', openSandbox, RUNNER, ['lost', 'report']);
describeSmsTransport('a carrier in a loop', async () => loopHarness(new LoopCarrier()), RUNNER);

/** Mistakes that are easily made in a transport. A test of the suite must notice each. */
const FAULTS: Readonly<Record<string, { readonly notices: string; readonly build: (carrier: LoopCarrier) => void }>> = {
  'results in another order': {
    notices: 'submits > results are in the order of the SMS',
    build: (carrier) => {
      carrier.submit = async (batch) => batch.map((sms) => carrier.take(sms)).reverse();
    },
  },
  'one result too few': {
    notices: 'submits > an SMS arrives once, under its signature',
    build: (carrier) => {
      carrier.submit = async (batch) => batch.map((sms) => carrier.take(sms)).slice(1);
    },
  },
  'an SMS that is sent twice': {
    notices: 'submits > one text to 200 numbers: each gets it once',
    build: faultyTake((sms, take, carrier) => {
      if (sms.position === 7) carrier.keep(sms);
      return take(sms);
    }),
  },
  'texts that are cut off': {
    notices: 'texts > arrives unchanged: 161 septets',
    build: faultyTake((sms, take) => take({ ...sms, text: sms.text.slice(0, 160) })),
  },
  'characters that become question marks': {
    notices: 'texts > arrives unchanged: Arabic',
    build: faultyTake((sms, take) => take({ ...sms, text: sms.text.replace(/[^ -\u00ff]/g, '?') })),
  },
  'surrogate pairs that are cut in two': {
    notices: 'texts > arrives unchanged: an emoji across the 67th unit',
    build: faultyTake((sms, take) => take({ ...sms, text: sms.text.replaceAll(/(?<=^.{66})./gu, '\ufffd\ufffd') })),
  },
  'texts that are trimmed': {
    notices: 'texts > arrives unchanged: blanks at the ends',
    build: faultyTake((sms, take) => take({ ...sms, text: sms.text.trim() })),
  },
  'refusals that are repeated forever': {
    notices: 'refusals > what the carrier refuses for good is refused (where the double can refuse)',
    build: turned('refused', 'retry'),
  },
  'busy carriers that cost the message': {
    notices: 'refusals > what the carrier cannot take now may be tried again (where the double can be busy)',
    build: turned('retry', 'refused'),
  },
  'SMS in doubt that are sent again': {
    notices:
      'refusals > what nobody answers for is in doubt, and not handed over again by itself (where the double can lose)',
    build: turned('unknown', 'retry'),
  },
  'an error thrown for one bad number': {
    notices: 'refusals > a refused SMS takes no other with it (where the double can refuse)',
    build: faultyTake((sms, take) => {
      const result = take(sms);
      if (result.kind === 'refused') throw new Error(result.error);
      return result;
    }),
  },
  'errors that quote the number': {
    notices: 'refusals > what the carrier refuses for good is refused (where the double can refuse)',
    build: faultyTake((sms, take) => {
      const result = take(sms);
      return result.kind === 'refused' ? { ...result, error: `bad number ${sms.number}` } : result;
    }),
  },
  'a stop that still submits and reports that it did not': {
    notices:
      'stopping > a batch that comes when the process wants to stop is answered, and nothing of it is sent without a result',
    build: (carrier) => {
      const submit = carrier.submit.bind(carrier);
      carrier.submit = (batch, signal) => {
        if (signal.aborted) for (const sms of batch) carrier.keep(sms);
        return submit(batch, signal);
      };
    },
  },
  'a capacity that is counted down and never up': {
    notices: 'submits > its capacity, if it reports one, is a number, and at least 1 while it holds nothing',
    build: (carrier) => {
      const taken = () => [...carrier.phones.values()].flat().length;
      carrier.capacity = () => 20 - taken();
    },
  },
  'a capacity that is not a number': {
    notices: 'submits > its capacity, if it reports one, is a number, and at least 1 while it holds nothing',
    build: (carrier) => {
      carrier.capacity = () => Number('a lot');
    },
  },
  'listeners that pile up': {
    notices: 'stopping > listens to the signal no longer than a batch lasts',
    build: (carrier) => {
      const submit = carrier.submit.bind(carrier);
      carrier.submit = (batch, signal) => {
        signal.addEventListener('abort', () => undefined);
        return submit(batch, signal);
      };
    },
  },
  'a second stop that throws': {
    notices: 'stopping > is stopped a second time without harm',
    build: (carrier) => {
      let stopped = 0;
      carrier.stop = async () => {
        stopped += 1;
        if (stopped === 2) throw new Error('stopped already');
      };
    },
  },
  'receipts that are acknowledged before they are stored': {
    notices:
      'receipts > the carrier hears that a receipt is stored when it is, not before (where the double sends receipts)',
    build: (carrier) => {
      carrier.stored = async () => true;
    },
  },
  'receipts under an id that nobody gave': {
    notices:
      'receipts > a receipt reaches the sink under the id of the submit: delivered (where the double sends receipts)',
    build: (carrier) => {
      carrier.report = async (_, status) =>
        carrier.stored(carrier.sink?.receipts([{ route: 'loop-1', ids: ['1'], status }]));
    },
  },
  'every receipt reported as a delivery': {
    notices:
      'receipts > a receipt reaches the sink under the id of the submit: undelivered (where the double sends receipts)',
    build: (carrier) => {
      const report = carrier.report.bind(carrier);
      carrier.report = (number) => report(number, 'delivered');
    },
  },
  'texts from phones with sender and receiver mixed up': {
    notices: 'receipts > a text from a phone reaches the sink whole (where the double has phones)',
    build: (carrier) => {
      const say = carrier.say.bind(carrier);
      carrier.say = (from, to, text) => say(to, from, text);
    },
  },
};

type Take = (sms: OutgoingSms) => SubmitResult;

function faultyTake(fault: (sms: OutgoingSms, take: Take, carrier: LoopCarrier) => SubmitResult) {
  return (carrier: LoopCarrier) => {
    const take = carrier.take.bind(carrier);
    carrier.take = (sms) => fault(sms, take, carrier);
  };
}

function turned(from: SubmitResult['kind'], to: 'retry' | 'refused') {
  return faultyTake((sms, take) => {
    const result = take(sms);
    return result.kind === from ? { kind: to, error: 'turned' } : result;
  });
}

describe('the contract suite of transports', () => {
  test.each(Object.entries(FAULTS))('notices %s', async (_, { notices, build }) => {
    const runner = new CollectRunner();
    const open: OpenSmsTransport = async () => {
      const carrier = new LoopCarrier();
      build(carrier);
      return loopHarness(carrier);
    };
    describeSmsTransport('it', open, runner);
    const results = await runner.run(`it > ${notices}`);
    expect([...results.keys()]).toEqual([`it > ${notices}`]);
    expect(results.get(`it > ${notices}`)).toBeDefined();
  });
});
