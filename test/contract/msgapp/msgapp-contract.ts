import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { OutgoingMedia, OutgoingMsgapp } from '../../../src/msgapp/msgapp-transport.js';
import { REPEAT_POLICIES } from '../../../src/outbox/delivery/delivery-result.js';
import { globalRunner, type TestRunner } from '../test-runner.js';
import type { MsgappTransportHarness, OpenMsgappTransport } from './msgapp-harness.js';
import { MsgappContractSession } from './msgapp-session.js';

export type {
  MsgappTransportHarness,
  OpenMsgappTransport,
  ReceivedMsgapp,
  WrittenMsgapp,
} from './msgapp-harness.js';

const TEXTS: Readonly<Record<string, string>> = {
  'letters with accents': 'Élève à Ouagadougou, ça va ?',
  'several lines': 'Bonjour\nvotre colis\n\nest arrivé',
  Arabic: 'مرحبا بك',
  'emoji of several code points': 'Merci 👩🏾‍🚀 👨‍👩‍👧',
  'a long text': 'abcdefghi '.repeat(400).trim(),
};

/**
 * Registers the contract tests for a transport of a messaging app. They need a double of the app that behaves as the
 * app does, with a phone that scans codes. Tests that need an optional part of the harness say so in their names and
 * pass without it.
 *
 * @param name the transport's name in reports
 * @param open returns a transport that is not started, and its double; called before each test
 * @param runner as for `describeStorage`
 * @throws Error without `runner` if there are no global functions of a test runner
 */
export function describeMsgappTransport(
  name: string,
  open: OpenMsgappTransport,
  runner: TestRunner = globalRunner(),
): void {
  const { test } = runner;
  let harness: MsgappTransportHarness;
  let session: MsgappContractSession;
  let messages = 0;

  const message = (to: string, content: OutgoingMsgapp['content']): OutgoingMsgapp => {
    messages += 1;
    return { messageId: `message-${messages}`, from: harness.phone, to, attempt: 1, content };
  };
  const taken = () => {
    const number = harness.number('taken');
    assert.ok(number, 'the double takes messages to some numbers');
    return number;
  };
  const received = async (number: string) => [...(await harness.received(number))];

  runner.describe(name, () => {
    runner.beforeEach(async () => {
      harness = await open();
      session = new MsgappContractSession(harness);
      await harness.transport.start();
    });
    runner.afterEach(async () => {
      await session.close();
      await harness.transport.stop();
      await harness.close();
    });

    test('has a valid name, policy and timing', async () => {
      const { name: own, repeat, timing } = harness.transport;
      assert.ok(own.length > 0 && own.length <= 64);
      assert.ok(REPEAT_POLICIES.includes(repeat));
      for (const value of Object.values(timing)) assert.ok(Number.isInteger(value) && value > 0);
    });

    runner.describe('linking', () => {
      test('a new session shows a code; once it is scanned, the session is linked and open with that number', async () => {
        await session.link();
        assert.equal((await session.hears('open')).number, harness.phone);
        assert.deepEqual(session.linkedAs, [harness.phone], 'linked once, before it is open');
      });

      test('nothing is linked without a scan', async () => {
        if (harness.credentials) return;
        await session.open();
        const { qr, expiresAt } = await session.hears('qr');
        assert.ok(qr.length > 0 && expiresAt > 0);
        await session.quiet();
        assert.deepEqual(session.linkedAs, []);
        assert.ok(!session.has('open'));
      });

      test('a linked session opens again with its credentials, and shows no code', async () => {
        await session.link();
        await session.close();
        await session.open();
        assert.equal((await session.hears('open')).number, harness.phone);
        assert.ok(!session.has('qr'));
      });

      test('a closed connection reports nothing more, not even its end', async () => {
        if (harness.credentials) return;
        await session.open();
        const { qr } = await session.hears('qr');
        await session.close();
        const before = session.events.length;
        await harness.scan(qr).catch(() => undefined);
        await session.quiet();
        assert.deepEqual(session.events.slice(before), []);
      });
    });

    runner.describe('sending', () => {
      for (const [what, text] of Object.entries(TEXTS)) {
        test(`a text arrives once and unchanged: ${what}`, async () => {
          await session.link();
          const { kind } = await session.send(message(taken(), { text }));
          assert.equal(kind, 'sent');
          await session.until(async () => (await received(taken())).length > 0);
          assert.deepEqual(
            (await received(taken())).map((each) => each.text),
            [text],
          );
        });
      }

      test('a file arrives once and unchanged, with its caption', async () => {
        await session.link();
        const media = file('Votre facture');
        assert.equal((await session.send(message(taken(), { media }))).kind, 'sent');
        await session.until(async () => (await received(taken())).length > 0);
        const shown = (await received(taken())).map(({ text, sha256 }) => ({ text, sha256 }));
        assert.deepEqual(shown, [{ text: 'Votre facture', sha256: media.sha256 }]);
      });

      test('a voice note arrives once and unchanged', async () => {
        await session.link();
        const media = { ...file(''), kind: 'voice', mimetype: 'audio/ogg; codecs=opus', caption: undefined } as const;
        assert.equal((await session.send(message(taken(), { media }))).kind, 'sent');
        await session.until(async () => (await received(taken())).length > 0);
        assert.deepEqual(
          (await received(taken())).map(({ sha256 }) => sha256),
          [media.sha256],
        );
      });

      test('a repeated message arrives once (if the transport is idempotent)', async () => {
        if (harness.transport.repeat !== 'idempotent') return;
        await session.link();
        const one = message(taken(), { text: 'Bonjour' });
        await session.send(one);
        await session.send({ ...one, attempt: 2 });
        await session.until(async () => (await received(taken())).length > 0);
        await session.quiet();
        assert.equal((await received(taken())).length, 1);
      });

      test('a number that the app refuses is refused (if the double can refuse)', async () => {
        const number = harness.number('refused');
        if (number === undefined) return;
        await session.link();
        assert.equal((await session.send(message(number, { text: 'Bonjour' }))).kind, 'refused');
        assert.deepEqual(await received(number), []);
      });

      test('a message that the app cannot take now may be tried again (if the double can be busy)', async () => {
        const number = harness.number('busy');
        if (number === undefined) return;
        await session.link();
        assert.equal((await session.send(message(number, { text: 'Bonjour' }))).kind, 'retry');
      });

      test('a message is answered when the process wants to stop, and nothing is sent without a result', async () => {
        await session.link();
        const { kind } = await session.send(message(taken(), { text: 'Bonjour' }), AbortSignal.abort());
        await session.quiet();
        const count = (await received(taken())).length;
        if (kind === 'sent') assert.equal(count, 1);
        else if (kind === 'retry' || kind === 'refused') assert.equal(count, 0);
        else assert.ok(count <= 1);
      });

      test('a message is not sent after its connection was closed', async () => {
        await session.link();
        const { connection } = session;
        await session.close();
        const { kind } = await connection.send(message(taken(), { text: 'Bonjour' }), new AbortController().signal);
        await session.quiet();
        assert.ok(kind !== 'sent' || (await received(taken())).length === 1, 'it says sent of what never arrived');
      });
    });

    runner.describe('receiving (if the double has phones that write)', () => {
      const messages = () => session.events.flatMap((event) => (event.kind === 'message' ? [event.message] : []));
      const hears = async (count: number) => {
        await session.until(() => messages().length >= count);
        return messages();
      };

      test('a text arrives unchanged, with its sender; if the app repeats it, under the same id', async () => {
        if (!harness.write) return;
        await session.link();
        await harness.write(taken(), { text: 'Élève à Ouagadougou 👩🏾‍🚀' });
        const [first] = await hears(1);
        assert.deepEqual([first?.kind, first?.text, first?.from], ['text', 'Élève à Ouagadougou 👩🏾‍🚀', taken()]);
        await harness.write(taken(), { text: 'Élève à Ouagadougou 👩🏾‍🚀', again: true });
        await harness.write(taken(), { text: 'Autre' });
        await session.until(() => messages().some(({ text }) => text === 'Autre'));
        const ids = (text: string) =>
          new Set(messages().flatMap((each) => (each.text === text ? [`${each.chat} ${each.id}`] : [])));
        assert.equal(ids('Élève à Ouagadougou 👩🏾‍🚀').size, 1);
        assert.ok(!ids('Autre').has(`${first?.chat} ${first?.id}`));
      });

      test('an answer names the message by the reference of its send', async () => {
        if (!harness.write) return;
        await session.link();
        const sent = await session.send(message(taken(), { text: 'Bonjour' }));
        assert.equal(sent.kind, 'sent');
        await session.until(async () => (await received(taken())).length > 0);
        await harness.write(taken(), { text: 'Merci', answers: true });
        const [answer] = await hears(1);
        assert.equal(answer?.refersTo?.reference, sent.kind === 'sent' && sent.reference);
      });

      test('a sender whose number the app hides is answered by the identity (if the double hides numbers)', async () => {
        if (!harness.write || !harness.hidesNumbers) return;
        await session.link();
        await harness.write(taken(), { text: 'Bonjour', hidden: true });
        const [{ from, identity = '' } = assert.fail('a message')] = await hears(1);
        assert.equal(from, undefined);
        assert.ok(identity.length > 0 && identity.length <= 255);
        const answer = { ...message(taken(), { text: 'Bienvenue' }), to: undefined, identity };
        assert.equal((await session.send(answer)).kind, 'sent');
        await session.until(async () => (await received(taken())).length > 0);
        assert.deepEqual(
          (await received(taken())).map(({ text }) => text),
          ['Bienvenue'],
        );
      });

      test('an answer quotes the message that it answers (if the double shows quotes)', async () => {
        if (!harness.write || !harness.showsQuotes) return;
        await session.link();
        await harness.write(taken(), { text: 'Où est mon colis ?' });
        const [{ id, chat, text } = assert.fail('a message')] = await hears(1);
        const quote = { id, chat, text };
        assert.equal((await session.send({ ...message(taken(), { text: 'En route' }), quote })).kind, 'sent');
        assert.equal((await session.send({ ...message(taken(), { media: file('Le reçu') }), quote })).kind, 'sent');
        assert.equal((await session.send(message(taken(), { text: 'Bonne journée' }))).kind, 'sent');
        await session.until(async () => (await received(taken())).length > 2);
        assert.deepEqual(
          (await received(taken())).map(({ quotes }) => quotes),
          [id, id, undefined],
        );
      });

      test('a file is opened by the details in its message', async () => {
        if (!harness.write || !harness.transport.openFile) return;
        await session.link();
        const bytes = Buffer.from('Facture du mois, ligne par ligne.\n'.repeat(3000));
        await harness.write(taken(), { file: bytes });
        const [written] = await hears(1);
        assert.equal(written?.kind, 'document');
        assert.ok(written?.media && written.media.file.length <= 4000);
        const opened = await harness.transport.openFile(
          written.media.file,
          new AbortController().signal,
          session.credentials,
        );
        assert.ok(opened);
        const chunks: Uint8Array[] = [];
        for await (const chunk of opened) chunks.push(chunk);
        assert.ok(Buffer.concat(chunks).equals(bytes));
      });
    });

    test('reports whether a number is on the app, or that this is unknown', async () => {
      await session.link();
      const exists = (number: string) => session.settles(session.connection.exists(number));
      assert.notEqual(await exists(taken()), false);
      const absent = harness.number('absent');
      if (absent !== undefined) assert.ok(!(await exists(absent)));
    });

    test('an address that one connection gives works on another (optional: another spelling)', async () => {
      const spelled = harness.number('respelled');
      if (spelled === undefined) return;
      await session.link();
      const address = await session.settles(session.connection.exists(spelled));
      assert.ok(typeof address === 'string' && address.length <= 255);
      await session.close();
      const other = new MsgappContractSession(harness, 'another session');
      try {
        await other.link();
        const { kind } = await other.send({ ...message(spelled, { text: 'Bonjour' }), address });
        assert.equal(kind, 'sent');
        await other.until(async () => (await received(taken())).length > 0);
      } finally {
        await other.close();
      }
    });
  });
}

/** A text file of some kilobytes. */
function file(caption: string): OutgoingMedia {
  const bytes = Buffer.from('Facture du mois, ligne par ligne.\n'.repeat(300));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const about = { kind: 'document', mimetype: 'text/plain', fileName: 'facture.txt', size: bytes.length } as const;
  return {
    ...about,
    sha256,
    caption,
    async *open() {
      for (let at = 0; at < bytes.length; at += 4096) yield bytes.subarray(at, at + 4096);
    },
  };
}
