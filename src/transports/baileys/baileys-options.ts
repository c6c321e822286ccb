import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { any, group, OptionPlace, type OptionsOf, text } from '../../common/options.js';
import { DAY_MS, MINUTE_MS } from '../../common/time.js';

/** Options of `BaileysMsgappTransport`. */
export interface BaileysOptions {
  /**
   * The address of the server: `wss://`, or `ws://` for loopback addresses. It is for tests and private relays. WhatsApp's
   * certificate in the protocol is always verified. Default: WhatsApp's server.
   */
  readonly waWebSocketUrl?: string | undefined;
  /** The version of the web client to report. Set it if the server refuses (405) Baileys' built-in version. */
  readonly version?: readonly [number, number, number] | undefined;
  /** The session's entry in the phone's list: system, browser, version. Default: Mac OS, Chrome. */
  readonly browser?: readonly [string, string, string] | undefined;
  /** Certificate authorities in addition to Node's, PEM. */
  readonly ca?: string | undefined;
  /** The agent for the socket's connections, for example for a proxy. It must verify certificates. */
  readonly agent?: Agent | undefined;
  /** The agent for uploads of media. It must verify certificates. */
  readonly uploadAgent?: Agent | undefined;
  /** Time limit of the handshake, in milliseconds. Default 20 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Time limit until a new connection shows a code or opens, in milliseconds. Default 60 000. */
  readonly answerTimeoutMs?: number | undefined;
  /** Time limit of a query to the server, in milliseconds. Meanwhile its session sends nothing. Default 12 000. */
  readonly queryTimeoutMs?: number | undefined;
  /** Time limit of a message's acknowledgement, in milliseconds. After it the message is `unknown`. Default 20 000. */
  readonly ackTimeoutMs?: number | undefined;
  /** Time limit of encrypting and uploading a file, in milliseconds. Default 90 000. */
  readonly uploadTimeoutMs?: number | undefined;
  /**
   * The interval of keep-alives, in milliseconds. After this time and 10 s of silence the connection is ended. Default
   * 30 000.
   */
  readonly keepAliveMs?: number | undefined;
  /** The origin from which files of received messages are fetched. Default `https://mmg.whatsapp.net`. */
  readonly mediaUrl?: string | undefined;
  /**
   * How long each code is shown, in milliseconds. Default, as in WhatsApp: 60 000 for the first code and 20 000 for the others.
   */
  readonly qrTimeoutMs?: number | undefined;
  /**
   * For how long we send no messages from a restricted number to people who do not know it, in milliseconds. Default 24 hours.
   */
  readonly restrictionMs?: number | undefined;
}

const WHATSAPP = 'wss://web.whatsapp.com/ws/chat';

const url = any((given, place) => {
  return typeof given === 'string' && isUrl(given)
    ? given
    : place.refuse('must be a wss:// URL; ws:// is for this machine only');
});

const WHATSAPP_MEDIA = 'https://mmg.whatsapp.net';

const mediaUrl = any((given, place) => {
  const parsed = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  return parsed?.protocol === 'https:' && parsed.href === `${parsed.origin}/`
    ? parsed.origin
    : place.refuse('must be an https:// origin, such as "https://mmg.whatsapp.net"');
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

/** Checks only for `http.Agent`, because agents of proxies extend no other class. */
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
  answerTimeoutMs: duration.or(MINUTE_MS),
  queryTimeoutMs: duration.or(12_000),
  ackTimeoutMs: duration.or(20_000),
  uploadTimeoutMs: duration.or(90_000),
  keepAliveMs: duration.or(30_000),
  qrTimeoutMs: duration.or(undefined),
  mediaUrl: mediaUrl.or(WHATSAPP_MEDIA),
  restrictionMs: duration.or(DAY_MS),
} satisfies OptionsOf<BaileysOptions>);

/** The options with their defaults filled in. */
export type ResolvedBaileysOptions = Omit<ReturnType<(typeof OPTIONS)['read']>, 'ca'>;

const PLACE = new OptionPlace('', (path) =>
  path === '' ? 'The options of BaileysMsgappTransport' : `Option ${path} of BaileysMsgappTransport`,
);

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveBaileysOptions(options: BaileysOptions): ResolvedBaileysOptions {
  const { ca, agent: socketAgent, uploadAgent, ...settings } = OPTIONS.read(options, PLACE);
  // An agent for https cannot open a connection without TLS.
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

/** Adds Node's authorities to `ca`, because `ca` replaces them in TLS options. */
function agentOf(agent: Agent | undefined, ca: string | undefined): Agent | undefined {
  return agent ?? (ca === undefined ? undefined : new Agent({ ca: [...rootCertificates, ca] }));
}
