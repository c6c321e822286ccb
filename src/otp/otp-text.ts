import { isSignatureName } from '../accounts/signature-name.js';
import { type Catalogue, fillIn, renderText } from '../common/catalogue.js';
import { MessagingOptionsError } from '../common/errors.js';
import { formatValue, isRecord } from '../common/options.js';
import { measure } from '../sms/segmentation.js';
import type { OtpServiceOptions } from './otp-options.js';

/** What a text says. */
interface OtpTextValues {
  readonly code: string;
  readonly service: string;
  /** How long the code is good, in seconds. */
  readonly validity: number;
}

/** Characters that would let a service's name write lines of its own. */
const CONTROL = /\p{Cc}/u;

/** The texts that codes travel in: always one GSM-7 segment. */
export class OtpText {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly services: Readonly<Record<string, OtpServiceOptions>>,
  ) {}

  /** The service's own text, or the catalogue's; the service's name is left out where it does not fit. */
  render(values: OtpTextValues): string {
    const options = this.optionsOf(values.service);
    if (options.template !== undefined) return this.fill(options.template, values) + lastLine(options, values.code);
    const named = this.fill(this.catalogue['otp.text'], values) + lastLine(options, values.code);
    if (!CONTROL.test(values.service) && fits(named)) return named;
    return this.fill(this.catalogue['otp.text_unnamed'], values) + lastLine(options, values.code);
  }

  /**
   * Checks the options of services, and that every text that they make is one SMS at its longest.
   * @throws MessagingOptionsError with a sentence that names the service
   */
  check(digits: number): void {
    const values = { code: '0'.repeat(digits), validity: 3599 };
    for (const service of Object.keys(checkedServices(this.services))) {
      if (fits(this.render({ ...values, service }))) continue;
      throw new MessagingOptionsError(
        `Option otp.services[${JSON.stringify(service)}]: its text is longer than one SMS in GSM-7.`,
      );
    }
    if (fits(this.render({ ...values, service: '\n' }))) return;
    throw new MessagingOptionsError('Option locale: its otp.text_unnamed is longer than one SMS in GSM-7.');
  }

  /** The sender name that a service asks for. */
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

function fits(text: string): boolean {
  const { encoding, segments } = measure(text);
  return encoding === 'GSM-7' && segments === 1;
}

function lastLine({ webOtpHost, retrieverHash }: OtpServiceOptions, code: string): string {
  if (webOtpHost !== undefined) return `\n\n@${webOtpHost} #${code}`;
  return retrieverHash === undefined ? '' : `\n\n${retrieverHash}`;
}

/** How codes of each service are sent, by its name. */
type OtpServices = Readonly<Record<string, OtpServiceOptions>>;

const HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/;
const RETRIEVER_HASH = /^[A-Za-z0-9+/]{11}$/;

/** Every name that a service's options may have. */
const NAMES: Readonly<Record<keyof OtpServiceOptions, true>> = {
  ...{ signature: true, template: true, webOtpHost: true, retrieverHash: true },
};

/** @throws MessagingOptionsError with a sentence that names the service */
function checkedServices(services: OtpServices = {}): OtpServices {
  if (!isRecord(services)) {
    throw new MessagingOptionsError(
      `Option otp.services must be an object: options by the names of services; got ${formatValue(services)}.`,
    );
  }
  for (const [service, options] of Object.entries(services)) check(service, options);
  return services;
}

function check(service: string, options: unknown): void {
  const name = `otp.services[${JSON.stringify(service)}]`;
  const wrong = (sentence: string) => new MessagingOptionsError(`Option ${name}${sentence}`);
  if (!isRecord(options)) throw wrong(` must be an object; got ${formatValue(options)}.`);
  const unknown = Object.keys(options).find((option) => !Object.hasOwn(NAMES, option));
  if (unknown) throw wrong(`.${unknown} is not known; there are ${Object.keys(NAMES).join(', ')}.`);
  const { signature, template, webOtpHost, retrieverHash } = options;
  if (signature !== undefined && !isSignatureName(signature)) {
    throw wrong(
      `.signature can be no signature: 1 to 11 characters of A-Z a-z 0-9 space . _ & - with at least one letter, or 3 to 15 digits; got ${formatValue(signature)}.`,
    );
  }
  if (template !== undefined && typeof template !== 'string') {
    throw wrong(`.template must be a text; got ${formatValue(template)}.`);
  }
  if (template !== undefined && !template.includes('{code}')) throw wrong('.template must contain {code}.');
  if (webOtpHost !== undefined && retrieverHash !== undefined) {
    throw wrong(': only one of webOtpHost and retrieverHash can be the last line.');
  }
  if (webOtpHost !== undefined && !isText(webOtpHost, HOST)) {
    throw wrong('.webOtpHost must be a host name such as example.com.');
  }
  if (retrieverHash !== undefined && !isText(retrieverHash, RETRIEVER_HASH)) {
    throw wrong('.retrieverHash must be 11 characters of base64.');
  }
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}
