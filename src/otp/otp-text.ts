import { isSignatureName } from '../accounts/signatures/signature-name.js';
import { MessagingOptionsError } from '../common/errors.js';
import { any, formatValue, group, isRecord, type OptionsOf, text } from '../common/options.js';
import { type Catalogue, fillIn, renderText } from '../common/text/catalogue.js';
import { measure } from '../sms/segmentation.js';

/** Options of one service. */
export interface OtpServiceOptions {
  /** The sender name of its SMS: a default signature, or one verified for the account. Default: the first default signature. */
  readonly signature?: string | undefined;
  /**
   * The text of its messages, with `{code}` and optionally `{service}` and `{validity}` (such as `5 min`). The longest result
   * must fit one GSM-7 segment. With `webOtpHost` or `retrieverHash` it must also fit 140 bytes of UTF-8. Otherwise the start
   * fails. Default: the text of the locale.
   */
  readonly template?: string | undefined;
  /**
   * Adds the last line `@example.com #1234`, which lets browsers fill in the code on this host (WICG origin-bound codes). Give a
   * domain name in small letters, without scheme, port and path. Write an international name in Punycode. Default: no such line.
   */
  readonly webOtpHost?: string | undefined;
  /**
   * Adds the 11 characters of an Android app's hash as the last line (SMS Retriever API). It cannot be combined with
   * `webOtpHost`. Default: no such line.
   */
  readonly retrieverHash?: string | undefined;
}

/** The values in a text. */
interface OtpTextValues {
  readonly code: string;
  readonly service: string;
  /** How long the code is valid, in seconds. */
  readonly validity: number;
}

/**
 * The maximum number of bytes of UTF-8 that a text may have so that a phone reads the code by itself. Android passes longer texts neither to
 * an app (SMS Retriever) nor to a browser (WebOTP).
 */
const MAX_READ_BYTES = 140;

/** Control characters: with a line break, a service's name could add lines to the text. */
const CONTROL = /\p{Cc}/u;

/**
 * Renders the texts of codes. Each text fits one GSM-7 segment. If a phone is to read the code by itself, the text also fits 140
 * bytes.
 */
export class OtpText {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly services: Readonly<Record<string, OtpServiceOptions>>,
  ) {}

  /**
   * Returns the text with the service's own template, or else with the catalogue's. The catalogue's text leaves out the service's
   * name if the name does not fit.
   */
  render(values: OtpTextValues): string {
    const options = this.optionsOf(values.service);
    if (options.template !== undefined) return this.fill(options.template, values) + lastLine(options, values.code);
    const named = this.fill(this.catalogue['otp.text'], values) + lastLine(options, values.code);
    if (!CONTROL.test(values.service) && fits(named, options)) return named;
    return this.fill(this.catalogue['otp.text_unnamed'], values) + lastLine(options, values.code);
  }

  /**
   * Checks that the longest text of every service fits one SMS.
   * @throws MessagingOptionsError with a sentence that names the service
   */
  check(digits: number): void {
    const values = { code: '0'.repeat(digits), validity: 3599 };
    for (const service of Object.keys(this.services)) {
      const text = this.render({ ...values, service });
      const place = `Option otp.services[${JSON.stringify(service)}]`;
      if (!isOneSegment(text)) throw new MessagingOptionsError(`${place}: its text is longer than one SMS in GSM-7.`);
      if (fits(text, this.optionsOf(service))) continue;
      throw new MessagingOptionsError(
        `${place}: with its last line the text has ${Buffer.byteLength(text)} bytes; phones read at most ${MAX_READ_BYTES} by themselves.`,
      );
    }
    if (isOneSegment(this.render({ ...values, service: '\n' }))) return;
    throw new MessagingOptionsError('Option locale: its otp.text_unnamed is longer than one SMS in GSM-7.');
  }

  /** Returns the configured sender name of a service. */
  signatureOf(service: string): string | undefined {
    return this.optionsOf(service).signature;
  }

  private optionsOf(service: string): OtpServiceOptions {
    return Object.hasOwn(this.services, service) ? (this.services[service] ?? {}) : {};
  }

  private fill(template: string, { code, service, validity }: OtpTextValues): string {
    return fillIn(template, { code, service, validity: this.duration(validity) });
  }

  private duration(seconds: number): string {
    if (seconds < 60) return renderText(this.catalogue, 'otp.seconds', { count: Math.max(1, seconds) });
    return renderText(this.catalogue, 'otp.minutes', { count: Math.floor(seconds / 60) });
  }
}

function fits(text: string, options: OtpServiceOptions): boolean {
  const isRead = lastLine(options, '') !== '';
  return isOneSegment(text) && (!isRead || Buffer.byteLength(text) <= MAX_READ_BYTES);
}

function isOneSegment(text: string): boolean {
  const { encoding, segments } = measure(text);
  return encoding === 'GSM-7' && segments === 1;
}

function lastLine({ webOtpHost, retrieverHash }: OtpServiceOptions, code: string): string {
  if (webOtpHost !== undefined) return `\n\n@${webOtpHost} #${code}`;
  return retrieverHash === undefined ? '' : `\n\n${retrieverHash}`;
}

/** Options of services by name. */
type OtpServices = Readonly<Record<string, OtpServiceOptions>>;

/**
 * A domain name of two labels or more. The last label is not a number, so that the name is not an IP address (RFC 1123 section
 * 2.1).
 */
const HOST = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const RETRIEVER_HASH = /^[A-Za-z0-9+/]{11}$/;

const signature = any((given, place) => {
  if (isSignatureName(given)) return given;
  return place.refuse(
    `can be no signature: 1 to 11 characters of A-Z a-z 0-9 space . _ & - with at least one letter, or 3 to 15 digits; got ${formatValue(given)}`,
  );
});

const template = any((given, place) => {
  if (typeof given !== 'string') return place.refuse(`must be a text; got ${formatValue(given)}`);
  return given.includes('{code}') ? given : place.refuse('must contain {code}');
});

const webOtpHost = any((given, place) => {
  if (typeof given === 'string' && HOST.test(given)) return given;
  const meant = typeof given === 'string' ? hostIn(given) : undefined;
  return place.refuse(
    `must be a host name such as example.com, in small letters and without scheme, port and path${meant === undefined ? '' : `. Write "${meant}"`}`,
  );
});

/** Returns the host of a URL that somebody gave instead of a host name, in the form that browsers compare. */
function hostIn(given: string): string | undefined {
  const written = given.trim();
  const address = written.includes('://') ? written : `https://${written}`;
  if (!URL.canParse(address)) return undefined;
  const host = new URL(address).hostname.replace(/\.$/, '');
  return HOST.test(host) ? host : undefined;
}

const SERVICE = group(
  {
    signature: signature.or(undefined),
    template: template.or(undefined),
    webOtpHost: webOtpHost.or(undefined),
    retrieverHash: text(RETRIEVER_HASH, '11 characters of base64').or(undefined),
  } satisfies OptionsOf<OtpServiceOptions>,
  (got) => `must be an object; got ${got}`,
);

/** Reads and checks the option `services`. */
export const OTP_SERVICES = any((given, place): OtpServices => {
  if (!isRecord(given)) {
    return place.refuse(`must be an object: options by the names of services; got ${formatValue(given)}`);
  }
  const names = new Set<string>();
  const services = Object.entries(given).map(([key, options]) => {
    const at = place.in(`[${JSON.stringify(key)}]`);
    const name = key.normalize('NFC');
    if (names.has(name)) {
      throw new MessagingOptionsError(`${at} is given twice: two names are the same in Unicode's normal form NFC.`);
    }
    names.add(name);
    const { webOtpHost, retrieverHash, ...service } = SERVICE.read(options, at);
    if (webOtpHost === undefined || retrieverHash === undefined) {
      return [name, { ...service, webOtpHost, retrieverHash }] as const;
    }
    throw new MessagingOptionsError(`${at}: only one of webOtpHost and retrieverHash can be the last line.`);
  });
  // The object is not built by assignment, because a service may be called `__proto__`.
  return Object.fromEntries(services);
});
