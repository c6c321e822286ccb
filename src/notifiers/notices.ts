import type { NoticeTopic } from '../common/notifier.js';

/** The longest payload, in bytes: PostgreSQL takes less than 8000 in a NOTIFY. */
const MAX_LENGTH = 7900;
/** Our ids have 1 to 64 of these characters. A notice with any other id is not sent to other processes. */
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

/** The notices that a process sends in one payload. */
interface Notices {
  /** The process that sends them. */
  readonly from: string;
  readonly notices: readonly Notice[];
}

/** The maximum number of characters that the notices of one payload take together. */
export const MAX_CHARACTERS = MAX_LENGTH - 80;

/** A notice as a part of a payload; undefined if its id cannot be one of ours. */
export function partOf(topic: NoticeTopic, id: string): string | undefined {
  return ID.test(id) ? `${topic}:${id}` : undefined;
}

/**
 * Formats a payload: `1 <from> <topic>:<id> …`, where 1 is the version of the format.
 * @param from 1 to 64 of `A-Za-z0-9_-`
 */
export function payloadOf(from: string, parts: readonly string[]): string {
  return ['1', from, ...parts].join(' ');
}

/** Reads a payload; undefined if it is not one of ours. Topics that this version does not know are left out. */
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
