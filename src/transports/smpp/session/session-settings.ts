import type { SmppAddress } from '../pdu/pdu.js';

/** TLS of one connection; the peer's certificate is verified unless `rejectUnauthorized` says no. */
export interface SmppTlsSettings {
  /** The name the certificate must bear, and SNI. Default: the host. */
  readonly servername?: string | undefined;
  /** PEM. Default: the authorities Node trusts. */
  readonly ca?: string | readonly string[] | undefined;
  /** Our certificate, PEM, where the SMSC asks for one. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** false takes any certificate: for tests only. */
  readonly rejectUnauthorized?: boolean | undefined;
}

/** Everything one session needs to know. */
export interface SmppSessionSettings {
  readonly host: string;
  /** 1..65535 */
  readonly port: number;
  /** Absent: plain TCP. */
  readonly tls?: SmppTlsSettings;
  readonly bindAs: 'transceiver' | 'transmitter' | 'receiver';
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  readonly addressRange: SmppAddress;
  /** How many submits may be unanswered at a time; 1 or more. */
  readonly window: number;
  /** From the first SYN to the answer to the bind, TLS included. */
  readonly bindTimeoutMs: number;
  /** From the writing of a request to its answer. */
  readonly responseTimeoutMs: number;
  /** Nothing heard for so long: ask with an enquire_link. */
  readonly idleMs: number;
  /** So many enquire_links in a row without any PDU coming in: the link is dead. */
  readonly maxMisses: number;
  /** How many deliver_sm the handler may have in hand; more are answered "temporary error" (0x64), the SMSC comes again. */
  readonly maxUnanswered: number;
}

/** What suits most SMSCs (window and idle time: Kannel's defaults). */
export const SMPP_SESSION_DEFAULTS = {
  bindAs: 'transceiver',
  systemType: '',
  addressRange: { ton: 0, npi: 0, address: '' },
  window: 10,
  bindTimeoutMs: 10_000,
  responseTimeoutMs: 10_000,
  idleMs: 30_000,
  maxMisses: 2,
  maxUnanswered: 100,
} as const satisfies Partial<SmppSessionSettings>;
