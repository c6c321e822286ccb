import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { any, group, OptionPlace, type OptionsOf, text } from '../../common/options.js';

/** What `BaileysMsgappTransport.forRoot` takes. */
export interface BaileysOptions {
  /**
   * Where to connect: `wss://`, or `ws://` on this machine. For tests and private relays: WhatsApp's certificate is verified
   * wherever this leads. Default: WhatsApp's own.
   */
  readonly waWebSocketUrl?: string | undefined;
  /** The web client's version to claim, when the server refuses (405) the one that Baileys has built in. */
  readonly version?: readonly [number, number, number] | undefined;
  /** How the session shows in the phone's list: system, browser, version. Default: Mac OS, Chrome. */
  readonly browser?: readonly [string, string, string] | undefined;
  /** Certificate authorities to trust beside the usual ones, PEM. */
  readonly ca?: string | undefined;
  /** Makes the connections of the socket, for instance through a proxy. It must check certificates. */
  readonly agent?: Agent | undefined;
  /** The same for uploads of media. */
  readonly uploadAgent?: Agent | undefined;
  /** How long the handshake may take, in milliseconds. Default 20 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long a new connection may take to show a code or to open, in milliseconds. Default 60 000. */
  readonly answerTimeoutMs?: number | undefined;
  /** How long the server may take to answer a question, in milliseconds. One that is stuck holds up its session. Default 12 000. */
  readonly queryTimeoutMs?: number | undefined;
  /** How long the server may take to acknowledge a message before nobody knows its fate, in milliseconds. Default 20 000. */
  readonly ackTimeoutMs?: number | undefined;
  /** How long a file may take to be encrypted and uploaded, in milliseconds. Default 90 000. */
  readonly uploadTimeoutMs?: number | undefined;
  /** How often an idle connection is tried, in milliseconds. After this and 10 s more of silence it is given up. Default 30 000. */
  readonly keepAliveMs?: number | undefined;
  /** How long each code is shown, in milliseconds. Default: as WhatsApp does it, 60 000 for the first and 20 000 for the others. */
  readonly qrTimeoutMs?: number | undefined;
  /** How long a number that the server calls restricted leaves people alone who do not know it, in milliseconds. Default 24 hours. */
  readonly restrictionMs?: number | undefined;
}

const WHATSAPP = 'wss://web.whatsapp.com/ws/chat';

const url = any((given, place) => {
  return typeof given === 'string' && isUrl(given)
    ? given
    : place.refuse('must be a wss:// URL; ws:// is for this machine only');
});

const duration = any((given, place) => {
  const isDuration = typeof given === 'number' && Number.isFinite(given) && given > 0;
  return isDuration ? given : place.refuse('must be a number of milliseconds above 0');
});

const three = <T>(isOne: (given: unknown) => given is T, what: string) =>
  any((given, place): readonly [T, T, T] => {
    const [first, second, third, ...rest]: readonly unknown[] = Array.isArray(given) ? given : [];
    const fit = isOne(first) && isOne(second) && isOne(third) && rest.length === 0;
    return fit ? [first, second, third] : place.refuse(`must be ${what}`);
  }).or(undefined);

/** Agents of proxies are no more than agents of http. */
const agent = any((given, place): Agent => {
  if (!(given instanceof HttpAgent)) return place.refuse('must be an Agent of node:http or node:https');
  const { rejectUnauthorized }: { readonly rejectUnauthorized?: unknown } = { ...Reflect.get(given, 'options') };
  return rejectUnauthorized === false ? place.refuse('must check certificates') : (given as Agent);
}).or(undefined);

const OPTIONS = group({
  waWebSocketUrl: url.or(WHATSAPP),
  version: three((given) => typeof given === 'number', 'three numbers, such as [2, 3000, 1]'),
  browser: three((given) => typeof given === 'string', 'three texts: system, browser, version'),
  ca: text(/^/, 'a text, PEM').or(undefined),
  agent,
  uploadAgent: agent,
  connectTimeoutMs: duration.or(20_000),
  answerTimeoutMs: duration.or(60_000),
  queryTimeoutMs: duration.or(12_000),
  ackTimeoutMs: duration.or(20_000),
  uploadTimeoutMs: duration.or(90_000),
  keepAliveMs: duration.or(30_000),
  qrTimeoutMs: duration.or(undefined),
  restrictionMs: duration.or(24 * 3_600_000),
} satisfies OptionsOf<BaileysOptions>);

/** The options with their defaults. */
export type ResolvedBaileysOptions = Omit<ReturnType<(typeof OPTIONS)['read']>, 'ca'>;

const PLACE = new OptionPlace('', (path) =>
  path === '' ? 'The options of BaileysMsgappTransport' : `Option ${path} of BaileysMsgappTransport`,
);

/** @throws MessagingOptionsError naming the option that is wrong */
export function resolveBaileysOptions(options: BaileysOptions): ResolvedBaileysOptions {
  const { ca, agent: socketAgent, uploadAgent, ...settings } = OPTIONS.read(options, PLACE);
  // An agent for https cannot make a connection without TLS.
  const ofSocket = new URL(settings.waWebSocketUrl).protocol === 'wss:' ? agentOf(socketAgent, ca) : undefined;
  const ofUploads = agentOf(uploadAgent, ca);
  return {
    ...settings,
    ...(ofSocket && { agent: ofSocket }),
    ...(ofUploads && { uploadAgent: ofUploads }),
  };
}

function isUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'wss:' || (protocol === 'ws:' && isLoopback(hostname));
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

function isLoopback(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  return version === 0 ? address === 'localhost' : LOOPBACK.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** Authorities that are given to TLS stand in the place of the usual ones. */
function agentOf(agent: Agent | undefined, ca: string | undefined): Agent | undefined {
  return agent ?? (ca === undefined ? undefined : new Agent({ ca: [...rootCertificates, ca] }));
}
