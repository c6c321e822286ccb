import type { MessageIdFormat } from '../../sms/receipts/message-ids.js';
import type { SmppTlsSettings } from './bind/bind-settings.js';
import type { SmppStatusClass } from './command-status.js';
import type { ReceiptStatus } from './incoming/receipt-states.js';

/** Options of {@link SmppSmsTransport}. */
export interface SmppOptions {
  /** The name in logs and records, 1 to 32 characters of `a-z 0-9 _ -`. Default `smpp`. */
  readonly name?: string | undefined;
  /** The links, at least one. Links share the work: the next link that can submit takes the next message. */
  readonly links: readonly SmppLinkOptions[];
  /**
   * Whether a part without an answer (link lost, or response timeout) is submitted again. False: it is never submitted again, and
   * its message becomes `unknown`. True: the transport is `at-least-once`, and a phone may receive a text twice. Default false.
   */
  readonly resendUnknown?: boolean | undefined;
}

/**
 * How the parts of a long text are marked.
 *
 * `udh8`: a header of 6 octets with an 8-bit reference in each part, as charged. `udh16`: a header of 7 octets, for carriers that
 * require it. A text that would need more parts than charged keeps `udh8`. `sar`: the parameters `sar_msg_ref_num` and so on
 * (SMPP 3.4 section 5.3.2.22). `payload`: one submit with the whole text in `message_payload`, which the carrier cuts.
 */
export type LongMessages = 'udh8' | 'udh16' | 'sar' | 'payload';

/** The carrier's default alphabet. */
export type DefaultAlphabet = 'gsm' | 'latin1' | 'ascii';

/** The type of number and the numbering plan (SMPP 3.4 sections 5.2.5 and 5.2.6), 0 to 255 each. */
export interface NumberingOptions {
  readonly ton: number;
  readonly npi: number;
}

/** The type of number and the numbering plan of addresses. */
export interface AddressOptions {
  /** Sender names that contain a letter. Default 5, 0. */
  readonly alphanumeric?: NumberingOptions | undefined;
  /** Senders that are digits and not short codes. Default 1, 1. */
  readonly international?: NumberingOptions | undefined;
  /** Senders of 1 to 6 digits, and senders in `shortCodes`. Default 3, 0. */
  readonly shortCode?: NumberingOptions | undefined;
  /** Recipients. Default 1, 1. */
  readonly destination?: NumberingOptions | undefined;
  /** Recipients in national form, with the option `destinations: 'national'`. Default 2, 1. */
  readonly national?: NumberingOptions | undefined;
  /** Further signatures that are short codes, 3 to 15 digits each. Default: no signature of 7 or more digits is one. */
  readonly shortCodes?: readonly string[] | undefined;
}

/** One connection to an SMSC. */
export interface SmppLinkOptions {
  /**
   * The unique name in logs and records, 1 to 32 characters of `a-z 0-9 _ -`. Default: the transport's name, then
   * `<name>-2` …
   */
  readonly name?: string | undefined;
  /**
   * The name of the route. Links of one route use the same account of the same carrier, so that a receipt may arrive on another
   * link than its submit. Links to different carriers need different routes, because their ids may be equal. Default: the
   * transport's name.
   */
  readonly route?: string | undefined;
  readonly host: string;
  /** 1 to 65535. Default 2775, or 3550 with TLS. */
  readonly port?: number | undefined;
  /** 1 to 15 visible ASCII characters (SMPP 3.4 section 5.2.1: 16 octets with the NUL). More with `longSystemId`. */
  readonly systemId: string;
  /** True: `systemId` may have up to 64 characters, for carriers that exceed the limit of SMPP 3.4. Default false. */
  readonly longSystemId?: boolean | undefined;
  /** At most 8 visible ASCII characters (SMPP 3.4 section 5.2.2: 9 octets with the NUL). More with `longPassword`. */
  readonly password: string;
  /** True: `password` may have up to 64 characters, for carriers that exceed the limit of SMPP 3.4. Default false. */
  readonly longPassword?: boolean | undefined;
  /** At most 12 characters. Default none. */
  readonly systemType?: string | undefined;
  /** At most 5 characters. Default none. */
  readonly serviceType?: string | undefined;
  /** True: TLS with verification of the peer's certificate. An object overrides Node's defaults. Default false: plain TCP. */
  readonly tls?: boolean | SmppTlsSettings | undefined;
  /** A `receiver` only receives, a `transmitter` only submits. Default `transceiver`. */
  readonly bindAs?: 'transceiver' | 'transmitter' | 'receiver' | undefined;
  /** The maximum number of unanswered submits, 1 to 1000. Default 10. */
  readonly window?: number | undefined;
  /**
   * The maximum number of parts per second of this process, 0.1 to 100 000. Default: no limit except for the carrier's
   * throttling.
   */
  readonly partsPerSecond?: number | undefined;
  /** Time limit for the answer to a submit, in milliseconds, 100 to 600 000. Default 10 000. */
  readonly responseTimeoutMs?: number | undefined;
  /** Time limit from connecting to the answer to the bind, in milliseconds, 100 to 600 000. Default 10 000. */
  readonly bindTimeoutMs?: number | undefined;
  /** The silence after which an enquire_link is sent, in milliseconds, 100 to 3 600 000. Default 30 000. */
  readonly enquireLinkMs?: number | undefined;
  /** The first reconnect delay, in milliseconds, 1 to 600 000. It doubles each time, with full jitter. Default 1000. */
  readonly reconnectMs?: number | undefined;
  /** The longest reconnect delay, in milliseconds, 1 to 3 600 000, at least `reconnectMs`. Default 60 000. */
  readonly reconnectMaxMs?: number | undefined;
  /**
   * The first pause of the link after the carrier has throttled, in milliseconds, 1 to 60 000. It doubles with each further
   * throttling, up to 64 times this value. Default 100.
   */
  readonly throttlePauseMs?: number | undefined;
  /**
   * The meaning of this carrier's command_status values, by their numbers from 1 to 0xFFFFFFFF. Example: `{ 0x400: 'later', 0x45:
   * 'route' }`. Default: the meanings of SMPP 3.4 and 5.0. A status that they leave to the carrier is tried three times and then
   * refused.
   */
  readonly statuses?: Readonly<Record<number, SmppStatusClass>> | undefined;
  /** How the parts of a long text are marked. Default `udh8`. */
  readonly longMessages?: LongMessages | undefined;
  /**
   * The carrier's meaning of data_coding 0. A GSM-7 text with a character that `latin1` or `ascii` lacks is sent as
   * UCS-2. It may then have more segments than charged, as the record of the recipient shows. Default `gsm`.
   */
  readonly defaultAlphabet?: DefaultAlphabet | undefined;
  /** The data_coding of texts in that alphabet, 0 to 255. Some carriers require 3 for Latin-1. Default 0. */
  readonly dataCoding?: number | undefined;
  readonly addresses?: AddressOptions | undefined;
  /**
   * `national`: recipients in the country `home` are submitted without their calling code, for carriers that accept only this
   * form. Example: `22670000001` becomes `70000001`. Requires `home`. Default `international`: with the calling code.
   */
  readonly destinations?: 'international' | 'national' | undefined;
  /**
   * False: submits have no `validity_period`, for carriers that refuse it. The carrier may then deliver a code after the code
   * has expired. Default true.
   */
  readonly validity?: boolean | undefined;
  /** The format of ids in receipts. Default `same`. */
  readonly messageIds?: MessageIdFormat | undefined;
  /**
   * How far the clock of the carrier's receipts is ahead of UTC, in minutes, -840 to 840. Default: not known, so a receipt's
   * time is the time of its arrival. Set it for a carrier that reuses ids. If a receipt arrives before its SMS is stored, only
   * the carrier's time distinguishes it from a repeat of the receipt for an older SMS with the same id.
   */
  readonly receiptOffsetMinutes?: number | undefined;
  /**
   * The meanings of the states in this carrier's receipts. Upper and lower case do not matter. These entries take precedence over
   * our own table of documented states. `sent` means that the state is not final, and `failed` is refunded. Example: `{ PARKED:
   * 'sent', NOSUBS: 'undelivered' }`. A state that is in neither table changes nothing. It is counted and logged. Default: our
   * table only.
   */
  readonly receiptStates?: Readonly<Record<string, ReceiptStatus>> | undefined;
  /**
   * `per-message`: the carrier sends one receipt for an SMS of several parts. The receipt has the id of any part and applies to
   * all parts. Default `per-part`: one receipt for each part.
   */
  readonly receipts?: 'per-part' | 'per-message' | undefined;
  /**
   * For carriers that mark receipts neither by `esm_class` nor by `receipted_message_id`. True: a message is a receipt if it has
   * only labels and values as in SMPP 3.4 appendix B, in any order, among them an id, a state that is known, and a date or an
   * error. A phone can forge such a text for an id that it guesses. If the carrier writes numbers with the country code, the
   * forged receipt counts only for an SMS to that phone. Default false: such a message is an inbound text.
   */
  readonly unmarkedReceipts?: boolean | undefined;
  /**
   * The country (ISO 3166 alpha-2) in whose national form the carrier may write phone numbers. Example: with `BF`, a text from
   * `70000001` is from `22670000001`. Default: not known. A text is then dropped, counted and logged unless its number is
   * certainly an international one.
   */
  readonly home?: string | undefined;
}
