import type { NoticeTopic } from '../common/notifier.js';

/** The longest payload, in bytes: PostgreSQL takes less than 8000 in a NOTIFY. */
const MAX_LENGTH = 7900;
/** Ids of ours are 1 to 64 of these characters; what has others is told to nobody. */
const ID = /^[\x21-\x7e]{1,64}$/;
const TOPICS: readonly string[] = [
  'due',
  'key',
  'account',
  'signature',
  'opt-out',
  'sender',
  'event',
  'endpoint',
  'user',
  'account',
  'operating',
  'address',
] satisfies readonly NoticeTopic[];
const PAYLOAD = /^1 [\w-]{1,64}( [a-z-]{1,16}:[\x21-\x7e]{1,64})*$/;

/** A topic and an id. */
export type Notice = readonly [topic: NoticeTopic, id: string];

/** What a process tells the others in one payload. */
interface Notices {
  /** The process that tells it. */
  readonly from: string;
  readonly notices: readonly Notice[];
}

/** The most characters that the notices of one payload take together. */
export const MAX_CHARACTERS = MAX_LENGTH - 80;

/** A notice as a part of a payload; undefined when its id cannot be one of ours. */
export function partOf(topic: NoticeTopic, id: string): string | undefined {
  return ID.test(id) ? `${topic}:${id}` : undefined;
}

/**
 * `1 <from> <topic>:<id> …`, 1 being the version of the format.
 * @param from 1 to 64 of `A-Za-z0-9_-`
 */
export function payloadOf(from: string, parts: readonly string[]): string {
  return ['1', from, ...parts].join(' ');
}

/** Undefined for a payload that is not ours. Topics of a later version are left out. */
export function noticesOf(payload: unknown): Notices | undefined {
  if (typeof payload !== 'string' || payload.length > MAX_LENGTH || !PAYLOAD.test(payload)) return undefined;
  const [, from = '', ...parts] = payload.split(' ');
  return { from, notices: parts.flatMap(noticeOf) };
}

function noticeOf(part: string): Notice[] {
  const end = part.indexOf(':');
  const topic = part.slice(0, end);
  return isTopic(topic) ? [[topic, part.slice(end + 1)]] : [];
}

function isTopic(name: string): name is NoticeTopic {
  return TOPICS.includes(name);
}
