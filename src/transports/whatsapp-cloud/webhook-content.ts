import type { IncomingMsgapp } from '../../msgapp/msgapp-transport.js';
import { listOf, textOf, valueAt } from '../http/json-values.js';

/** The state of a message that we sent. */
export interface CloudStatus {
  /** Meta's id of the number that sent it. */
  readonly phoneNumberId: string;
  /** The id that the send returned. */
  readonly reference: string;
  readonly status: 'sent' | 'delivered' | 'read' | 'failed';
  /** The text that the send carried. Undefined if it carried none. */
  readonly tag: string | undefined;
  /** `cloud_` with the code, if it failed. */
  readonly error: string | undefined;
  /** The category that Meta charges: `utility`, `marketing`, `authentication`, `service`. */
  readonly category: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A message that a person wrote. */
export type CloudMessage = Omit<IncomingMsgapp, 'media'> & {
  /** Meta's id of the number that it was written to. */
  readonly phoneNumberId: string;
  readonly file: CloudFile | undefined;
};

/** A file of a received message. Its bytes are at Meta under `id`. */
export interface CloudFile {
  readonly id: string;
  readonly mimetype: string;
  readonly fileName: string | undefined;
}

/** The content of a call. */
export interface CloudNews {
  readonly statuses: readonly CloudStatus[];
  readonly messages: readonly CloudMessage[];
}

const STATUSES = ['sent', 'delivered', 'read', 'failed'] as const;

/** Meta's types of messages with a file, and how we show them. */
const FILE_KINDS = {
  image: 'image',
  sticker: 'image',
  video: 'video',
  audio: 'audio',
  document: 'document',
} as const;

/**
 * Reads the body of a call, in the order of its entries. Parts that we do not know are ignored, because Meta adds some at any time.
 * @param now milliseconds since the epoch, for parts without a time
 */
export function readWebhook(body: unknown, now: number): CloudNews {
  const values = listOf(valueAt(body, 'entry'))
    .flatMap((entry) => listOf(valueAt(entry, 'changes')))
    .filter((change) => valueAt(change, 'field') === 'messages')
    .map((change) => valueAt(change, 'value'));
  const each = <T>(
    list: string,
    read: (part: unknown, phoneNumberId: string, now: number, value: unknown) => T | undefined,
  ): T[] =>
    values.flatMap((value) => {
      const id = textOf(valueAt(value, 'metadata', 'phone_number_id'));
      return id === undefined ? [] : listOf(valueAt(value, list)).flatMap((part) => read(part, id, now, value) ?? []);
    });
  return { statuses: each('statuses', readStatus), messages: each('messages', readMessage) };
}

function readStatus(part: unknown, phoneNumberId: string, now: number): CloudStatus | undefined {
  const reference = textOf(valueAt(part, 'id'));
  const status = STATUSES.find((each) => each === valueAt(part, 'status'));
  if (reference === undefined || status === undefined) return undefined;
  const code = textOf(valueAt(part, 'errors', 0, 'code'));
  const error =
    status === 'failed' ? `cloud_${code !== undefined && /^\d{1,6}$/.test(code) ? code : 'failed'}` : undefined;
  const category = textOf(valueAt(part, 'pricing', 'category'));
  const tag = textOf(valueAt(part, 'biz_opaque_callback_data'));
  return { phoneNumberId, reference, status, tag, error, category, at: timeOf(part, now) };
}

function readMessage(part: unknown, phoneNumberId: string, now: number, value: unknown): CloudMessage | undefined {
  const id = textOf(valueAt(part, 'id'));
  const from = textOf(valueAt(part, 'from'));
  // A person with a user name has no number, only an id for this business.
  const identity = textOf(valueAt(part, 'from_user_id'));
  const chat = identity ?? from;
  if (id === undefined || chat === undefined) return undefined;
  const reference = textOf(valueAt(part, 'context', 'id')) ?? textOf(valueAt(part, 'reaction', 'message_id'));
  const refersTo = reference === undefined ? undefined : { reference };
  const name = nameOf(value, from, identity);
  return { phoneNumberId, id, chat, from, identity, name, refersTo, at: timeOf(part, now), ...contentOf(part) };
}

/** Returns the name that the sender of a message chose. It stands beside the messages. */
function nameOf(value: unknown, from: string | undefined, identity: string | undefined): string | undefined {
  const person = listOf(valueAt(value, 'contacts')).find((each) => {
    const [number, userId] = [textOf(valueAt(each, 'wa_id')), textOf(valueAt(each, 'user_id'))];
    return (number !== undefined && number === from) || (userId !== undefined && userId === identity);
  });
  return textOf(valueAt(person, 'profile', 'name'));
}

function contentOf(part: unknown): Pick<CloudMessage, 'kind' | 'text' | 'file'> {
  const type = textOf(valueAt(part, 'type')) ?? '';
  const content = valueAt(part, type);
  const at = (...path: string[]) => textOf(valueAt(content, ...path));
  if (isFileType(type)) {
    const id = at('id');
    const isVoice = valueAt(content, 'voice') === true;
    const fileName = at('filename');
    const file = id === undefined ? undefined : { id, mimetype: at('mime_type') ?? '', fileName };
    return { kind: isVoice ? 'voice' : FILE_KINDS[type], text: at('caption'), file };
  }
  const kind = type === 'reaction' ? 'reaction' : 'text';
  return { kind, text: wordsOf(type, content, at), file: undefined };
}

/** Returns what a message without a file says. Undefined if we cannot show it, for example if its type is `unsupported`. */
function wordsOf(type: string, content: unknown, at: (...path: string[]) => string | undefined): string | undefined {
  switch (type) {
    case 'text':
      return at('body');
    case 'reaction':
      return at('emoji');
    case 'button':
      return at('text');
    case 'interactive':
      return at('button_reply', 'title') ?? at('list_reply', 'title');
    case 'location': {
      // RFC 5870.
      const [latitude, longitude] = [at('latitude'), at('longitude')];
      if (latitude === undefined || longitude === undefined) return undefined;
      const place = `geo:${latitude},${longitude}`;
      return [at('name'), at('address'), place].filter((line) => line !== undefined).join('\n');
    }
    case 'contacts':
      return lines(content, (person) => [
        textOf(valueAt(person, 'name', 'formatted_name')),
        ...listOf(valueAt(person, 'phones')).map((phone) => textOf(valueAt(phone, 'phone'))),
      ]);
    case 'order':
      return lines(valueAt(content, 'product_items'), (item) => [
        textOf(valueAt(item, 'quantity')),
        textOf(valueAt(item, 'product_retailer_id')),
      ]);
    default:
      return undefined;
  }
}

function lines(list: unknown, words: (item: unknown) => readonly (string | undefined)[]): string | undefined {
  const text = listOf(list)
    .map((item) =>
      words(item)
        .filter((word) => word !== undefined)
        .join(' '),
    )
    .join('\n');
  return text === '' ? undefined : text;
}

function isFileType(type: string): type is keyof typeof FILE_KINDS {
  return Object.hasOwn(FILE_KINDS, type);
}

/** Meta's times are seconds, in a text. */
function timeOf(part: unknown, now: number): number {
  const seconds = Number(textOf(valueAt(part, 'timestamp')) ?? Number.NaN);
  return Number.isSafeInteger(seconds) && seconds > 0 && seconds < 1e10 ? seconds * 1000 : now;
}
