import { unsendableCharacter } from '../../common/inputs.js';
import { isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import { eventText } from '../../events/event-text.js';
import type { ReceivedMessage } from '../../events/events.api.js';
import type { IncomingMsgapp } from '../msgapp-transport.js';
import type { StoredSession } from '../sessions/session-records.js';

/**
 * The maximum number of bytes, as JSON, of a text together with the text that it answers. An event has at most 8 KiB.
 */
const TEXT_BYTES = 6144;
const QUOTE_BYTES = 512;
const NAME_BYTES = 256;

/** The longest id of an app that is stored, of a person or a message, in characters. */
const MAX_ID = 255;

/** A message that a session has received. */
export interface Arrived {
  readonly session: StoredSession;
  readonly message: IncomingMsgapp;
}

/** Returns the sender's number, if the app shows it. */
export function numberOf({ from }: IncomingMsgapp): string | undefined {
  return from !== undefined && isPhoneNumber(from) ? from : undefined;
}

interface Checked {
  readonly id: string;
  readonly contact: string | undefined;
  readonly from: string | undefined;
  readonly refersTo: string | undefined;
  readonly at: number;
}

/** Makes the data of the event of a message. */
export function dataOf({ session, message }: Arrived, { id, contact, from, refersTo, at }: Checked): ReceivedMessage {
  const text = message.text === undefined ? undefined : eventText(message.text, TEXT_BYTES);
  const quoted = message.refersTo?.text;
  const { media } = message;
  return {
    id,
    channel: session.channel,
    session: session.id,
    contact: contact ?? null,
    from: from ?? null,
    kind: message.kind,
    text: text?.text ?? null,
    truncated: text?.truncated ?? false,
    media: media
      ? {
          mimetype: short(media.mimetype) ?? '',
          size: media.size !== undefined && Number.isSafeInteger(media.size) ? media.size : null,
          file_name: short(media.fileName) ?? null,
        }
      : null,
    refers_to: message.refersTo
      ? { id: refersTo ?? null, text: quoted === undefined ? null : eventText(quoted, QUOTE_BYTES).text }
      : null,
    received_at: new Date(at).toISOString(),
  };
}

/** Returns the beginning of a message's text, which an answer quotes. */
export function quoteOf({ text }: IncomingMsgapp): string | undefined {
  return text === undefined ? undefined : beginningOf(text, QUOTE_BYTES);
}

/** Cuts a long name. */
export function short(text: string | undefined): string | undefined {
  return text === undefined ? undefined : beginningOf(text, NAME_BYTES);
}

/** Cuts a text. A NUL in it is left out, because some databases refuse it. */
function beginningOf(text: string, bytes: number): string {
  return eventText(text.replaceAll('\0', ''), bytes).text;
}

/** Returns the identity that the app gives the sender. Undefined if it gives none, or one that the database cannot store. */
export function identityOf({ identity = '' }: IncomingMsgapp): string | undefined {
  return isStorable(identity) ? identity : undefined;
}

/**
 * Returns the reference of the message that a message answers or reacts to. Undefined if no message of ours can have this
 * reference, because it comes from outside and may be any text.
 */
export function referenceOf({ refersTo }: IncomingMsgapp): string | undefined {
  const reference = refersTo?.reference ?? '';
  return isStorable(reference) ? reference : undefined;
}

function isStorable(id: string): boolean {
  return id.length > 0 && id.length <= MAX_ID && unsendableCharacter(id) === undefined;
}
