import { type Catalogue, fillIn, renderText } from '../common/catalogue.js';
import { MessagingOptionsError } from '../common/errors.js';
import { measure } from '../sms/segmentation.js';
import type { OtpServiceOptions } from './otp-options.js';
import { checkedServices } from './otp-services.js';

/** What a text says. */
export interface OtpTextValues {
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
