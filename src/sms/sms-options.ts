import { isSignatureName } from '../accounts/signature-name.js';
import { compileTariff, type Tariff, type TariffOptions } from '../billing/tariff.js';
import { MessagingOptionsError } from '../common/errors.js';
import { formatValue, isRecord, type SomeOf, withoutUndefined } from '../common/options.js';
import type { DeliveryTiming } from '../outbox/delivery-result.js';
import { compileOptOutWords, type OptOutWords, type OptOutWordsOption } from './opt-out/opt-out-words.js';
import type { Transliteration } from './transliteration.js';

/** What the host says about SMS. */
export interface SmsOptions {
  /** Units per segment by destination; `home` is the market that pays `base`. */
  readonly tariff: TariffOptions;
  /** The most recipients a send may have, 1 to 1 000 000. Default 100 000. */
  readonly maxRecipients?: number | undefined;
  /** The most segments a text may have, 1 to 255. Default 255. */
  readonly maxSegments?: number | undefined;
  /** Also refuse numbers that libphonenumber knows to be impossible. Default false. */
  readonly strictNumbers?: boolean | undefined;
  /** `punctuation`: typographic quotes, dashes and the like become plain where that makes the text GSM-7. Default `off`. */
  readonly transliterate?: Transliteration | undefined;
  /** Leases, attempts and deadlines; what is left out is the transport's own, else the default. */
  readonly delivery?: SomeOf<DeliveryTiming> | undefined;
  /**
   * Where the world reaches the root of this application, for instance `https://api.example.com`: carriers that sign the
   * URL they call need it when a proxy stands in front. Default: as each request says.
   */
  readonly callbackBaseUrl?: string | undefined;
  /** Words that end SMS and let them begin again, added to ours (STOP, ARRÊT, UNSUBSCRIBE, START, REPRENDRE …). */
  readonly optOutWords?: OptOutWordsOption | undefined;
  /**
   * Which signatures a text to one of your numbers is about, where the carrier names another one than the signature:
   * `{ '36111': ['INFOS', 'ALERTE'] }`. Digits without the plus sign. Default: the number itself is the signature.
   */
  readonly inboundSignatures?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The same, complete and checked. */
export abstract class SmsSettings {
  abstract readonly tariff: Tariff;
  abstract readonly maxRecipients: number;
  abstract readonly maxSegments: number;
  abstract readonly strictNumbers: boolean;
  abstract readonly transliterate: Transliteration;
  abstract readonly delivery: Partial<DeliveryTiming>;
  /** Without a slash at its end. */
  abstract readonly callbackBaseUrl: string | undefined;
  abstract readonly optOutWords: OptOutWords;
  abstract readonly inboundSignatures: ReadonlyMap<string, readonly string[]>;
}

/** The largest `maxRecipients`. */
export const MOST_RECIPIENTS = 1_000_000;

const LONGEST_MS = 30 * 24 * 3_600_000;

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveSmsSettings(options: SmsOptions): SmsSettings {
  if (typeof options?.tariff !== 'object' || options.tariff === null) {
    throw new MessagingOptionsError('Option sms.tariff is missing: { base, international, home }.');
  }
  const { maxRecipients = 100_000, maxSegments = 255, strictNumbers = false } = options;
  const { transliterate = 'off' } = options;
  const delivery = withoutUndefined(options.delivery ?? {});
  if (!Number.isInteger(maxRecipients) || maxRecipients < 1 || maxRecipients > MOST_RECIPIENTS) {
    throw new MessagingOptionsError(
      `Option sms.maxRecipients must be an integer from 1 to ${MOST_RECIPIENTS}; got ${formatValue(maxRecipients)}.`,
    );
  }
  if (!Number.isInteger(maxSegments) || maxSegments < 1 || maxSegments > 255) {
    throw new MessagingOptionsError(
      `Option sms.maxSegments must be an integer from 1 to 255; got ${formatValue(maxSegments)}.`,
    );
  }
  if (transliterate !== 'off' && transliterate !== 'punctuation') {
    throw new MessagingOptionsError('Option sms.transliterate must be "off" or "punctuation".');
  }
  for (const [name, value] of Object.entries(delivery)) {
    const max = name === 'maxAttempts' ? 100 : LONGEST_MS;
    if (!Number.isInteger(value) || value < 1 || value > max) {
      throw new MessagingOptionsError(
        `Option sms.delivery.${name} must be an integer from 1 to ${max}; got ${formatValue(value)}.`,
      );
    }
  }
  const tariff = compileTariff(options.tariff, 'Option sms.tariff');
  const callbackBaseUrl = options.callbackBaseUrl === undefined ? undefined : baseUrlOf(options.callbackBaseUrl);
  const optOutWords = compileOptOutWords(options.optOutWords);
  const inboundSignatures = inboundSignaturesOf(options.inboundSignatures);
  return {
    ...{ tariff, maxRecipients, maxSegments, strictNumbers, transliterate, delivery },
    ...{ callbackBaseUrl, optOutWords, inboundSignatures },
  };
}

function inboundSignaturesOf(numbers: unknown = {}): ReadonlyMap<string, readonly string[]> {
  const entries: [string, unknown][] = isRecord(numbers) ? Object.entries(numbers) : [['', undefined]];
  return new Map(
    entries.map(([to, signatures]) => {
      if (/^\d{2,15}$/.test(to) && areSignatures(signatures)) return [to, signatures];
      throw new MessagingOptionsError(
        'Option sms.inboundSignatures must name signatures by numbers of 2 to 15 digits: { "36111": ["INFOS"] }.',
      );
    }),
  );
}

function areSignatures(names: unknown): names is readonly string[] {
  return Array.isArray(names) && names.length > 0 && names.every(isSignatureName);
}

function baseUrlOf(given: string): string {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  const plain =
    url && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (plain) return url.href.replace(/\/+$/, '');
  throw new MessagingOptionsError(
    'Option sms.callbackBaseUrl must be an http or https URL without query, such as "https://api.example.com".',
  );
}
