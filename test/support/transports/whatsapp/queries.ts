import { encodeBigEndian, getBinaryNodeChildren, S_WHATSAPP_NET } from 'baileys';
import type { Directory } from './directory.js';
import { LinkedDevice } from './linked-device.js';
import { attr, bytesOf, child, firstChild, result, type Stanza, stanza, uintOf } from './stanza.js';
import { usync } from './usync.js';
import type { WireConnection } from './wire-connection.js';

/** The credential with which the server accepts uploads. */
export const UPLOAD_TOKEN = 'loopback-upload-token';

/** The parts of the server that answers need. */
export interface QueryFixture {
  readonly directory: Directory;
  /** Host and port of the media host. */
  readonly mediaHost: string;
  /** See `WhatsappPeer`. */
  readonly firstKeys: FirstKeys;
}

/**
 * How many one-time keys the server wants from a new client: all that WhatsApp wants (Baileys then makes 812), or a
 * few, because making 812 takes a third of a second.
 */
export type FirstKeys = 'all' | 'few';

/** The name of a query: `xmlns/child`. */
export function queryName(question: Stanza): string {
  return `${question.attrs.xmlns}/${firstChild(question)?.tag ?? ''}`;
}

/** Answers a client's query. An unknown query gets an empty answer, as the real server often gives. */
export async function answerQuery(connection: WireConnection, question: Stanza, world: QueryFixture): Promise<void> {
  const answer = ANSWERS[queryName(question)];
  connection.send(result(question, await answer?.(question, connection, world)));
  if (queryName(question) === 'passive/active') {
    // No messages were waiting while the client was away.
    connection.send(stanza('ib', { from: S_WHATSAPP_NET }, [stanza('offline', { count: '0' })]));
  }
}

type Answer = (
  question: Stanza,
  connection: WireConnection,
  world: QueryFixture,
) => Stanza[] | undefined | Promise<Stanza[] | undefined>;

const ANSWERS: Readonly<Record<string, Answer>> = {
  'encrypt/count': (_, { device }, { firstKeys }) => {
    // A client that is told that one is left makes a few.
    const known = device?.preKeys.length || (firstKeys === 'few' ? 1 : 0);
    return [stanza('count', { value: String(known) })];
  },
  'encrypt/registration': (question, { device }) => {
    const keys = getBinaryNodeChildren(child(question, 'list'), 'key');
    device?.preKeys.push(...keys.map((key) => ({ id: uintOf(child(key, 'id')), key: bytesOf(child(key, 'value')) })));
    return undefined;
  },
  'encrypt/digest': (_, { device }) => {
    const registration = encodeBigEndian(device?.registration.registrationId ?? 0, 4);
    return [stanza('digest', {}, [stanza('registration', {}, registration)])];
  },
  'encrypt/key': async (question, _, { directory }) => {
    const users = getBinaryNodeChildren(child(question, 'key'), 'user').map((user) =>
      bundle(attr(user, 'jid'), directory),
    );
    return [stanza('list', {}, await Promise.all(users))];
  },
  'usync/usync': (question, _, { directory }) => [usync(child(question, 'usync'), directory)],
  'w:m/media_conn': (_, __, { mediaHost }) => {
    const host = stanza('host', { hostname: mediaHost, maxContentLengthBytes: String(100 * 1024 * 1024) });
    return [stanza('media_conn', { auth: UPLOAD_TOKEN, ttl: '300', auth_ttl: '21600', max_buckets: '12' }, [host])];
  },
  // The owner lets others see what was read.
  'privacy/privacy': () => [stanza('privacy', {}, [stanza('category', { name: 'readreceipts', value: 'all' })])],
  'md/remove-companion-device': (_, { device }, { directory }) => {
    if (device) directory.unlink(device);
    return undefined;
  },
};

function bundle(jid: string, directory: Directory): Stanza | Promise<Stanza> {
  const owner = directory.find(jid);
  if (owner instanceof LinkedDevice) return owner.bundle(jid);
  if (owner) return owner.signal.bundle(jid);
  return stanza('user', { jid }, [stanza('error', { code: '406', text: 'not-acceptable' })]);
}
