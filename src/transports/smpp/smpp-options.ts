import type { SmppTlsSettings } from './session/session-settings.js';

/** What the host says about its SMPP carrier. */
export interface SmppOptions {
  /** For logs and records, 1 to 32 characters of `a-z 0-9 _ -`. Default `smpp`. */
  readonly name?: string | undefined;
  /** At least one. They share the work: whichever has room takes the next message. */
  readonly links: readonly SmppLinkOptions[];
  /**
   * Whether a part whose fate is unknown (the link dropped, or no answer came in time) is submitted again. False (default):
   * never, its message becomes `unknown`. True: the transport is `at-least-once`, and a phone may get a text twice.
   */
  readonly resendUnknown?: boolean | undefined;
}

/**
 * How a text of several parts is told to be one.
 *
 * `udh8`: a header of 6 octets with an 8-bit reference in each part, what we count and charge. `udh16`: 7 octets, for
 * carriers that ask for it; a text that would take more parts than were charged keeps `udh8`. `sar`: the parameters
 * `sar_msg_ref_num` and so on. `payload`: one submit with the whole text in `message_payload`, the carrier cuts it.
 */
export type LongMessages = 'udh8' | 'udh16' | 'sar' | 'payload';

/** What the carrier reads where we say "default alphabet". */
export type DefaultAlphabet = 'gsm' | 'latin1' | 'ascii';

/**
 * How the id in a receipt is written, where it differs from the one in the answer to the submit.
 *
 * `hex-then-decimal`: hexadecimal in the answer, decimal in the receipt. `decimal-then-hex`: the other way round.
 */
export type MessageIdFormat = 'same' | 'hex-then-decimal' | 'decimal-then-hex';

/** Type of number and numbering plan (SMPP 3.4 sections 5.2.5 and 5.2.6), 0 to 255 each. */
export interface NumberingOptions {
  readonly ton: number;
  readonly npi: number;
}

/** How addresses are marked. */
export interface AddressOptions {
  /** A sender name with a letter. Default 5, 0. */
  readonly alphanumeric?: NumberingOptions | undefined;
  /** A sender of digits that is no short code. Default 1, 1. */
  readonly international?: NumberingOptions | undefined;
  /** A sender that is listed in `shortCodes`. Default 3, 0. */
  readonly shortCode?: NumberingOptions | undefined;
  /** Recipients. Default 1, 1. */
  readonly destination?: NumberingOptions | undefined;
  /** Signatures that are short codes; how long a number is does not make it one. Default none. */
  readonly shortCodes?: readonly string[] | undefined;
}

/** One connection to an SMSC. */
export interface SmppLinkOptions {
  /** For logs and records, 1 to 32 characters of `a-z 0-9 _ -`, no two alike. Default: the transport's name, then `<name>-2` … */
  readonly name?: string | undefined;
  /**
   * Links of one route serve one account of one carrier: any of them may bring the receipt of what another one submitted.
   * Give links to different carriers routes of their own, since ids of two carriers may be equal. Default: the transport's name.
   */
  readonly route?: string | undefined;
  readonly host: string;
  /** 1 to 65535. Default 2775, with TLS 3550. */
  readonly port?: number | undefined;
  /** 1 to 15 visible ASCII characters. */
  readonly systemId: string;
  /** At most 8 visible ASCII characters (SMPP 3.4 section 5.2.2: 9 octets with the NUL); more with `longPassword`. */
  readonly password: string;
  /** True: `password` may have up to 64 characters, for carriers that hand out longer ones than SMPP 3.4 allows. Default false. */
  readonly longPassword?: boolean | undefined;
  /** At most 12 characters. Default none. */
  readonly systemType?: string | undefined;
  /** At most 5 characters. Default none. */
  readonly serviceType?: string | undefined;
  /** TLS with the peer's certificate verified; an object for what differs from Node's defaults. Default false: plain TCP. */
  readonly tls?: boolean | SmppTlsSettings | undefined;
  /** A `receiver` only hears, a `transmitter` only submits. Default `transceiver`. */
  readonly bindAs?: 'transceiver' | 'transmitter' | 'receiver' | undefined;
  /** Submits that may be unanswered at a time, 1 to 1000. Default 10. */
  readonly window?: number | undefined;
  /** The most parts that this process submits a second, 0.1 to 100 000. Default no limit but the carrier's own throttling. */
  readonly partsPerSecond?: number | undefined;
  /** How long a submit may go unanswered, in milliseconds, 100 to 600 000. Default 10 000. */
  readonly responseTimeoutMs?: number | undefined;
  /** From the first packet to the answer to the bind, in milliseconds, 100 to 600 000. Default 10 000. */
  readonly bindTimeoutMs?: number | undefined;
  /** Silence after which the peer is asked whether it lives, in milliseconds, 100 to 3 600 000. Default 30 000. */
  readonly enquireLinkMs?: number | undefined;
  /** The first wait before connecting again, in milliseconds, 1 to 600 000; it doubles each time, with full jitter. Default 1000. */
  readonly reconnectMs?: number | undefined;
  /** The longest such wait, in milliseconds, 1 to 3 600 000, not under `reconnectMs`. Default 60 000. */
  readonly reconnectMaxMs?: number | undefined;
  /** How long the whole link rests when the carrier throttles, in milliseconds, 1 to 60 000; doubles up to 64 times that while it goes on. Default 100. */
  readonly throttlePauseMs?: number | undefined;
  /** Default `udh8`. */
  readonly longMessages?: LongMessages | undefined;
  /**
   * What the carrier takes data_coding 0 for. A GSM-7 text with a character that `latin1` or `ascii` lacks goes out as
   * UCS-2: it may then take more segments than were charged, which the record of the recipient shows. Default `gsm`.
   */
  readonly defaultAlphabet?: DefaultAlphabet | undefined;
  /** The data_coding of texts in that alphabet, 0 to 255; some carriers want 3 for Latin-1. Default 0. */
  readonly dataCoding?: number | undefined;
  readonly addresses?: AddressOptions | undefined;
  /** Default `same`: as given, but for case and leading zeros. */
  readonly messageIds?: MessageIdFormat | undefined;
  /**
   * How many minutes the clock in the carrier's receipts is ahead of UTC, -840 to 840. Default: not known, a receipt's
   * time is when it arrived. Give it for a carrier that gives ids again: only by the carrier's own time can the receipt of
   * an SMS that has the id of an older one be told from a repeat of that one's, where it comes before its SMS is stored.
   */
  readonly receiptOffsetMinutes?: number | undefined;
  /**
   * For carriers that mark receipts neither by `esm_class` nor by `receipted_message_id`. True: a message whose text is a
   * receipt from its first character on is read as one: `id: sub: dlvrd: submit date: done date: stat:` in this order, each
   * with a value that SMPP 3.4 appendix B allows. A phone cannot write that by accident, but it can on purpose, for an id
   * that it guesses; the receipt then counts for an SMS to this phone's number only, where the carrier writes numbers with
   * their country code. Default false: such a message is a text from a phone.
   */
  readonly unmarkedReceipts?: boolean | undefined;
}
