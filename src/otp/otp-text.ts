import { type Catalogue, fillIn, renderText } from '../common/catalogue.js';
import { MessagingOptionsError } from '../common/errors.js';
import { measure } from '../sms/segmentation.js';
import type { OtpServiceOptions } from './otp-options.js';

/** What a text says. */
export interface OtpTextValues {
  readonly code: string;
  readonly service: string;
  /** How long the code is good, in seconds. */
  readonly validity: number;
}

const HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/;
const RETRIEVER_HASH = /^[A-Za-z0-9+/]{11}$/;

const SERVICE_OPTIONS = new Set(['signature', 'template', 'webOtpHost', 'retrieverHash']);

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
   * Checks every text that the options make, at its longest.
   * @throws MessagingOptionsError with a sentence that names the service
   */
  check(digits: number): void {
    const values = { code: '0'.repeat(digits), validity: 3599 };
    for (const [service, options] of Object.entries(this.services)) {
      const name = `otp.services[${JSON.stringify(service)}]`;
      const unknown = Object.keys(options ?? {}).find((option) => !SERVICE_OPTIONS.has(option));
      if (unknown) throw new MessagingOptionsError(`Option ${name}.${unknown} is not known.`);
      checkLastLine(name, options);
      const { template } = options;
      if (template !== undefined && !template.includes('{code}')) {
        throw new MessagingOptionsError(`Option ${name}.template must contain {code}.`);
      }
      if (!fits(this.render({ ...values, service }))) {
        throw new MessagingOptionsError(`Option ${name}: its text is longer than one SMS in GSM-7.`);
      }
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

function checkLastLine(name: string, { webOtpHost, retrieverHash }: OtpServiceOptions): void {
  if (webOtpHost !== undefined && retrieverHash !== undefined) {
    throw new MessagingOptionsError(`Option ${name}: only one of webOtpHost and retrieverHash can be the last line.`);
  }
  if (webOtpHost !== undefined && !HOST.test(webOtpHost)) {
    throw new MessagingOptionsError(`Option ${name}.webOtpHost must be a host name such as example.com.`);
  }
  if (retrieverHash !== undefined && !RETRIEVER_HASH.test(retrieverHash)) {
    throw new MessagingOptionsError(`Option ${name}.retrieverHash must be 11 characters of base64.`);
  }
}
