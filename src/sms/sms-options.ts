import { isSignatureName } from '../accounts/signatures/signature-name.js';
import { TARIFF_OPTION, type Tariff, type TariffOptions } from '../billing/tariff.js';
import type { OptionalFields } from '../common/optional-fields.js';
import {
  any,
  choice,
  integer,
  isRecord,
  OptionPlace,
  type OptionsOf,
  optionalGroup,
  readOptions,
} from '../common/options.js';
import { RecipientNumbers, type StrictNumbers, strictNumbers } from '../common/phone-numbers/recipient-number.js';
import { MAX_RECIPIENTS } from '../http/recipient-limit.js';
import { DELIVERY_OPTIONS, type DeliveryTiming } from '../outbox/delivery/delivery-result.js';
import type { DeliveryWindow, WindowInput } from '../outbox/windows/window.api.js';
import { windowOption } from '../outbox/windows/window-option.js';
import { InboundDestinations } from './inbound/inbound-destinations.js';
import { OPT_OUT_WORDS, type OptOutWords, type OptOutWordsOption, withBuiltIn } from './opt-out/opt-out-words.js';
import type { Transliteration } from './transliteration.js';

/** Options of the SMS capability. */
export interface SmsOptions {
  /** Units per segment by destination. `base` is the price in the market `home`. */
  readonly tariff: TariffOptions;
  /** The maximum number of recipients per send, 1 to 1 000 000. Default 100 000. */
  readonly maxRecipients?: number | undefined;
  /** The maximum number of segments per text, 1 to 255. Default 255. */
  readonly maxSegments?: number | undefined;
  /**
   * Which numbers are refused. `home`: numbers of the market `home` without its calling code, such as `70000001`, and numbers
   * with its calling code and a wrong count of digits. The error names the number that was probably meant. True: also all other
   * numbers that libphonenumber reports as impossible. False: none. Default `home`.
   */
  readonly strictNumbers?: StrictNumbers | undefined;
  /** `punctuation`: typographic quotes, dashes and the like are replaced if this makes the text GSM-7. Default `off`. */
  readonly transliterate?: Transliteration | undefined;
  /** Leases, attempts and deadlines. Default: the transport's values, then those of every channel. */
  readonly delivery?: OptionalFields<DeliveryTiming> | undefined;
  /**
   * The public URL of this application's root, for example `https://api.example.com`. If a carrier signs the URL of its
   * callbacks, an application behind a proxy needs this option. Default: scheme and host of each request.
   */
  readonly callbackBaseUrl?: string | undefined;
  /** Opt-out and opt-in words in addition to the built-in ones (STOP, ARRÊT, UNSUBSCRIBE, START, REPRENDRE …). */
  readonly optOutWords?: OptOutWordsOption | undefined;
  /**
   * The signatures that an inbound text refers to, by its destination. Example: `{ '36111': ['INFOS', 'ALERTE'] }`. Destinations
   * are 2 to 15 digits without the plus sign. A carrier may write the number in another spelling. Default: the destination itself
   * is the signature.
   */
  readonly inboundSignatures?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The windows of sends that give none. One-time passcodes have no window. Default: none. */
  readonly windows?: SmsWindowsOption | undefined;
}

/** Windows by the priority of a send. A send of the priority `high` has none. */
export interface SmsWindowsOption {
  /** The window of `bulk` sends, for example of all with more than 1000 recipients. Default: none. */
  readonly bulk?: WindowInput | undefined;
  /** The window of `normal` sends. Default: none. */
  readonly normal?: WindowInput | undefined;
}

/** The options of the SMS capability, complete and checked. */
export abstract class SmsSettings {
  abstract readonly tariff: Tariff;
  abstract readonly maxRecipients: number;
  abstract readonly maxSegments: number;
  /** The home market, a country code; undefined: none. */
  abstract readonly home: string | undefined;
  /** Reads recipients by the rules of `strictNumbers` and `tariff.home`. */
  abstract readonly recipients: RecipientNumbers;
  abstract readonly transliterate: Transliteration;
  abstract readonly delivery: Partial<DeliveryTiming>;
  /** The public URL without a trailing slash. */
  abstract readonly callbackBaseUrl: string | undefined;
  abstract readonly optOutWords: OptOutWords;
  abstract readonly inboundDestinations: InboundDestinations;
  /** The windows of sends that give none, by their priority. */
  abstract readonly windows: { readonly bulk?: DeliveryWindow; readonly normal?: DeliveryWindow };
}

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

/** The readers of the SMS options. */
export const SMS_OPTIONS = {
  tariff: TARIFF_OPTION,
  maxRecipients: integer(1, MAX_RECIPIENTS).or(100_000),
  maxSegments: integer(1, 255).or(255),
  strictNumbers: strictNumbers.or('home'),
  transliterate: choice('off', 'punctuation').or('off'),
  delivery: DELIVERY_OPTIONS,
  callbackBaseUrl: baseUrl.or(undefined),
  optOutWords: OPT_OUT_WORDS,
  inboundSignatures: inboundSignatures.or(new Map<string, readonly string[]>()),
  windows: optionalGroup({
    bulk: windowOption.or(undefined),
    normal: windowOption.or(undefined),
  } satisfies OptionsOf<SmsWindowsOption>),
} satisfies OptionsOf<SmsOptions>;

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveSmsSettings(options: SmsOptions | undefined): SmsSettings {
  const place = new OptionPlace('sms');
  const { callbackBaseUrl, optOutWords, strictNumbers, inboundSignatures, ...settings } = readOptions(
    SMS_OPTIONS,
    options ?? {},
    place,
  );
  return {
    ...settings,
    callbackBaseUrl,
    home: options?.tariff.home,
    recipients: new RecipientNumbers(strictNumbers, options?.tariff.home),
    inboundDestinations: new InboundDestinations(inboundSignatures, options?.tariff.home),
    optOutWords: withBuiltIn(optOutWords, place.in('optOutWords')),
  };
}
