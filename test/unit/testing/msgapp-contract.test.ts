import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { UuidGenerator } from '../../../src/common/ids.js';
import { MediaStore } from '../../../src/media/media-store.js';
import type { IncomingMsgapp } from '../../../src/msgapp/msgapp-transport.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { SandboxFeed } from '../../../src/sandbox/sandbox-feed.js';
import { SandboxMsgappTransport } from '../../../src/sandbox/sandbox-msgapp-transport.js';
import { SandboxScanner } from '../../../src/sandbox/sandbox-scanner.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { describeMsgappTransport, type OpenMsgappTransport } from '../../contract/msgapp/msgapp-contract.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { CollectRunner } from '../../support/jest/collect-runner.js';
import { LoopApp, loopAppHarness } from '../../support/msgapp/loop-app.js';

const RUNNER = { describe, test, beforeEach, afterEach };
const PHONE = '22675000000';

const openSandbox: OpenMsgappTransport = async () => {
  const storage = await SqliteMemory.open();
  const phones = storage.store(PhoneStore);
  const scanner = new SandboxScanner();
  const ids = new UuidGenerator();
  let last: IncomingMsgapp | undefined;
  return {
    transport: new SandboxMsgappTransport(
      phones,
      new SandboxFeed(),
      scanner,
      new FakeClock(),
      ids,
      storage.store(MediaStore),
    ),
    phone: PHONE,
    scan: (qr) => scanner.scan(qr, PHONE),
    number: (outcome) =>
      ({ taken: '22670000000', respelled: undefined, absent: undefined, refused: '22670990001', busy: '22670990002' })[
        outcome
      ],
    received: async (number) =>
      (await phones.messages(number)).map(({ text, media }) => ({
        text: media?.caption ?? text,
        sha256: media?.sha256,
      })),
    write: async (from, { text, answers, file, again }) => {
      if (!again) {
        const id = ids.next();
        if (file) await storage.store(MediaStore).write(id, chunksOf(file), 0);
        const media = file && { mimetype: 'text/plain', size: file.length, fileName: undefined, file: id };
        const answered = answers ? (await phones.messages(from)).at(-1)?.messageId : undefined;
        const refersTo = answered === undefined ? undefined : { reference: answered };
        last = { id, chat: from, from, kind: file ? 'document' : 'text', text, media, refersTo, at: 0 };
      }
      if (last) await scanner.receiverOf('msgapp', PHONE)?.(last);
    },
    close: async () => undefined,
  };
};

async function* chunksOf(bytes: Uint8Array) {
  yield bytes;
}

describeMsgappTransport('the sandbox', openSandbox, RUNNER);
describeMsgappTransport('an app in a loop', async () => loopAppHarness(new LoopApp()), RUNNER);

/** Mistakes that are easily made in a transport. A test of the suite must notice each. */
const FAULTS: Readonly<Record<string, readonly [notices: string, build: (app: LoopApp) => void]>> = {
  'credentials that are not kept': [
    'linking > a linked session opens again with its credentials, and shows no code',
    (app) => {
      const begin = app.begin.bind(app);
      app.begin = (order, report) =>
        begin(
          {
            ...order,
            credentials: { ...order.credentials, read: async () => new Map(), write: async () => undefined },
          },
          report,
        );
    },
  ],
  'an opening without a link': [
    'linking > a new session shows a code; once it is scanned, the session is linked and open with that number',
    (app) => {
      const begin = app.begin.bind(app);
      app.begin = (order, report) =>
        begin(order, async (event) => (event.kind === 'linked' ? undefined : report(event)));
    },
  ],
  'a link before the scan': [
    'linking > nothing is linked without a scan',
    (app) => {
      const begin = app.begin.bind(app);
      app.begin = async (order, report) => {
        await begin(order, report);
        await report({ kind: 'linked', number: app.phone });
      };
    },
  ],
  'reports after the close': [
    'linking > a closed connection reports nothing more, not even its end',
    (app) => {
      app.speaksWhenClosed = true;
    },
  ],
  'texts that are trimmed to one line': [
    'sending > a text arrives once and unchanged: several lines',
    (app) => {
      const keep = app.keep.bind(app);
      app.keep = (message) =>
        keep(
          'text' in message.content
            ? { ...message, content: { text: message.content.text.replace(/\n/g, ' ') } }
            : message,
        );
    },
  ],
  'messages that are sent twice': [
    'sending > a text arrives once and unchanged: Arabic',
    (app) => {
      const keep = app.keep.bind(app);
      app.keep = async (message) => {
        await keep(message);
        await keep(message);
      };
    },
  ],
  'files without their end': [
    'sending > a file arrives once and unchanged, with its caption',
    (app) => {
      const keep = app.keep.bind(app);
      app.keep = (message) => {
        if ('text' in message.content) return keep(message);
        const { media } = message.content;
        async function* first() {
          for await (const chunk of media.open()) {
            yield chunk;
            return;
          }
        }
        return keep({ ...message, content: { media: { ...media, open: first } } });
      };
    },
  ],
  'repeats that arrive again': [
    'sending > a repeated message arrives once (if the transport is idempotent)',
    (app) => {
      app.deliver = async (message) => {
        await app.keep(message);
        return { kind: 'sent', reference: message.messageId };
      };
    },
  ],
  'refusals that are repeated forever': [
    'sending > a number that the app refuses is refused (if the double can refuse)',
    (app) => {
      const deliver = app.deliver.bind(app);
      app.deliver = async (message) => {
        const result = await deliver(message);
        return result.kind === 'refused' ? { kind: 'retry', error: result.error } : result;
      };
    },
  ],
  'errors that quote the number': [
    'sending > a message that the app cannot take now may be tried again (if the double can be busy)',
    (app) => {
      const deliver = app.deliver.bind(app);
      app.deliver = async (message) => {
        const result = await deliver(message);
        return result.kind === 'retry' ? { kind: 'retry', error: `busy: ${message.to}` } : result;
      };
    },
  ],
  'numbers that are all reported as registered': [
    'reports whether a number is on the app, or that this is unknown',
    (app) => {
      app.isThere = async () => true;
    },
  ],
  'addresses that messages do not use': [
    'an address that one connection gives works on another (optional: another spelling)',
    (app) => {
      const keep = app.keep.bind(app);
      app.keep = ({ address: _, ...message }) => keep(message);
    },
  ],
  'a stop that sends and reports that it did not': [
    'sending > a message is answered when the process wants to stop, and nothing is sent without a result',
    (app) => {
      app.deliver = async (message) => {
        await app.keep(message);
        return { kind: 'retry', error: 'stopping' };
      };
    },
  ],
};

describe('the contract suite of transports of messaging apps', () => {
  // If a mistake shows as something that never comes, the suite need not wait for the full time.
  beforeEach(() => {
    const soon = (callback: () => void) => setImmediate(callback) as unknown as NodeJS.Timeout;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(soon as typeof setTimeout);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test.each(Object.entries(FAULTS))('notices %s', async (_, [notices, build]) => {
    const runner = new CollectRunner();
    describeMsgappTransport(
      'it',
      async () => {
        const app = new LoopApp();
        build(app);
        return loopAppHarness(app);
      },
      runner,
    );
    const results = await runner.run(`it > ${notices}`);
    expect([...results.keys()]).toEqual([`it > ${notices}`]);
    expect(results.get(`it > ${notices}`)).toBeDefined();
  });
});
