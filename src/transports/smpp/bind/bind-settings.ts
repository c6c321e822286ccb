import type { SmppAddress } from '../pdu/pdu.js';

/** TLS of one connection. The peer's certificate is verified unless `rejectUnauthorized` is false. */
export interface SmppTlsSettings {
  /** The name in the peer's certificate and in SNI. Default: the host. */
  readonly servername?: string | undefined;
  /** Trusted certificate authorities, PEM. Default: Node's authorities. */
  readonly ca?: string | readonly string[] | undefined;
  /** The client certificate, PEM, if the SMSC requires one. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** False accepts any certificate. It is for tests only. Default true. */
  readonly rejectUnauthorized?: boolean | undefined;
}

/** The settings of one bound connection. */
export interface SmppBindSettings {
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
  /** The maximum number of unanswered submits, 1 or more. */
  readonly window: number;
  /** Time limit from the start of the connection to the answer to the bind, including TLS, in milliseconds. */
  readonly bindTimeoutMs: number;
  /** Time limit from writing a request to its answer, in milliseconds. */
  readonly responseTimeoutMs: number;
  /** The silence after which an enquire_link is sent, in milliseconds. */
  readonly idleMs: number;
  /** The number of consecutive enquire_links without an incoming PDU after which the peer counts as dead. */
  readonly maxMisses: number;
  /** The maximum number of deliver_sm in the handler. Further ones get "temporary error" (0x64), and the SMSC repeats them. */
  readonly maxUnanswered: number;
}

/** Defaults that suit most SMSCs. The window and the idle time are the same as in Kannel. */
export const SMPP_BIND_DEFAULTS = {
  bindAs: 'transceiver',
  systemType: '',
  addressRange: { ton: 0, npi: 0, address: '' },
  window: 10,
  bindTimeoutMs: 10_000,
  responseTimeoutMs: 10_000,
  idleMs: 30_000,
  maxMisses: 2,
  maxUnanswered: 100,
} as const satisfies Partial<SmppBindSettings>;
