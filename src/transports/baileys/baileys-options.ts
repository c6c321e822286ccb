import { Agent } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { MessagingOptionsError } from '../../common/errors.js';

/** What `BaileysMsgappTransport.forRoot` takes. */
export interface BaileysOptions {
  /**
   * Where to connect: `wss://`, or `ws://` on this machine. TLS is the only thing that tells this server from another,
   * so this is for tests and private relays. Default: WhatsApp's own.
   */
  readonly waWebSocketUrl?: string;
  /** The web client's version to claim, when the server refuses (405) the one that Baileys has built in. */
  readonly version?: readonly [number, number, number];
  /** How the session shows in the phone's list: system, browser, version. Default: Mac OS, Chrome. */
  readonly browser?: readonly [string, string, string];
  /** Certificate authorities to trust beside the usual ones, PEM. */
  readonly ca?: string;
  /** Makes the connections of the socket, for instance through a proxy. It must check certificates. */
  readonly agent?: Agent;
  /** The same for uploads of media. */
  readonly uploadAgent?: Agent;
  /** How long the handshake may take, in milliseconds. Default 20 000. */
  readonly connectTimeoutMs?: number;
  /** How long a new connection may take to show a code or to open, in milliseconds. Default 60 000. */
  readonly answerTimeoutMs?: number;
  /** How long the server may take to answer a question, in milliseconds. One that is stuck holds up its session. Default 12 000. */
  readonly queryTimeoutMs?: number;
  /** How long the server may take to acknowledge a message before nobody knows its fate, in milliseconds. Default 20 000. */
  readonly ackTimeoutMs?: number;
  /** How long a file may take to be encrypted and uploaded, in milliseconds. Default 90 000. */
  readonly uploadTimeoutMs?: number;
  /** How often an idle connection is tried, in milliseconds. After this and 10 s more of silence it is given up. Default 30 000. */
  readonly keepAliveMs?: number;
  /** How long each code is shown, in milliseconds. Default: as WhatsApp does it, 60 000 for the first and 20 000 for the others. */
  readonly qrTimeoutMs?: number;
  /** How long a number that the server calls restricted leaves people alone who do not know it, in milliseconds. Default 24 hours. */
  readonly restrictionMs?: number;
}

type Durations = Required<Pick<BaileysOptions, Extract<keyof BaileysOptions, `${string}Ms`>>>;

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

/** @throws MessagingOptionsError naming the option that is wrong */
export function resolveBaileysOptions(options: BaileysOptions): ResolvedBaileysOptions {
  const { waWebSocketUrl = WHATSAPP, version, browser, ca, qrTimeoutMs, ...given } = options;
  checkUrl(waWebSocketUrl);
  for (const [name, value] of Object.entries({ ...given, qrTimeoutMs })) {
    if (name.endsWith('Ms') && value !== undefined && !isDuration(value)) {
      throw new MessagingOptionsError(
        `Option ${name} of BaileysMsgappTransport must be a number of milliseconds above 0.`,
      );
    }
  }
  const agent = agentOf('agent', given.agent, ca);
  return {
    ...DEFAULTS,
    ...withoutUndefined(given),
    waWebSocketUrl,
    version,
    browser,
    qrTimeoutMs,
    // An agent for https cannot make a connection without TLS.
    agent: new URL(waWebSocketUrl).protocol === 'wss:' ? agent : undefined,
    uploadAgent: agentOf('uploadAgent', given.uploadAgent, ca),
  };
}

function checkUrl(text: string): void {
  if (URL.canParse(text)) {
    const { protocol, hostname } = new URL(text);
    if (protocol === 'wss:' || (protocol === 'ws:' && isLoopback(hostname))) return;
  }
  throw new MessagingOptionsError(
    'Option waWebSocketUrl of BaileysMsgappTransport must be a wss:// URL; ws:// is for this machine only.',
  );
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

function isLoopback(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  return version === 0 ? address === 'localhost' : LOOPBACK.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

function agentOf(option: string, agent: Agent | undefined, ca: string | undefined): Agent | undefined {
  if (agent?.options.rejectUnauthorized === false) {
    throw new MessagingOptionsError(`Option ${option} of BaileysMsgappTransport must check certificates.`);
  }
  // Authorities that are given to TLS stand in the place of the usual ones.
  return agent ?? (ca === undefined ? undefined : new Agent({ ca: [...rootCertificates, ca] }));
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

/** An option that is named but undefined does not hide its default. */
function withoutUndefined<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
