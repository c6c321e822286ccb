import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { MsgappFile, MsgappText } from '../../../src/msgapp/msgapp-service.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { PNG } from '../../support/common/png.js';
import { NO_INPUTS, notStrings } from '../../support/common/wrong-inputs.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';

const NUMBER = '22670000500';
const TO = '22675000000';
const URL = 'https://files.example/photo';
const NOTHING = [
  ['nothing', undefined],
  ['null', null],
] as const;
const opened = closeAfterEach();
const refused = (code: string, values?: object) => expect.objectContaining(values ? { code, values } : { code });

beforeAll(() => Logger.overrideLogger(false));

/** A channel with a linked number, called as hosts in JavaScript call it. */
async function open() {
  const world = await MsgappFixture.open();
  const process = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
  await linked(process, NUMBER);
  process.fetcher.answer = async () => ({
    contentType: undefined,
    fileName: undefined,
    body: (async function* () {
      yield PNG;
    })(),
  });
  const text = (over: object = {}) => process.service.sendText(ACCOUNT, { to: TO, body: 'Bonjour', ...over });
  const media = (over: object = {}) => process.service.sendMedia(ACCOUNT, { to: TO, mediaUrl: URL, ...over });
  /** Asserts that nothing was charged, requested or stored. */
  const untouched = async () => expect([await world.balance(), process.fetcher.requests]).toEqual([1000, []]);
  return { world, process, text, media, untouched };
}

describe('a number that is not a string is refused', () => {
  test.each([...notStrings(TO), ...NOTHING])('to: %s', async (_, to) => {
    const { text, media, untouched } = await open();
    const code = to == null ? 'error.field_missing' : 'error.invalid_number';
    await expect(text({ to })).rejects.toEqual(refused(code));
    await expect(media({ to })).rejects.toEqual(refused(code));
    await untouched();
  });

  test.each(notStrings(NUMBER))('from: %s', async (_, from) => {
    const { text, media, untouched } = await open();
    await expect(text({ from })).rejects.toEqual(refused('error.invalid_number'));
    await expect(media({ from })).rejects.toEqual(refused('error.invalid_number'));
    await untouched();
  });
});

test.each(notStrings('Bonjour'))('a body, a caption or a URL that is not a string is refused: %s', async (_, value) => {
  const { text, media, untouched } = await open();
  const refusal = (field: string) => refused('error.field_not_string', { field });
  await expect(text({ body: value })).rejects.toEqual(refusal('body'));
  await expect(media({ caption: value })).rejects.toEqual(refusal('caption'));
  await expect(media({ mediaUrl: value })).rejects.toEqual(refusal('mediaUrl'));
  await untouched();
});

test.each(NOTHING)('a missing URL or body is refused: %s', async (_, value) => {
  const { text, media, untouched } = await open();
  await expect(text({ body: value })).rejects.toEqual(refused('error.empty_message'));
  await expect(media({ mediaUrl: value })).rejects.toEqual(refused('error.field_not_string', { field: 'mediaUrl' }));
  await untouched();
});

test.each(notStrings('image'))('a kind that is not a string is refused: %s', async (_, mediaType) => {
  const { media, untouched } = await open();
  await expect(media({ mediaType })).rejects.toEqual(refused('error.field_invalid', { field: 'mediaType' }));
  await untouched();
});

test('an optional field that is null counts as absent', async () => {
  const { process, text, media } = await open();
  const { messageID } = await media({ from: null, caption: null, mediaType: null });
  expect(await process.service.message(ACCOUNT, messageID)).toMatchObject({
    from: NUMBER,
    media: { type: 'image', caption: null },
  });
  await expect(text({ from: null })).resolves.toMatchObject({ success: true });
});

test.each(NO_INPUTS)('a missing input is refused: %j', async (input) => {
  const { process, untouched } = await open();
  const { service } = process;
  await expect(service.sendText(ACCOUNT, input as MsgappText)).rejects.toEqual(refused('error.body_not_object'));
  await expect(service.sendMedia(ACCOUNT, input as MsgappFile)).rejects.toEqual(refused('error.body_not_object'));
  await untouched();
});

test.each(notStrings('id'))('an id that is not a string is not found: %s', async (_, value) => {
  const { process } = await open();
  const id = value as string;
  await expect(process.service.message(ACCOUNT, id)).rejects.toEqual(refused('error.message_not_found'));
  await expect(process.sessions.logout(ACCOUNT, id)).rejects.toEqual(refused('error.session_not_found'));
  await expect(process.sessions.status(ACCOUNT, id)).rejects.toEqual(refused('error.session_not_found'));
});
