import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { MessagingOptionsError } from '../../common/errors.js';
import { type AllOf, withoutUndefined } from '../../common/options.js';

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

type Durations = AllOf<Pick<BaileysOptions, Extract<keyof BaileysOptions, `${string}Ms`>>>;

/** The options with their defaults. */
export interface ResolvedBaileysOptions extends Omit<Durations, 'qrTimeoutMs'> {
  readonly waWebSocketUrl: string;
  readonly version: BaileysOptions['version'];
  readonly browser: BaileysOptions['browser'];
  readonly agent: Agent | undefined;
  readonly uploadAgent: Agent | undefined;
  readonly qrTimeoutMs: number | undefined;
}

const WHATSAPP = 'wss://web.whatsapp.com/ws/chat';

const DEFAULTS: Omit<Durations, 'qrTimeoutMs'> = {
  connectTimeoutMs: 20_000,
  answerTimeoutMs: 60_000,
  queryTimeoutMs: 12_000,
  ackTimeoutMs: 20_000,
  uploadTimeoutMs: 90_000,
  keepAliveMs: 30_000,
  restrictionMs: 24 * 3_600_000,
};

/** Every option, and what is wrong with its value; undefined: nothing. One that is added has to be added here. */
const CHECKS: Readonly<Record<keyof BaileysOptions, (value: unknown) => string | undefined>> = {
  waWebSocketUrl: (value) =>
    typeof value === 'string' && isUrl(value) ? undefined : 'must be a wss:// URL; ws:// is for this machine only',
  version: (value) => (isThree(value, 'number') ? undefined : 'must be three numbers, such as [2, 3000, 1]'),
  browser: (value) => (isThree(value, 'string') ? undefined : 'must be three texts: system, browser, version'),
  ca: (value) => (typeof value === 'string' ? undefined : 'must be a text, PEM'),
  agent: agentFault,
  uploadAgent: agentFault,
  connectTimeoutMs: durationFault,
  answerTimeoutMs: durationFault,
  queryTimeoutMs: durationFault,
  ackTimeoutMs: durationFault,
  uploadTimeoutMs: durationFault,
  keepAliveMs: durationFault,
  qrTimeoutMs: durationFault,
  restrictionMs: durationFault,
};

/** @throws MessagingOptionsError naming the option that is wrong */
export function resolveBaileysOptions(options: BaileysOptions): ResolvedBaileysOptions {
  check(options);
  const { waWebSocketUrl = WHATSAPP, version, browser, ca, qrTimeoutMs, ...others } = options;
  const agent = agentOf(others.agent, ca);
  return {
    ...DEFAULTS,
    ...withoutUndefined(others),
    waWebSocketUrl,
    version,
    browser,
    qrTimeoutMs,
    // An agent for https cannot make a connection without TLS.
    agent: new URL(waWebSocketUrl).protocol === 'wss:' ? agent : undefined,
    uploadAgent: agentOf(others.uploadAgent, ca),
  };
}

function check(options: unknown): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new MessagingOptionsError('The options of BaileysMsgappTransport must be an object.');
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const fault = isName(name) ? CHECKS[name](value) : `is not known; there are ${Object.keys(CHECKS).join(', ')}`;
    if (fault === undefined) continue;
    throw new MessagingOptionsError(`Option ${name} of BaileysMsgappTransport ${fault}.`);
  }
}

function isName(name: string): name is keyof BaileysOptions {
  return Object.hasOwn(CHECKS, name);
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

/** Agents of proxies are no more than agents of http. */
function agentFault(value: unknown): string | undefined {
  if (!(value instanceof HttpAgent)) return 'must be an Agent of node:http or node:https';
  const { rejectUnauthorized }: { readonly rejectUnauthorized?: unknown } = { ...Reflect.get(value, 'options') };
  return rejectUnauthorized === false ? 'must check certificates' : undefined;
}

function durationFault(value: unknown): string | undefined {
  const isDuration = typeof value === 'number' && Number.isFinite(value) && value > 0;
  return isDuration ? undefined : 'must be a number of milliseconds above 0';
}

function isThree(value: unknown, type: 'number' | 'string'): boolean {
  return Array.isArray(value) && value.length === 3 && value.every((each) => typeof each === type);
}
