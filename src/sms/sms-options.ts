import { isSignatureName } from '../accounts/signature-name.js';
import { TARIFF_OPTION, type Tariff, type TariffOptions } from '../billing/tariff.js';
import {
  any,
  boolean,
  choice,
  integer,
  isRecord,
  OptionPlace,
  type OptionsOf,
  readOptions,
} from '../common/options.js';
import type { SomeOf } from '../common/some-of.js';
import { DELIVERY_OPTIONS, type DeliveryTiming } from '../outbox/delivery-result.js';
import { OPT_OUT_WORDS, type OptOutWords, type OptOutWordsOption, withOurs } from './opt-out/opt-out-words.js';
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

const inboundSignatures = any((given, place): ReadonlyMap<string, readonly string[]> => {
  const entries: [string, unknown][] = isRecord(given) ? Object.entries(given) : [['', undefined]];
  return new Map(
    entries.map(([to, signatures]) => {
      if (/^\d{2,15}$/.test(to) && areSignatures(signatures)) return [to, signatures];
      return place.refuse('must name signatures by numbers of 2 to 15 digits: { "36111": ["INFOS"] }');
    }),
  );
});

function areSignatures(names: unknown): names is readonly string[] {
  return Array.isArray(names) && names.length > 0 && names.every(isSignatureName);
}

const baseUrl = any((given, place) => {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  const plain =
    url && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (plain) return url.href.replace(/\/+$/, '');
  return place.refuse('must be an http or https URL without query, such as "https://api.example.com"');
});

/** How the options about SMS are read. */
export const SMS_OPTIONS = {
  tariff: TARIFF_OPTION,
  maxRecipients: integer(1, MOST_RECIPIENTS).or(100_000),
  maxSegments: integer(1, 255).or(255),
  strictNumbers: boolean.or(false),
  transliterate: choice('off', 'punctuation').or('off'),
  delivery: DELIVERY_OPTIONS,
  callbackBaseUrl: baseUrl.or(undefined),
  optOutWords: OPT_OUT_WORDS,
  inboundSignatures: inboundSignatures.or(new Map<string, readonly string[]>()),
} satisfies OptionsOf<SmsOptions>;

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveSmsSettings(options: SmsOptions): SmsSettings {
  const place = new OptionPlace('sms');
  const { callbackBaseUrl, optOutWords, ...settings } = readOptions(SMS_OPTIONS, options, place);
  return { ...settings, callbackBaseUrl, optOutWords: withOurs(optOutWords, place.in('optOutWords')) };
}
